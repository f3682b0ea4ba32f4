//! PIKE-RAG, level 1: factual questions.
//!
//! Paper: "PIKE-RAG: specialised knowledge and rationale augmented generation", Section 5.2,
//! Figures 7 and 8.
//!
//! ```text
//! T <- tags of q, and the tags that these map to
//! for each layer of I, C, D, concurrently
//!     L <- nodes near q, each led to its chunks              g(Q, I), g(Q, C), g(Q, D)
//! L <- L + the chunks near q that carry a tag of T
//! S(c) = Σ w / (κ + rank of c)                               f: propagate and aggregate
//! C <- the chunks with the best S, reranked where a reranker is configured
//! â <- LLM(q, C)                                             -> pike_l1/answer.md
//! ```
//!
//! Departures from the paper: `docs/developers/departures.md`.
mod lead;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::try_join_all;
use halma_core::{Answer, Cx, Entry, Error, Hit, Layer, Mode, Prompt, Question, Result, Strategy};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use self::lead::fused;
use crate::shared::closing::{close, close_unread};
use crate::shared::settings;
use crate::shared::steps::{NOTHING_NEAR, Reading, answer_from};

pub(crate) const ENTRY: Entry = Entry {
    name: "pike_l1",
    paper: "PIKE-RAG, Section 5.2 (level 1)",
    summary: "searches every layer and by tags, lets all of them lead to chunks, and reads once",
    calls: "1",
    needs: &[],
    build: |table| Ok(Arc::new(settings::parse::<PikeL1>(table)?.checked()?)),
};

const ANSWER: Prompt<Reading> = Prompt::json("pike_l1/answer");

/// Multiple of the chunks read that is ranked, so that reranking has a choice.
const SPARE: usize = 2;

/// The paper leaves the aggregation open; the constants are ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PikeL1 {
    /// The most chunks that are read (KAR³, Appendix A.3, for one search).
    pub(crate) chunks: usize,
    /// What each layer counts for; 0 leaves it out.
    pub(crate) weights: Weights,
    /// Entities and summaries that lead to chunks, each.
    pub(crate) leads: usize,
    /// The least cosine between the question and a tag whose words it does not have.
    pub(crate) tag_score: f32,
    /// Put the chunks in a reranker's order, where one is configured.
    pub(crate) rerank: bool,
    /// δ as a cosine; `None` is the usual one of the embedder in use, layer by layer.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

/// What a list of a layer counts for when the lists are put together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Weights {
    pub(crate) document: f32,
    pub(crate) section: f32,
    pub(crate) chunk: f32,
    pub(crate) table: f32,
    pub(crate) figure: f32,
    pub(crate) atom: f32,
    pub(crate) fact: f32,
    pub(crate) row: f32,
    pub(crate) entity: f32,
    pub(crate) summary: f32,
    pub(crate) tag: f32,
}

impl Default for Weights {
    /// What says something of one passage counts for more than what says something of many.
    fn default() -> Self {
        let (fine, coarse) = (0.5, 0.25);
        Self {
            document: coarse,
            section: coarse,
            chunk: 1.0,
            table: coarse,
            figure: coarse,
            atom: fine,
            fact: fine,
            row: fine,
            entity: coarse,
            summary: coarse,
            tag: coarse,
        }
    }
}

impl Weights {
    fn layers(&self) -> [(Layer, f32); 11] {
        [
            (Layer::Chunk, self.chunk),
            (Layer::Document, self.document),
            (Layer::Section, self.section),
            (Layer::Table, self.table),
            (Layer::Figure, self.figure),
            (Layer::Atom, self.atom),
            (Layer::Fact, self.fact),
            (Layer::Row, self.row),
            (Layer::Entity, self.entity),
            (Layer::Summary, self.summary),
            (Layer::Tag, self.tag),
        ]
    }
}

impl Default for PikeL1 {
    fn default() -> Self {
        Self {
            chunks: 16,
            weights: Weights::default(),
            leads: 4,
            tag_score: 0.6,
            rerank: true,
            min_score: None,
            mode: Mode::Graph,
        }
    }
}

#[async_trait]
impl Strategy for PikeL1 {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        settings::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let context = self.retrieve(question, cx).await?;
        if context.is_empty() {
            return close_unread(NOTHING_NEAR, question, cx).await;
        }
        let variables = context! { question => Serde(question), context => Serde(&context) };
        let reading = close(&ANSWER, variables, cx).await?;
        Ok(answer_from(reading, &context))
    }
}

impl PikeL1 {
    /// The chunks that all layers together say are nearest.
    async fn retrieve(&self, question: &Question, cx: &Cx) -> Result<Vec<Hit>> {
        let catalog = cx.catalog().await?;
        let wanted = self.weights.layers().into_iter().filter(|(_, weight)| *weight > 0.0);
        // Documents and sections of one chunk each say nothing that the chunks do not say.
        let chunks = catalog.count(Layer::Chunk);
        let says_more = |layer: &Layer| {
            !matches!(layer, Layer::Document | Layer::Section) || catalog.count(*layer) < chunks
        };
        let wanted = wanted.filter(|(layer, _)| says_more(layer));
        let (used, lacking): (Vec<_>, Vec<_>) =
            wanted.partition(|(layer, _)| catalog.count(*layer) > 0);
        if !lacking.is_empty() {
            let names: Vec<&str> = lacking.iter().map(|(layer, _)| layer.name()).collect();
            cx.note(format!("the knowledge base has none of these layers: {}", names.join(", ")));
        }
        // One part of the work, so that it counts as one hop.
        let searching = cx.span("search");
        let leading = used.iter().map(|(layer, _)| self.lead(*layer, question, &searching));
        let lists = try_join_all(leading).await?;
        let weighed = used.iter().zip(lists).map(|((layer, weight), list)| (*layer, *weight, list));
        let mut chunks = fused(weighed);
        chunks.truncate(self.chunks.saturating_mul(SPARE));
        if self.rerank {
            chunks = reranked(&question.text, chunks, cx).await?;
        }
        chunks.truncate(self.chunks);
        Ok(chunks)
    }

    pub(crate) fn checked(self) -> std::result::Result<Self, String> {
        settings::at_least_one("chunks", self.chunks)?;
        settings::a_cosine("min_score", self.min_score)?;
        settings::a_cosine("tag_score", Some(self.tag_score))?;
        for (layer, weight) in self.weights.layers() {
            if !weight.is_finite() || weight < 0.0 {
                return Err(format!(
                    "`weights.{}` is {weight}, but weights are 0 or more",
                    layer.name()
                ));
            }
        }
        Ok(self)
    }
}

/// In the order of a reranker; where there is none, in the order they have.
async fn reranked(query: &str, hits: Vec<Hit>, cx: &Cx) -> Result<Vec<Hit>> {
    match cx.rerank(query, hits.clone()).await {
        Err(Error::MissingRequirement(_)) => {
            cx.note("no reranker is configured: the order is kept");
            Ok(hits)
        }
        reranked => reranked,
    }
}
