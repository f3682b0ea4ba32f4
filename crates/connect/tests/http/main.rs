//! The clients over HTTP, against the double; one binary, so that it is linked once.
mod common;
mod embedder;
mod openai;
mod runs;
