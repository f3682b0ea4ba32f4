//! What an administrator sees of a server.
pub(crate) mod idle;
mod metrics;
mod moved;
mod reloading;
mod stopping;
