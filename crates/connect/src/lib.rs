//! Everything that talks to the world outside: chat models, embedders, rerankers, taggers, and the
//! local ones that answer without a network.
mod address;
pub mod embed;
mod endpoint;
mod failure;
mod http;
pub mod kg;
pub mod llm;
mod onnx;
pub mod rerank;
pub mod tag;

pub use embed::EndpointEmbedder;
pub use endpoint::{Endpoint, JsonMode};
pub use llm::{Cache, CacheError, Limits, OpenAi, ping, wrapped, wrapped_embedder};
pub use onnx::OnnxError;
pub use rerank::{RerankShape, RerankerKind, RerankerSettings, reranker};
pub use tag::{TaggerKind, TaggerSettings, tagger};

/// The prompts of this crate.
pub const PROMPTS: &[halma_core::PromptFile] = &[halma_core::PromptFile {
    name: "tag/entities",
    text: include_str!("../prompts/tag/entities.md"),
}];
