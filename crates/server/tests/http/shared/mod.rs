//! Several servers of one base in a database act as one.
mod builds;
mod keys;
mod runs;
mod support;
