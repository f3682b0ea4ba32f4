//! Putting it together: `Cached ▸ Retried ▸ Limited ▸ OpenAi`.
//!
//! The limit is the innermost, so that it sees every attempt; `limited.rs` says why.
use std::sync::Arc;
use std::time::Duration;

use halma_core::{ConfigError, Embedder, Llm};
use serde::Deserialize;

use super::cache::Cache;
use super::cached::Cached;
use super::gate::Gate;
use super::limited::Limited;
use super::openai::OpenAi;
use super::retried::{Patience, Retried};
use crate::embed::{Batches, EndpointEmbedder};
use crate::endpoint::Endpoint;

/// How hard a server may be worked.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Calls under way at the same time, at most; fewer while the server throttles.
    pub concurrency: usize,
    pub requests_per_minute: Option<u32>,
    /// Tries again after a failure that is no throttling.
    pub retries: usize,
    /// A call is given up this long after its first failure.
    pub max_wait_seconds: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { concurrency: 16, requests_per_minute: None, retries: 5, max_wait_seconds: 180.0 }
    }
}

impl Limits {
    fn gate(&self) -> Gate {
        Gate::new(self.concurrency, self.requests_per_minute)
    }

    fn patience(&self) -> Result<Patience, ConfigError> {
        let in_all =
            Duration::try_from_secs_f64(self.max_wait_seconds).map_err(|e| ConfigError {
                file: String::new(),
                key: "max_wait_seconds".into(),
                reason: format!("`{}` is no time to wait: {e}", self.max_wait_seconds),
                hint: "give a number of seconds, 180 for instance".into(),
            })?;
        Ok(Patience::new(self.retries, in_all))
    }
}

/// A chat model that is cached, limited and tried again. The error's `file` is left empty for
/// whoever read the configuration.
pub fn wrapped(
    endpoint: Endpoint,
    limits: Limits,
    cache: Option<Arc<Cache>>,
) -> Result<Arc<dyn Llm>, ConfigError> {
    let patience = limits.patience()?;
    let openai: Arc<dyn Llm> = Arc::new(OpenAi::new(endpoint.clone())?);
    let limited: Arc<dyn Llm> = Arc::new(Limited::new(openai, limits.gate()));
    let retried: Arc<dyn Llm> = Arc::new(Retried::new(limited, patience));
    Ok(match cache {
        Some(cache) => Arc::new(Cached::new(retried, cache, &endpoint)),
        None => retried,
    })
}

/// An embedder that is limited and tried again, batch by batch.
pub fn wrapped_embedder(
    endpoint: Endpoint,
    limits: Limits,
) -> Result<Arc<dyn Embedder>, ConfigError> {
    let patience = limits.patience()?;
    let single: Arc<dyn Embedder> = Arc::new(EndpointEmbedder::new(endpoint)?);
    let limited: Arc<dyn Embedder> = Arc::new(Limited::new(single, limits.gate()));
    let retried: Arc<dyn Embedder> = Arc::new(Retried::new(limited, patience));
    Ok(Arc::new(Batches::new(retried)))
}
