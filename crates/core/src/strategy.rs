//! What a strategy is and how it is listed.
use std::sync::Arc;

use async_trait::async_trait;

use crate::{Answer, Cx, Question, Result, Trace};

/// One way of answering a question. It answers one and never sees another.
#[async_trait]
pub trait Strategy: Send + Sync {
    fn name(&self) -> &'static str;

    /// Its settings as resolved, for reports.
    fn settings(&self) -> serde_json::Value;

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer>;
}

/// What a strategy cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Need {
    /// A model for the role that gives the log-probabilities of its tokens.
    LogProbs(&'static str),
    Reranker,
    Tagger,
}

/// A strategy in the list from which CLI help, menus and docs come.
pub struct Entry {
    pub name: &'static str,
    /// Authors, title, venue.
    pub paper: &'static str,
    pub summary: &'static str,
    /// Calls to a model for one question with the default settings, as the algorithm has them.
    pub calls: &'static str,
    /// What must be configured for it; checked when it is built for a run.
    pub needs: &'static [Need],
    /// Builds it from its own table of the configuration; the error names the key.
    pub build: fn(toml::Table) -> std::result::Result<Arc<dyn Strategy>, String>,
}

/// The result of one question: the answer or the error, and everything that happened.
pub struct Outcome {
    pub answer: Result<Answer>,
    pub trace: Trace,
}

impl Outcome {
    /// Runs a strategy to its end. An answer under a spent budget is marked partial here, so that
    /// no strategy has to.
    pub async fn run(strategy: &dyn Strategy, question: &Question, cx: &Cx) -> Self {
        let answer = strategy.answer(question, cx).await;
        let trace = cx.trace();
        let answer = answer.map(|answer| Answer { partial: trace.spent(), ..answer });
        Self { answer, trace }
    }
}
