//! What a strategy is and how it is listed.
use std::sync::Arc;

use async_trait::async_trait;

use crate::{Answer, Cx, Error, Question, Result, Trace};

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
    /// [`Entry::build_from`] adds the settings that all strategies have.
    pub build: fn(toml::Table) -> std::result::Result<Arc<dyn Strategy>, String>,
}

/// The settings that every strategy has: whether it may give no answer, whether models are shown the
/// worked examples that are next to its prompts (`<step>.demonstrations.md`), and whether readers may
/// use what they know themselves.
pub const COMMON_SETTINGS: [&str; 3] = [ABSTAIN, DEMONSTRATIONS, OWN_KNOWLEDGE];

const ABSTAIN: &str = "abstain";
const DEMONSTRATIONS: &str = "demonstrations";
const OWN_KNOWLEDGE: &str = "own_knowledge";

impl Entry {
    /// Builds it from its own table of the configuration with the settings that all strategies
    /// have; the error names the key.
    pub fn build_from(
        &self,
        mut table: toml::Table,
    ) -> std::result::Result<Arc<dyn Strategy>, String> {
        let mut switch = |name, default| match table.remove(name) {
            None => Ok(default),
            Some(toml::Value::Boolean(set)) => Ok(set),
            Some(other) => Err(format!("`{name}` is {other}, not true or false")),
        };
        let (abstain, demonstrations) = (switch(ABSTAIN, true)?, switch(DEMONSTRATIONS, true)?);
        let own_knowledge = switch(OWN_KNOWLEDGE, false)?;
        let inner = (self.build)(table)?;
        Ok(Arc::new(Configured { inner, abstain, demonstrations, own_knowledge }))
    }
}

/// A strategy with the settings that all strategies have.
struct Configured {
    inner: Arc<dyn Strategy>,
    abstain: bool,
    demonstrations: bool,
    own_knowledge: bool,
}

#[async_trait]
impl Strategy for Configured {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn settings(&self) -> serde_json::Value {
        let mut settings = self.inner.settings();
        if let Some(settings) = settings.as_object_mut() {
            settings.insert(DEMONSTRATIONS.into(), self.demonstrations.into());
            // Only where they are not as usual, so that labels of earlier reports stay the same.
            if !self.abstain {
                settings.insert(ABSTAIN.into(), false.into());
            }
            if self.own_knowledge {
                settings.insert(OWN_KNOWLEDGE.into(), true.into());
            }
        }
        settings
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let abstain = self.abstain && question.abstain;
        let own_knowledge = self.own_knowledge || question.own_knowledge;
        let question = &Question { abstain, own_knowledge, ..question.clone() };
        if self.demonstrations {
            return self.inner.answer(question, cx).await;
        }
        self.inner.answer(question, &cx.without_demonstrations()).await
    }
}

/// The result of one question: the answer or the error, and everything that happened.
pub struct Outcome {
    pub answer: Result<Answer>,
    pub trace: Trace,
}

impl Outcome {
    /// Runs a strategy to its end. An answer under a spent budget is marked partial here, so that
    /// no strategy has to. A run that ends with a reply that cannot be used, or with a spent budget,
    /// abstains, if any reply before could be used: what was found is in the trace. For a question
    /// with choices the answer is one of them, as the question writes it.
    pub async fn run(strategy: &dyn Strategy, question: &Question, cx: &Cx) -> Self {
        let answer = match strategy.answer(question, cx).await {
            Err(error @ (Error::BadReply { .. } | Error::Spent(_))) if cx.trace().any_valid() => {
                cx.note(format!("abstaining: {error}"));
                Ok(Answer { abstained: true, reason: error.to_string(), ..Answer::default() })
            }
            outcome => outcome,
        };
        let answer = answer.map(|answer| question.choose(answer));
        let trace = cx.trace();
        let answer = answer.map(|answer| Answer { partial: trace.spent(), ..answer });
        Self { answer, trace }
    }
}
