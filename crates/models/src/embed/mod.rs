//! Embedders: an endpoint, or the local `MiniLM`.
mod endpoint;
pub mod minilm;
mod numbers;

pub(crate) use endpoint::Batches;
pub use endpoint::EndpointEmbedder;
