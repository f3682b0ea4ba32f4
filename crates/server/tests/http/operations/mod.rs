//! What an administrator sees of a server.
mod metrics;
mod stopping;
