//! Looking things up: the base, its tables, the reranker.
use std::time::Instant;

use super::{Cx, ms};
use crate::{
    Catalog, Edge, Error, Event, Hit, HitLine, NodeId, PassageQuery, Passages, Query, Result,
    SqlResult, TagMatch,
};

impl Cx {
    /// Searches the base; one list of hits for each text of the query.
    pub async fn search(&self, query: &Query) -> Result<Vec<Vec<Hit>>> {
        let began = Instant::now();
        let lists = self.run.setup.knowledge.search(query).await.map_err(Error::Knowledge)?;
        let elapsed_ms = ms(began);
        self.saw(lists.iter().flatten());
        for (text, hits) in query.texts.iter().zip(&lists) {
            self.push(Event::Searched {
                span: self.span,
                layer: query.layer,
                mode: query.mode,
                query: text.clone(),
                hits: hits.iter().map(hit_line).collect(),
                elapsed_ms,
            });
        }
        Ok(lists)
    }

    pub async fn get(&self, id: &NodeId) -> Result<Hit> {
        let hit = self.run.setup.knowledge.get(id).await.map_err(Error::Knowledge)?;
        self.saw([&hit]);
        Ok(hit)
    }

    /// The nodes that an edge leads to, or with `None` any edge.
    pub async fn neighbours(&self, id: &NodeId, edge: Option<Edge>) -> Result<Vec<(Edge, Hit)>> {
        let neighbours = self.run.setup.knowledge.neighbours(id, edge).await;
        let neighbours = neighbours.map_err(Error::Knowledge)?;
        self.saw(neighbours.iter().map(|(_, hit)| hit));
        Ok(neighbours)
    }

    /// Passages of a document in their order, or those that a regular expression matches.
    pub async fn passages(&self, query: &PassageQuery) -> Result<Passages> {
        let passages = self.run.setup.knowledge.passages(query).await.map_err(Error::Knowledge)?;
        self.saw(passages.hits.iter().map(|(hit, _)| hit));
        Ok(passages)
    }

    /// The tags that a text means, by their names, by words that samples map to them, or by a cosine
    /// of at least `near`; the surest first.
    pub async fn tags(&self, text: &str, near: f32) -> Result<Vec<TagMatch>> {
        self.run.setup.knowledge.tags(text, near).await.map_err(Error::Knowledge)
    }

    /// Runs a read-only SQL query over the base's tables.
    pub async fn run_sql(&self, sql: &str) -> Result<SqlResult> {
        let began = Instant::now();
        let computed = self.run.setup.knowledge.run_sql(sql).await.map_err(Error::Knowledge)?;
        let (span, rows, elapsed_ms) = (self.span, computed.rows.len(), ms(began));
        self.push(Event::SqlExecuted { span, sql: sql.to_owned(), rows, elapsed_ms });
        self.run.record.lock().about.extend(computed.documents.iter().cloned());
        Ok(computed)
    }

    /// Says whose words the following calls may quote, where they were not found by a search.
    pub fn quote(&self, document: &str) {
        self.run.record.lock().about.insert(document.to_owned());
    }

    pub(super) fn saw<'a>(&self, hits: impl IntoIterator<Item = &'a Hit>) {
        let mut record = self.run.record.lock();
        for hit in hits {
            if !record.about.contains(&hit.document) {
                record.about.insert(hit.document.clone());
            }
        }
    }

    /// What the base holds: how much of each layer, and its tables with their columns.
    pub async fn catalog(&self) -> Result<Catalog> {
        self.run.setup.knowledge.catalog().await.map_err(Error::Knowledge)
    }

    /// Puts hits in the order of their relevance to the query. The score of each becomes what the
    /// reranker says, between 0 and 1.
    pub async fn rerank(&self, query: &str, hits: Vec<Hit>) -> Result<Vec<Hit>> {
        if hits.is_empty() {
            return Ok(hits);
        }
        let began = Instant::now();
        let reranker = self.run.setup.reranker.as_ref();
        let reranker = reranker.ok_or_else(|| {
            Error::MissingRequirement("there is no reranker: configure one under [reranker]".into())
        })?;
        let texts: Vec<String> = hits.iter().map(ranked_text).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let failed = |source| Error::Llm { model: reranker.name().to_owned(), source };
        let scores = reranker.rerank(query, &texts).await.map_err(failed)?;
        if scores.len() != hits.len() {
            let reason = format!("{} scores for {} texts", scores.len(), hits.len());
            return Err(failed(crate::LlmError::refused(reason)));
        }
        let judged = hits.into_iter().zip(scores).map(|(hit, score)| Hit { score, ..hit });
        let mut hits: Vec<Hit> = judged.collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        self.push(Event::Reranked {
            span: self.span,
            reranker: reranker.name().to_owned(),
            query: query.to_owned(),
            hits: hits.iter().map(hit_line).collect(),
            elapsed_ms: ms(began),
        });
        Ok(hits)
    }
}

/// What a reranker reads of a hit: a chunk may not name what its title names.
fn ranked_text(hit: &Hit) -> String {
    format!("{}\n{}", hit.title, hit.text)
}

pub(super) fn hit_line(hit: &Hit) -> HitLine {
    HitLine {
        id: hit.id.clone(),
        title: hit.title.clone(),
        text: hit.text.clone(),
        score: hit.score,
    }
}
