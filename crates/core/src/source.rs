//! Sources of texts other than the base: a search engine for the web, for example.
use async_trait::async_trait;

use crate::{BoxError, Hit};

/// A place outside the base where texts are looked up by words.
#[async_trait]
pub trait Source: Send + Sync {
    /// Its name, as settings, prompts and the trace call it: `web`.
    fn name(&self) -> &str;

    /// What it holds, in one line, for the model that chooses among sources.
    fn about(&self) -> &str;

    /// What it has for a query, best first. A hit's document is its address, its text what the
    /// source says of it.
    async fn search(&self, query: &str, limit: usize) -> Result<Vec<Hit>, BoxError>;
}

/// A source as a strategy may choose it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SourceInfo {
    pub name: String,
    pub about: String,
}
