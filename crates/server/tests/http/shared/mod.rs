//! Several servers of one base in a database act as one.
mod away;
mod builds;
mod fresh;
mod keys;
mod runs;
mod settings;
mod support;
