//! Rerankers: a server, a cross-encoder from a file, or the embedder's cosine where there is
//! neither.
mod cosine;
mod endpoint;
mod onnx;
mod settings;

pub use cosine::Cosine;
pub(crate) use endpoint::{EndpointReranker, Spread};
pub use onnx::CrossEncoder;
pub use settings::{RerankShape, RerankerKind, RerankerSettings, reranker};

/// A logit as a probability.
fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}
