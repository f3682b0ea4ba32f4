//! Models behind the traits of `halma_core`: chat models, embedders, rerankers and taggers, of
//! configured servers or computed here.
mod called;
pub mod embed;
pub mod llm;
mod onnx;
pub mod rerank;
pub mod tag;

pub use embed::minilm::heads::{Heads, HeadsError, HeadsFile};
pub use embed::{EmbedderUse, EndpointEmbedder, Pooling, limited_embedder, wrapped_embedder};
pub use llm::{
    Cache, CacheError, CacheFigures, JsonFormat, OpenAi, Ping, cached, limited, ping, wrapped,
};
pub use onnx::OnnxError;
pub use rerank::{RerankShape, RerankerKind, RerankerSettings, reranker};
pub use tag::{TaggerKind, TaggerSettings, tagger};
