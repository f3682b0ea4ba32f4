//! Everything that talks to the world outside: chat models, embedders, and the local ones that
//! answer without a network.
mod address;
pub mod embed;
mod endpoint;
mod failure;
mod http;
pub mod llm;

pub use embed::EndpointEmbedder;
pub use endpoint::{Endpoint, JsonMode};
pub use llm::{Cache, CacheError, Limits, OpenAi, ping, wrapped, wrapped_embedder};
