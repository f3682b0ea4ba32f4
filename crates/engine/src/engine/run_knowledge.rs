//! The base as one run sees it: what its searches have found is not read again to be cited.
use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    BoxError, Catalog, Edge, Hit, Knowledge, NodeId, PassageQuery, Passages, Query, SqlResult,
    TagMatch,
};
use parking_lot::Mutex;

/// Hits that are remembered at most.
const MAX_HITS: usize = 1_000;

/// A base, and what has been found in it.
pub(super) struct RunKnowledge {
    base: Arc<dyn Knowledge>,
    hits: Mutex<HashMap<NodeId, Hit>>,
}

impl RunKnowledge {
    pub(super) fn new(base: Arc<dyn Knowledge>) -> Self {
        Self { base, hits: Mutex::default() }
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
        let mut hits = self.hits.lock();
        for hit in lists.iter().flatten() {
            if hits.len() < MAX_HITS && !hits.contains_key(&hit.id) {
                hits.insert(hit.id.clone(), unscored(hit));
            }
        }
        drop(hits);
        Ok(lists)
    }

    async fn get(&self, id: &NodeId) -> Result<Hit, BoxError> {
        let cached = self.hits.lock().get(id).cloned();
        match cached {
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

    async fn passages(&self, query: &PassageQuery) -> Result<Passages, BoxError> {
        self.base.passages(query).await
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

#[cfg(test)]
mod tests {
    use halma_core::{Layer, Mode};
    use halma_testkit::Toy;

    use super::*;

    /// A base that is only searched.
    struct SearchOnly(Arc<Toy>);

    #[async_trait]
    impl Knowledge for SearchOnly {
        async fn search(&self, query: &Query) -> Result<Vec<Vec<Hit>>, BoxError> {
            self.0.search(query).await
        }

        async fn get(&self, id: &NodeId) -> Result<Hit, BoxError> {
            Err(format!("`{id}` is read").into())
        }

        async fn neighbours(
            &self,
            id: &NodeId,
            edge: Option<Edge>,
        ) -> Result<Vec<(Edge, Hit)>, BoxError> {
            self.0.neighbours(id, edge).await
        }

        async fn run_sql(&self, sql: &str) -> Result<SqlResult, BoxError> {
            self.0.run_sql(sql).await
        }

        async fn catalog(&self) -> Result<Catalog, BoxError> {
            self.0.catalog().await
        }
    }

    #[tokio::test]
    async fn what_was_found_is_as_if_it_were_read() {
        let base = Toy::new(&[
            ("c1", "Ada", "Ada wrote notes.", &[]),
            ("c2", "Bob", "Bob wrote letters.", &[]),
        ]);
        let run = RunKnowledge::new(Arc::new(SearchOnly(Arc::clone(&base))));
        let query = Query::new(vec!["Who wrote notes?".to_owned()], Layer::Chunk, Mode::Bm25, 1);
        let hit = run.search(&query).await.unwrap().remove(0).remove(0);
        let cached = run.get(&hit.id).await.unwrap();
        let read = base.get(&hit.id).await.unwrap();
        assert_eq!(
            (&cached.text, &cached.title, cached.span),
            (&read.text, &read.title, read.span)
        );
        assert_eq!((cached.score, cached.cosine, cached.parts.len()), (0.0, None, 0));
        let other = if hit.id.0 == "c1" { "c2" } else { "c1" };
        assert!(run.get(&NodeId(other.to_owned())).await.is_err(), "this one was not found");
    }
}
