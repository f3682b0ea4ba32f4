//! Several servers of one base in a database act as one.
mod away;
pub(crate) mod builds;
mod fresh;
mod idle;
mod keys;
mod runs;
pub(crate) mod settings;
mod support;
