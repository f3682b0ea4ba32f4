//! Chat models: the client for OpenAI-compatible endpoints with its wrapping
//! (`Cached ▸ Retried ▸ Limited`), and the offline model.
mod cache;
mod cached;
mod dialect;
pub mod extractive;
mod gate;
mod limited;
mod openai;
mod retried;
mod sealed;
mod store;
mod stream;
mod wire;
mod wrapped;

pub use cache::{Cache, CacheError};
pub(crate) use gate::Gate;
pub(crate) use openai::reported;
pub use openai::{OpenAi, ping};
pub(crate) use retried::{Patience, persist};
pub(crate) use wrapped::wrapped_reranker;
pub use wrapped::{Limits, wrapped, wrapped_embedder};
