//! Chat models: the client for OpenAI-compatible endpoints, wrapped as `Cached ▸ Called ▸ OpenAi`.
mod cache;
mod cached;
mod dialect;
mod files;
mod openai;
mod repetition;
mod reply;
mod request;
mod store;
mod stream;
mod usage;

use std::sync::Arc;

use halma_core::{ConfigError, Llm};
use halma_net::{Endpoint, Limits};

pub use cache::{Cache, CacheError};
use cached::{Cached, identity};
pub use dialect::JsonFormat;
pub use files::CacheFigures;
pub use openai::{OpenAi, Ping, ping};

use crate::called::Called;

/// A chat model that is cached, limited and retried. The error's `file` is left empty for the
/// caller that read the configuration.
pub fn wrapped(
    endpoint: Endpoint,
    limits: Limits,
    cache: Option<Arc<Cache>>,
) -> Result<Arc<dyn Llm>, ConfigError> {
    let of = endpoint.clone();
    let called = limited(Arc::new(OpenAi::new(endpoint)?), limits)?;
    Ok(match cache {
        Some(cache) => cached(called, &of, cache),
        None => called,
    })
}

/// A chat model that is limited and retried.
pub fn limited(inner: Arc<dyn Llm>, limits: Limits) -> Result<Arc<dyn Llm>, ConfigError> {
    Ok(Arc::new(Called { policy: limits.policy()?, inner }))
}

/// A chat model whose replies are cached as those of this endpoint.
pub fn cached(inner: Arc<dyn Llm>, of: &Endpoint, cache: Arc<Cache>) -> Arc<dyn Llm> {
    Arc::new(Cached::new(inner, cache, identity(of)))
}
