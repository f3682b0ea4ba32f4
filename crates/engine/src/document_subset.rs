//! A view of a base that is restricted to some documents: for a question that must be answered from
//! its own passages, in a base that holds those of many questions.
use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    BoxError, Catalog, Edge, Filter, Hit, Knowledge, NodeId, PassageQuery, Passages, Query,
    SqlResult, TagMatch,
};

/// Searches, reads and follows edges within some documents. Tables are refused: a query over them
/// would read rows of other documents.
pub(crate) struct DocumentSubset {
    base: Arc<dyn Knowledge>,
    documents: BTreeSet<String>,
}

impl DocumentSubset {
    pub(crate) fn new(base: Arc<dyn Knowledge>, documents: BTreeSet<String>) -> Self {
        Self { base, documents }
    }

    fn contains(&self, hit: &Hit) -> bool {
        self.documents.contains(&hit.document)
    }
}

#[async_trait]
impl Knowledge for DocumentSubset {
    async fn search(&self, query: &Query) -> Result<Vec<Vec<Hit>>, BoxError> {
        if self.documents.is_empty() {
            return Ok(vec![vec![]; query.texts.len()]);
        }
        let mut query = query.clone();
        let requested = std::mem::take(&mut query.filter.documents);
        query.filter.documents = self.documents.iter().cloned().collect();
        let mut lists = self.base.search(&query).await?;
        for list in &mut lists {
            // A name may contain a `*`, which the filter reads as a wildcard.
            list.retain(|hit| {
                self.contains(hit) && (requested.is_empty() || requested.contains(&hit.document))
            });
        }
        Ok(lists)
    }

    async fn get(&self, id: &NodeId) -> Result<Hit, BoxError> {
        let hit = self.base.get(id).await?;
        if self.contains(&hit) {
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
        let mut neighbours = self.base.neighbours(id, edge).await?;
        neighbours.retain(|(_, hit)| self.contains(hit));
        Ok(neighbours)
    }

    /// The numbers of what a name with a `*` admits in addition are not corrected.
    async fn passages(&self, query: &PassageQuery) -> Result<Passages, BoxError> {
        let documents: Vec<String> = self.documents.iter().cloned().collect();
        if documents.is_empty() {
            return Ok(Passages::default());
        }
        let filter = Filter { documents, ..query.filter.clone() };
        let mut passages = self.base.passages(&PassageQuery { filter, ..query.clone() }).await?;
        passages.hits.retain(|(hit, _)| self.contains(hit));
        Ok(passages)
    }

    /// Tags of the whole base: they name no document, and the search that they filter does.
    async fn tags(&self, text: &str, near: f32) -> Result<Vec<TagMatch>, BoxError> {
        self.base.tags(text, near).await
    }

    async fn run_sql(&self, _sql: &str) -> Result<SqlResult, BoxError> {
        Err("this question is restricted to some documents, and tables hold rows of all".into())
    }

    /// The counts of the whole base, and no tables, since none can be read.
    async fn catalog(&self) -> Result<Catalog, BoxError> {
        let catalog = self.base.catalog().await?;
        Ok(Catalog { tables: vec![], ..catalog })
    }
}

#[cfg(test)]
mod tests {
    use halma_core::{Layer, Mode, Which};
    use halma_testkit::Toy;

    use super::*;

    fn query(text: &str) -> Query {
        Query::new(vec![text.into()], Layer::Chunk, Mode::Dense, 9)
    }

    #[tokio::test]
    async fn other_documents_are_neither_found_nor_read_nor_reached_by_edges() {
        let base = Toy::new(&[
            ("reef", "Reefs", "A reef lies below water.", &["What is a reef?"]),
            ("tide", "Tides", "Water rises at high tide.", &[]),
        ]);
        let subset = DocumentSubset::new(base, BTreeSet::from(["tide.md".to_owned()]));
        let hits = subset.search(&query("water")).await.unwrap().remove(0);
        let names: Vec<_> = hits.iter().map(|hit| hit.document.as_str()).collect();
        assert_eq!(names, ["tide.md"]);
        assert!(subset.get(&"tide".into()).await.is_ok());
        assert!(subset.get(&"reef".into()).await.is_err());
        assert!(subset.neighbours(&"reef".into(), None).await.is_err());
        let passages = async |which: Which| {
            let query = PassageQuery { which, limit: 9, filter: Filter::default() };
            let passages = subset.passages(&query).await.unwrap();
            passages.hits.into_iter().map(|(hit, _)| hit.document).collect::<Vec<_>>()
        };
        assert_eq!(passages(Which::Matching("[Ww]ater".into())).await, ["tide.md"]);
        for (of, expected) in [("tide", 1), ("tide.md", 1), ("reef", 0), ("reef.md", 0)] {
            assert_eq!(passages(Which::From(of.into(), 0)).await.len(), expected, "{of}");
        }
        let empty = DocumentSubset::new(Toy::empty(), BTreeSet::new());
        let lists = empty.search(&query("water")).await.unwrap();
        assert!(lists.len() == 1 && lists[0].is_empty());
    }
}
