//! What an administrator sees of a server.
mod metrics;
mod reloading;
mod stopping;
