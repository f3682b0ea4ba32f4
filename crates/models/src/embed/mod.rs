//! Embedders: an endpoint, or the local `MiniLM`.
mod endpoint;
mod family;
mod fitting;
pub mod minilm;
mod numbers;

use std::sync::Arc;

use halma_core::{ConfigError, Embedder};
use halma_net::{Endpoint, Limits};

use endpoint::Batches;
pub use endpoint::EndpointEmbedder;
pub use family::{EmbedderUse, Pooling};

use crate::called::Called;

/// An embedder that is limited and retried, batch by batch. The error's `file` is left empty for
/// the caller that read the configuration.
pub fn wrapped_embedder(
    endpoint: Endpoint,
    limits: Limits,
) -> Result<Arc<dyn Embedder>, ConfigError> {
    limited_embedder(Arc::new(EndpointEmbedder::new(endpoint)?), limits)
}

/// [`wrapped_embedder`] of an embedder that is there.
pub fn limited_embedder(
    inner: Arc<dyn Embedder>,
    limits: Limits,
) -> Result<Arc<dyn Embedder>, ConfigError> {
    Ok(Arc::new(Batches::new(Arc::new(Called { policy: limits.policy()?, inner }))))
}
