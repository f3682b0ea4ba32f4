//! `GraphRAG`, local: from the entities near the question to their facts and passages.
//!
//! Paper: Edge et al., "From Local to Global", 2024, as a baseline of KAR³ (Tables 5 and 6) and of
//! PIKE-RAG (Section 6.1).
//!
//! ```text
//! E <- entities named in q; entities near q
//! E' <- entities related to E                                    the neighbourhood
//! N <- chunks that mention E or E'
//! C <- N and the chunks of facts near q, those with most of E and of q's words first
//! F <- facts near q and facts of C, ranked alike
//! R <- the reports of the communities with most of E
//! â <- LLM(q, R, F, C)                                           -> graph_local/answer.md
//! ```
//!
//! Departures from the paper: `docs/developers/departures.md`.
mod neighbourhood;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{Answer, Cx, Entry, Layer, Mode, Prompt, Question, Result, Strategy};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use self::neighbourhood::Around;
use crate::naive::Naive;
use crate::shared::closing::close;
use crate::shared::settings;
use crate::shared::steps::{Reading, answer_from};

pub(crate) const ENTRY: Entry = Entry {
    name: "graph_local",
    paper: "GraphRAG, local (Edge et al. 2024), as a baseline of KAR³ and PIKE-RAG",
    summary: "reads the facts and passages around the entities near the question",
    calls: "1",
    needs: &[],
    build: |table| Ok(Arc::new(settings::parse::<GraphLocal>(table)?.checked()?)),
};

const ANSWER: Prompt<Reading> = Prompt::json("graph_local/answer");

/// The defaults for entities and facts are those of the reference code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct GraphLocal {
    /// The most entities that the walk starts from.
    pub(crate) entities: usize,
    /// The most entities related to these whose passages are looked at as well.
    pub(crate) related: usize,
    /// The most reports of communities that are read; they are background and are not cited.
    pub(crate) reports: usize,
    /// The most facts that are read.
    pub(crate) facts: usize,
    /// The most chunks that are read.
    pub(crate) chunks: usize,
    /// δ as a cosine; `None` is the usual one of the embedder in use.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for GraphLocal {
    fn default() -> Self {
        let (entities, related, facts, chunks) = (10, 10, 20, 12);
        let (min_score, mode) = (None, Mode::Hybrid);
        Self { entities, related, reports: 2, facts, chunks, min_score, mode }
    }
}

#[async_trait]
impl Strategy for GraphLocal {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        settings::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let catalog = cx.catalog().await?;
        if catalog.count(Layer::Entity) == 0 {
            cx.note("the knowledge base has no entities: reading the chunks near the question");
            return self.flat().answer(question, cx).await;
        }
        let entities = self.entities(question, cx).await?;
        if entities.is_empty() {
            cx.note("no entity is near the question: reading the chunks near it");
            return self.flat().answer(question, cx).await;
        }
        let named: Vec<&str> = entities.iter().map(|entity| entity.title.as_str()).collect();
        cx.note(format!("entities: {}", named.join(", ")));
        let has_facts = catalog.count(Layer::Fact) > 0;
        if !has_facts {
            cx.note("the knowledge base has no facts: reading only the passages");
        }
        let Around { chunks, facts, reports } =
            self.around(question, &entities, has_facts, cx).await?;
        if chunks.is_empty() {
            cx.note("no passage mentions them: reading the chunks near the question");
            return self.flat().answer(question, cx).await;
        }
        cx.note(format!("reads {} facts and {} passages", facts.len(), chunks.len()));
        if !reports.is_empty() {
            let titles: Vec<&str> = reports.iter().map(|report| report.title.as_str()).collect();
            cx.note(format!("communities: {}", titles.join(", ")));
        }
        let variables = context! {
            question => Serde(question), context => Serde(&chunks), facts, reports => Serde(reports)
        };
        let reading = close(&ANSWER, variables, cx).await?;
        Ok(answer_from(reading, &chunks))
    }
}

impl GraphLocal {
    /// What is left where there is no graph.
    fn flat(&self) -> Naive {
        Naive { chunks: self.chunks, min_score: self.min_score, ..Naive::default() }
    }

    fn checked(self) -> std::result::Result<Self, String> {
        settings::at_least_one("entities", self.entities)?;
        settings::at_least_one("chunks", self.chunks)?;
        settings::a_cosine("min_score", self.min_score)?;
        Ok(self)
    }
}
