//! A real server on a free port, with a small base, the offline model and lexical search only.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod access;
mod asking;
mod builds;
mod documents;
mod holding;
mod isolation;
mod mcp;
mod metrics;
mod mischief;
mod openai;
mod problems;
mod reading;
mod security;
mod stopping;
mod types;
mod world;
