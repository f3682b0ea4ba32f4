//! The base as one run sees it: what its searches have found is not read again to be cited.
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use halma_core::{BoxError, Catalog, Edge, Hit, Knowledge, NodeId, Query, SqlResult, TagMatch};

/// Hits that are remembered at most.
const MOST_HITS: usize = 1_000;

/// A base, and what has been found in it.
pub(super) struct RunKnowledge {
    base: Arc<dyn Knowledge>,
    hits: Mutex<HashMap<NodeId, Hit>>,
}

impl RunKnowledge {
    pub(super) fn new(base: Arc<dyn Knowledge>) -> Self {
        Self { base, hits: Mutex::default() }
    }

    fn hits(&self) -> MutexGuard<'_, HashMap<NodeId, Hit>> {
        self.hits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A hit as it is read by its id: without what it has from its search.
fn unscored(hit: &Hit) -> Hit {
    Hit { score: 0.0, cosine: None, parts: vec![], ..hit.clone() }
}

#[async_trait]
impl Knowledge for RunKnowledge {
    async fn search(&self, query: &Query) -> Result<Vec<Vec<Hit>>, BoxError> {
        let lists = self.base.search(query).await?;
        let mut hits = self.hits();
        for hit in lists.iter().flatten() {
            if hits.len() < MOST_HITS && !hits.contains_key(&hit.id) {
                hits.insert(hit.id.clone(), unscored(hit));
            }
        }
        drop(hits);
        Ok(lists)
    }

    async fn get(&self, id: &NodeId) -> Result<Hit, BoxError> {
        let found = self.hits().get(id).cloned();
        match found {
            Some(hit) => Ok(hit),
            None => self.base.get(id).await,
        }
    }

    async fn neighbours(
        &self,
        id: &NodeId,
        edge: Option<Edge>,
    ) -> Result<Vec<(Edge, Hit)>, BoxError> {
        self.base.neighbours(id, edge).await
    }

    async fn tags(&self, text: &str, near: f32) -> Result<Vec<TagMatch>, BoxError> {
        self.base.tags(text, near).await
    }

    async fn run_sql(&self, sql: &str) -> Result<SqlResult, BoxError> {
        self.base.run_sql(sql).await
    }

    async fn catalog(&self) -> Result<Catalog, BoxError> {
        self.base.catalog().await
    }
}
