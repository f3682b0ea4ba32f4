//! What a reranker is to Halma.
use async_trait::async_trait;

use crate::LlmError;

/// Judges query and text together, which is slower than comparing vectors and more exact.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// Its name, for the trace and the fingerprint.
    fn name(&self) -> &str;

    /// How well each text answers the query, between 0 and 1; one score for each text, in order.
    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, LlmError>;
}
