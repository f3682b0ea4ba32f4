//! `BlendFilter`: three queries blended with what the model knows, filtered by the model.
//!
//! Paper: Wang et al., EMNLP 2024, as a baseline of `UniRAG` (Section 4.2).
//!
//! ```text
//! D_q  <- K chunks near q
//! a_in <- LLM(q)                    from memory                  -> blend_filter/recall.md
//! a_ex <- LLM(q, D_q)               from the first chunks        -> blend_filter/draft.md
//! D_in, D_ex <- K chunks near q + a_in, and near q + a_ex
//! D    <- F(q, D_q) + F(q, D_in) + F(q, D_ex)                    -> blend_filter/filter.md
//! â    <- LLM(q, D)                                              -> blend_filter/answer.md
//! ```
//!
//! Departures from the paper: `docs/developers/departures.md`.
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::{join, try_join_all};
use halma_core::{
    Answer, Cx, Entry, Hit, Layer, MinScore, Mode, Prompt, Query, Question, Result, Strategy,
    UnlessFailed as _, UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use crate::shared::closing::{close, close_unread};
use crate::shared::settings::{self as table, a_cosine, at_least_one};
use crate::shared::steps::{NOTHING_NEAR, Reading, answer_from, unseen};

pub(crate) const ENTRY: Entry = Entry {
    name: "blend_filter",
    paper: "BlendFilter (EMNLP 2024), as a baseline of UniRAG (Section 4.2)",
    summary: "searches with the question and with two first answers, and lets the model filter",
    calls: "6 at most",
    needs: &[],
    build: |values| Ok(Arc::new(table::parse::<BlendFilter>(values)?.checked()?)),
};

const RECALL: Prompt<Reading> = Prompt::json("blend_filter/recall");
const DRAFT: Prompt<Reading> = Prompt::json("blend_filter/draft");
const FILTER: Prompt<FilterReply> = Prompt::json("blend_filter/filter");
const ANSWER: Prompt<Reading> = Prompt::json("blend_filter/answer");

/// Numbers of passages, from 1; 0 is none.
#[derive(Deserialize)]
struct FilterReply {
    passages: Vec<usize>,
}

#[async_trait]
impl Strategy for BlendFilter {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        table::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let sets = self.blend(question, cx).await?;
        if sets.iter().all(Vec::is_empty) {
            return close_unread(NOTHING_NEAR, question, cx).await;
        }
        let passages = self.filter(question, sets, cx).await?;
        let variables = context! { question => Serde(question), context => Serde(&passages) };
        Ok(answer_from(close(&ANSWER, variables, cx).await?, &passages))
    }
}

impl BlendFilter {
    /// The three sets, every chunk in the first of them that holds it.
    async fn blend(&self, question: &Question, cx: &Cx) -> Result<Vec<Vec<Hit>>> {
        let first = self.near(vec![question.text.clone()], &cx.span("question")).await?;
        let first: Vec<Hit> = first.into_iter().flatten().collect();
        let cx = cx.span("blend");
        let inside = self.internal.then(|| cx.span("from memory"));
        let outside = self.external && !first.is_empty();
        let outside = outside.then(|| cx.span("from the first passages"));
        let recalled = async {
            let Some(cx) = inside else { return Ok(None) };
            let variables = context! { question => Serde(question) };
            cx.ask(&RECALL, variables).await.unless_failed(&cx, "not searched for").unless_spent()
        };
        let drafted = async {
            let Some(cx) = outside else { return Ok(None) };
            let variables = context! { question => Serde(question), context => Serde(&first) };
            cx.ask(&DRAFT, variables).await.unless_failed(&cx, "not searched for").unless_spent()
        };
        let (recalled, drafted) = join(recalled, drafted).await;
        let blended = |reading: Reading| {
            let text = format!("{} {} {}", question.text, reading.rationale, reading.answer);
            text.trim().to_owned()
        };
        let texts: Vec<String> = [recalled?, drafted?].into_iter().flatten().map(blended).collect();
        let mut sets = vec![first];
        if !texts.is_empty() {
            for hits in self.near(texts, &cx).await? {
                let earlier: Vec<Hit> = sets.iter().flatten().cloned().collect();
                sets.push(unseen(vec![hits], &earlier));
            }
        }
        Ok(sets)
    }

    /// The passages of all sets that the model finds useful; those near the question as they were
    /// found where it finds none.
    async fn filter(
        &self,
        question: &Question,
        mut sets: Vec<Vec<Hit>>,
        cx: &Cx,
    ) -> Result<Vec<Hit>> {
        sets.retain(|set| !set.is_empty());
        if !self.filter {
            return Ok(sets.into_iter().flatten().collect());
        }
        let spans: Vec<Cx> = (1..=sets.len()).map(|i| cx.span(format!("filter {i}"))).collect();
        let filtered = sets.iter().zip(&spans).map(|(set, cx)| async move {
            let variables = context! { question => Serde(question), context => Serde(set) };
            let kept = cx.ask(&FILTER, variables).await;
            kept.unless_failed(cx, "all of these passages are kept").unless_spent()
        });
        let filtered = try_join_all(filtered).await?;
        let mut passages = vec![];
        for (set, kept) in sets.iter().zip(filtered) {
            let Some(FilterReply { passages: kept }) = kept else {
                // What was not filtered is read as it is.
                passages.extend(set.iter().cloned());
                continue;
            };
            // 0 is "none", as everywhere.
            for number in kept.iter().filter(|number| **number > set.len()) {
                cx.note(format!("there is no passage {number}: ignored"));
            }
            let chosen = set.iter().enumerate().filter(|(i, _)| kept.contains(&(i + 1)));
            passages.extend(chosen.map(|(_, hit)| hit.clone()));
        }
        if passages.is_empty() {
            cx.note("the filter keeps nothing: the passages near the question are read");
            passages.extend(sets.into_iter().next().into_iter().flatten());
        }
        Ok(passages)
    }

    async fn near(&self, texts: Vec<String>, cx: &Cx) -> Result<Vec<Vec<Hit>>> {
        let query = Query {
            min_score: MinScore::from_setting(self.min_score),
            ..Query::new(texts, Layer::Chunk, self.mode, self.chunks)
        };
        cx.search(&query).await
    }
}

/// The three switches are the parts that the paper's ablation leaves out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BlendFilter {
    /// K, chunks for each of the three queries.
    pub(crate) chunks: usize,
    /// Search with what the model answers from memory.
    pub(crate) internal: bool,
    /// Search with what it answers from the first chunks.
    pub(crate) external: bool,
    /// Let the model filter what was found.
    pub(crate) filter: bool,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for BlendFilter {
    fn default() -> Self {
        let (internal, external, filter) = (true, true, true);
        Self { chunks: 5, internal, external, filter, min_score: None, mode: Mode::Dense }
    }
}

impl BlendFilter {
    /// Refuses values with which the algorithm cannot run.
    pub(super) fn checked(self) -> std::result::Result<Self, String> {
        at_least_one("chunks", self.chunks)?;
        a_cosine("min_score", self.min_score)?;
        Ok(self)
    }
}
