//! Putting it together: `Cached ▸ Retried ▸ Limited ▸ OpenAi`.
//!
//! The limit is the innermost, so that it sees every attempt; `limited.rs` says why.
use std::sync::Arc;

use halma_core::{ConfigError, Embedder, Llm, Reranker};
use halma_net::{Endpoint, Limits};

use super::cache::Cache;
use super::cached::{Cached, identity};
use super::limited::Limited;
use super::openai::OpenAi;
use super::retried::Retried;
use crate::embed::{Batches, EndpointEmbedder};
use crate::rerank::{EndpointReranker, RerankerSettings, Spread};

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
