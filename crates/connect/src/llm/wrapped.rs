//! Putting it together: `Cached ▸ Retried ▸ Limited ▸ OpenAi`.
//!
//! The limit is the innermost, so that it sees every attempt; `limited.rs` says why.
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use halma_core::{ConfigError, Embedder, Llm, Reranker};
use serde::Deserialize;

use super::cache::Cache;
use super::cached::{Cached, identity};
use super::gate::Gate;
use super::limited::Limited;
use super::openai::OpenAi;
use super::retried::{Patience, Retried};
use crate::embed::{Batches, EndpointEmbedder};
use crate::endpoint::Endpoint;
use crate::rerank::{EndpointReranker, RerankerSettings, Spread};

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
    pub(crate) fn gate(&self) -> Result<Gate, ConfigError> {
        if self.concurrency == 0 {
            return Err(wrong("concurrency", "no call could ever be made with `0`", "16"));
        }
        let per_minute = self.requests_per_minute.map(NonZeroU32::new);
        if per_minute == Some(None) {
            let reason = "no call could ever be made with `0`";
            return Err(wrong("requests_per_minute", reason, "60"));
        }
        Ok(Gate::new(self.concurrency, per_minute.flatten()))
    }

    pub(crate) fn patience(&self) -> Result<Patience, ConfigError> {
        let in_all = Duration::try_from_secs_f64(self.max_wait_seconds).map_err(|e| {
            let reason = format!("`{}` is no time to wait: {e}", self.max_wait_seconds);
            wrong("max_wait_seconds", &reason, "180")
        })?;
        Ok(Patience::new(self.retries, in_all))
    }
}

fn wrong(key: &str, reason: &str, example: &str) -> ConfigError {
    ConfigError {
        file: String::new(),
        key: key.to_owned(),
        reason: reason.to_owned(),
        hint: format!("give a number above zero, {example} for instance, or delete the line"),
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
    let cached = cache.map(|cache| (cache, identity(&endpoint)));
    let openai: Arc<dyn Llm> = Arc::new(OpenAi::new(endpoint)?);
    let limited: Arc<dyn Llm> = Arc::new(Limited::new(openai, limits.gate()?));
    let retried: Arc<dyn Llm> = Arc::new(Retried::new(limited, patience));
    Ok(match cached {
        Some((cache, identity)) => Arc::new(Cached::new(retried, cache, identity)),
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
    let limited: Arc<dyn Embedder> = Arc::new(Limited::new(single, limits.gate()?));
    let retried: Arc<dyn Embedder> = Arc::new(Retried::new(limited, patience));
    Ok(Arc::new(Batches::new(retried)))
}

/// A reranking server that is limited and tried again, batch by batch.
pub(crate) fn wrapped_reranker(
    endpoint: Endpoint,
    limits: Limits,
    settings: &RerankerSettings,
) -> Result<Arc<dyn Reranker>, ConfigError> {
    let patience = limits.patience()?;
    let single: Arc<dyn Reranker> = Arc::new(EndpointReranker::new(endpoint, settings.shape)?);
    let limited: Arc<dyn Reranker> = Arc::new(Limited::new(single, limits.gate()?));
    let inner: Arc<dyn Reranker> = Arc::new(Retried::new(limited, patience));
    Ok(Arc::new(Spread { inner, batch: settings.batch, logits: settings.logits }))
}
