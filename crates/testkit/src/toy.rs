//! A base of a few rows that finds what shares words with the query.
use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::text::content_words;
use halma_core::{
    BoxError, Computed, Edge, Hit, Holdings, Knowledge, Layer, MinScore, NodeId, Query, Span,
};

/// Chunks with their atoms; a score is the share of the query's content words the node holds.
pub struct Toy(Vec<Hit>);

impl Toy {
    /// Rows of (chunk id, title, chunk text, atoms). The atoms' ids are `chunk#1`, `chunk#2`, ….
    pub fn new(rows: &[(&str, &str, &str, &[&str])]) -> Arc<Self> {
        let mut hits = vec![];
        for (id, title, text, atoms) in rows {
            let chunk = Hit {
                id: NodeId::from(*id),
                layer: Layer::Chunk,
                parent: None,
                document: format!("{id}.md"),
                title: (*title).to_owned(),
                section: None,
                page: None,
                text: (*text).to_owned(),
                score: 1.0,
                cosine: None,
                parts: vec![],
                span: Span { start: 0, end: text.chars().count() },
            };
            for (i, atom) in atoms.iter().enumerate() {
                hits.push(Hit {
                    id: NodeId(format!("{id}#{}", i + 1)),
                    layer: Layer::Atom,
                    parent: Some(chunk.id.clone()),
                    text: (*atom).to_owned(),
                    ..chunk.clone()
                });
            }
            hits.push(chunk);
        }
        Arc::new(Self(hits))
    }

    pub fn empty() -> Arc<Self> {
        Self::new(&[])
    }
}

#[async_trait]
impl Knowledge for Toy {
    async fn search(&self, query: &Query) -> Result<Vec<Vec<Hit>>, BoxError> {
        let min = match query.min_score {
            MinScore::Any => f32::EPSILON,
            MinScore::Usual => 0.5,
            MinScore::At(least) => least,
        };
        let excluded = |hit: &Hit| {
            query.exclude.contains(&hit.id)
                || hit.parent.as_ref().is_some_and(|parent| query.exclude.contains(parent))
        };
        let near = |text: &String| {
            let wanted: BTreeSet<String> = content_words(text).into_iter().collect();
            let mut hits: Vec<Hit> = vec![];
            for hit in self.0.iter().filter(|hit| hit.layer == query.layer && !excluded(hit)) {
                let held: BTreeSet<String> = content_words(&hit.text).into_iter().collect();
                #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
                let score = wanted.intersection(&held).count() as f32 / wanted.len().max(1) as f32;
                if score >= min {
                    hits.push(Hit { score, cosine: Some(score), ..hit.clone() });
                }
            }
            hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
            hits.truncate(query.limit);
            hits
        };
        Ok(query.texts.iter().map(near).collect())
    }

    async fn get(&self, id: &NodeId) -> Result<Hit, BoxError> {
        let found = self.0.iter().find(|hit| &hit.id == id);
        found.cloned().ok_or_else(|| format!("the toy base holds no `{id}`").into())
    }

    /// Chunk and atoms are derived from one another; there are no other edges.
    async fn neighbours(
        &self,
        id: &NodeId,
        edge: Option<Edge>,
    ) -> Result<Vec<(Edge, Hit)>, BoxError> {
        let node = self.get(id).await?;
        let near =
            |hit: &&Hit| hit.parent.as_ref() == Some(id) || node.parent.as_ref() == Some(&hit.id);
        let asked = edge.is_none_or(|edge| edge == Edge::DerivedFrom);
        let found = self.0.iter().filter(|_| asked).filter(near);
        Ok(found.map(|hit| (Edge::DerivedFrom, hit.clone())).collect())
    }

    async fn compute(&self, _sql: &str) -> Result<Computed, BoxError> {
        Err("the toy base has no tables".into())
    }

    async fn holdings(&self) -> Result<Holdings, BoxError> {
        let mut held = Holdings::default();
        for hit in &self.0 {
            *held.counts.entry(hit.layer).or_default() += 1;
        }
        Ok(held)
    }
}
