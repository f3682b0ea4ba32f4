//! Chat models: the client for OpenAI-compatible endpoints with its wrapping
//! (`Cached ▸ Retried ▸ Limited`).
mod cache;
mod cached;
mod dialect;
mod limited;
mod openai;
mod retried;
mod sealed;
mod store;
mod stream;
mod wire;
mod wrapped;

pub use cache::{Cache, CacheError};
pub(crate) use openai::reported;
pub use openai::{OpenAi, ping};
pub(crate) use wrapped::wrapped_reranker;
pub use wrapped::{wrapped, wrapped_embedder};
