//! Embedders: an endpoint, or the local `MiniLM`.
pub mod minilm;
