//! Chat models: the client for OpenAI-compatible endpoints, wrapped as `Cached ▸ Called ▸ OpenAi`.
mod cache;
mod cached;
mod dialect;
mod openai;
mod sealed;
mod store;
mod stream;
mod wire;

use std::sync::Arc;

use halma_core::{ConfigError, Llm};
use halma_net::{Endpoint, Limits};

pub use cache::{Cache, CacheError};
use cached::{Cached, identity};
pub use openai::{OpenAi, ping};

use crate::called::Called;

/// A chat model that is cached, limited and retried. The error's `file` is left empty for the
/// caller that read the configuration.
pub fn wrapped(
    endpoint: Endpoint,
    limits: Limits,
    cache: Option<Arc<Cache>>,
) -> Result<Arc<dyn Llm>, ConfigError> {
    let policy = limits.policy()?;
    let cached = cache.map(|cache| (cache, identity(&endpoint)));
    let inner: Arc<dyn Llm> = Arc::new(OpenAi::new(endpoint)?);
    let called: Arc<dyn Llm> = Arc::new(Called { policy, inner });
    Ok(match cached {
        Some((cache, identity)) => Arc::new(Cached::new(called, cache, identity)),
        None => called,
    })
}
