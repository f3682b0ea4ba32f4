//! A base made of the recorded passages and atoms. It finds for a text what was found for it then.
use std::collections::BTreeMap;

use async_trait::async_trait;
use halma_core::{BoxError, Catalog, Edge, Hit, Knowledge, Layer, NodeId, Query, Span, SqlResult};

use crate::recording::{Row, Run};

pub(crate) struct Base {
    passages: Vec<Hit>,
    /// Of each text its atoms, nearest first.
    near: BTreeMap<String, Vec<Hit>>,
}

impl Base {
    pub(crate) fn of(run: &Run) -> Self {
        let mut base = Self { passages: vec![], near: BTreeMap::new() };
        let titles: BTreeMap<&str, &str> = run
            .metadata
            .retrieval_contexts
            .iter()
            .map(|paragraph| (paragraph.contents.as_str(), paragraph.title.as_str()))
            .collect();
        for row in run.answer_metadata.decomposition_infos.values().flat_map(|hop| &hop.retrieval) {
            if !base.passages.iter().any(|passage| passage.text == row.passage) {
                // Other questions' passages come without a title.
                let title = titles.get(row.passage.as_str()).copied().unwrap_or_default();
                let passage = base.passage_of(title, &row.passage);
                base.passages.push(passage);
            }
            let near = base.near.get(&row.relevant_proposal).map_or(0, Vec::len);
            let atom = base.atom(row, near);
            let list = base.near.entry(row.relevant_proposal.clone()).or_default();
            if !list.iter().any(|held| held.id == atom.id) {
                list.push(atom);
            }
        }
        base
    }

    fn passage_of(&self, title: &str, text: &str) -> Hit {
        Hit {
            id: NodeId(format!("passage {}", self.passages.len() + 1)),
            layer: Layer::Chunk,
            parent: None,
            document: title.to_owned(),
            title: title.to_owned(),
            section: None,
            page: None,
            text: text.to_owned(),
            score: 1.0,
            cosine: None,
            parts: vec![],
            span: Span { start: 0, end: text.chars().count() },
        }
    }

    /// A recorded candidate. Ranks were recorded and scores were not, so the score says the rank.
    pub(crate) fn atom(&self, row: &Row, rank: usize) -> Hit {
        let passage = self.passages.iter().find(|passage| passage.text == row.passage);
        let passage = passage.expect("every row's passage is kept");
        #[expect(clippy::cast_precision_loss, reason = "a handful of ranks")]
        let score = 0.9 - 0.01 * rank as f32;
        Hit {
            id: NodeId(format!("{}: {}", passage.id, row.atom)),
            layer: Layer::Atom,
            parent: Some(passage.id.clone()),
            text: row.atom.clone(),
            score,
            cosine: Some(score),
            ..passage.clone()
        }
    }

    /// The passage of a recorded candidate.
    pub(crate) fn chunk(&self, row: &Row) -> Hit {
        let passage = self.passages.iter().find(|passage| passage.text == row.passage);
        passage.expect("every row's passage is kept").clone()
    }
}

#[async_trait]
impl Knowledge for Base {
    async fn search(&self, query: &Query) -> Result<Vec<Vec<Hit>>, BoxError> {
        let excluded = |hit: &Hit| hit.parent.as_ref().is_some_and(|p| query.exclude.contains(p));
        let near = |text: &String| {
            let found = self.near.get(text).filter(|_| query.layer == Layer::Atom);
            let new = found.into_iter().flatten().filter(|hit| !excluded(hit));
            new.take(query.limit).cloned().collect()
        };
        Ok(query.texts.iter().map(near).collect())
    }

    async fn get(&self, id: &NodeId) -> Result<Hit, BoxError> {
        let found = self.passages.iter().find(|passage| &passage.id == id);
        found.cloned().ok_or_else(|| format!("there is no `{id}`").into())
    }

    async fn neighbours(
        &self,
        _id: &NodeId,
        _edge: Option<Edge>,
    ) -> Result<Vec<(Edge, Hit)>, BoxError> {
        Ok(vec![])
    }

    async fn run_sql(&self, _sql: &str) -> Result<SqlResult, BoxError> {
        Err("the recording has no tables".into())
    }

    async fn catalog(&self) -> Result<Catalog, BoxError> {
        Ok(Catalog::default())
    }
}
