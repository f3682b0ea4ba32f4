//! A real server on a free port, with a small base, the offline model and lexical search only.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod access;
mod answers;
mod builds;
mod documents;
mod holding;
mod interfaces;
mod isolation;
mod mcp;
mod mischief;
mod openai;
mod operations;
mod problems;
mod reading;
mod removal;
mod rights;
mod security;
#[cfg(unix)]
mod shared;
mod types;
mod world;
