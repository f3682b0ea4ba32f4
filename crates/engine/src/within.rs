//! A base of which only some documents may be seen: a question that is to be answered from the
//! passages it brings, in a base that holds those of many.
use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{BoxError, Catalog, Edge, Hit, Knowledge, NodeId, Query, SqlResult};

/// Searches, reads and walks within some documents. Tables are refused: a query over them would
/// see the rows of the others.
pub(crate) struct Within {
    base: Arc<dyn Knowledge>,
    documents: BTreeSet<String>,
}

impl Within {
    pub(crate) fn new(base: Arc<dyn Knowledge>, documents: BTreeSet<String>) -> Self {
        Self { base, documents }
    }

    fn seen(&self, hit: &Hit) -> bool {
        self.documents.contains(&hit.document)
    }
}

#[async_trait]
impl Knowledge for Within {
    async fn search(&self, query: &Query) -> Result<Vec<Vec<Hit>>, BoxError> {
        if self.documents.is_empty() {
            return Ok(vec![vec![]; query.texts.len()]);
        }
        let mut query = query.clone();
        let asked = std::mem::take(&mut query.filter.documents);
        query.filter.documents = self.documents.iter().cloned().collect();
        let mut lists = self.base.search(&query).await?;
        for list in &mut lists {
            // A name may hold a `*`, which the filter takes for any characters.
            list.retain(|hit| {
                self.seen(hit) && (asked.is_empty() || asked.contains(&hit.document))
            });
        }
        Ok(lists)
    }

    async fn get(&self, id: &NodeId) -> Result<Hit, BoxError> {
        let hit = self.base.get(id).await?;
        if self.seen(&hit) {
            return Ok(hit);
        }
        Err(format!("`{id}` is not among the documents of this question").into())
    }

    async fn neighbours(
        &self,
        id: &NodeId,
        edge: Option<Edge>,
    ) -> Result<Vec<(Edge, Hit)>, BoxError> {
        self.get(id).await?;
        let mut found = self.base.neighbours(id, edge).await?;
        found.retain(|(_, hit)| self.seen(hit));
        Ok(found)
    }

    async fn run_sql(&self, _sql: &str) -> Result<SqlResult, BoxError> {
        Err("this question sees some documents only, and tables hold the rows of all".into())
    }

    /// How much the whole base holds; no tables, as none can be read.
    async fn catalog(&self) -> Result<Catalog, BoxError> {
        let whole = self.base.catalog().await?;
        Ok(Catalog { tables: vec![], ..whole })
    }
}

#[cfg(test)]
mod tests {
    use halma_core::{Filter, Layer, MinScore, Mode};
    use halma_testkit::Toy;

    use super::*;

    fn query(text: &str) -> Query {
        Query {
            texts: vec![text.into()],
            layer: Layer::Chunk,
            mode: Mode::Dense,
            limit: 9,
            min_score: MinScore::Any,
            exclude: vec![],
            filter: Filter::default(),
        }
    }

    #[tokio::test]
    async fn what_is_outside_is_neither_found_nor_read_nor_walked_to() {
        let base = Toy::new(&[
            ("reef", "Reefs", "A reef lies below water.", &["What is a reef?"]),
            ("tide", "Tides", "Water rises at high tide.", &[]),
        ]);
        let within = Within::new(base, BTreeSet::from(["tide.md".to_owned()]));
        let found = within.search(&query("water")).await.unwrap().remove(0);
        let names: Vec<_> = found.iter().map(|hit| hit.document.as_str()).collect();
        assert_eq!(names, ["tide.md"]);
        assert!(within.get(&"tide".into()).await.is_ok());
        assert!(within.get(&"reef".into()).await.is_err());
        assert!(within.neighbours(&"reef".into(), None).await.is_err());
        let nothing = Within::new(Toy::empty(), BTreeSet::new());
        let found = nothing.search(&query("water")).await.unwrap();
        assert!(found.len() == 1 && found[0].is_empty());
    }
}
