//! What an administrator sees of a server.
pub(crate) mod idle;
mod metrics;
mod reloading;
mod stopping;
