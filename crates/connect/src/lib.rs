//! Everything that talks to the world outside: chat models, embedders, rerankers, taggers, the web, and the
//! local ones that answer without a network.
mod address;
pub mod embed;
mod endpoint;
mod failure;
mod http;
pub mod kg;
pub mod llm;
mod onnx;
mod outside;
pub mod rerank;
pub mod tag;
mod tls;
pub mod web;

pub use embed::EndpointEmbedder;
pub use endpoint::{Endpoint, JsonMode};
pub use llm::{Cache, CacheError, Limits, OpenAi, ping, wrapped, wrapped_embedder};
pub use onnx::OnnxError;
pub use rerank::{RerankShape, RerankerKind, RerankerSettings, reranker};
pub use tag::{TaggerKind, TaggerSettings, tagger};
pub use web::{
    Web, WebKind, WebRank, WebResult, WebSearch, WebSettings, WebStoreError, forget_web_searches,
    web, web_searches,
};
