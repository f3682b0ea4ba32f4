//! The clients over HTTP, against the double; one binary, so that it is linked once.
#![allow(clippy::unwrap_used, reason = "a test binary")]
mod common;
mod embedder;
mod endless;
mod openai;
mod reranker;
mod runs;
mod schemas;
