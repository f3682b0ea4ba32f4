//! Naive RAG: one search with the question, one reading.
//!
//! Paper: "From Complex to Atomic" (ICML 2025), Appendix A.2 and A.3, as a baseline; with
//! `hierarchical` the H-R variant of PIKE-RAG, Section 6.2.
//!
//! ```text
//! D <- chunks near q, at most 16, Sim >= δ
//! hierarchical: D <- D + the chunks of atoms near q that are new
//! â <- LLM(q, D)                                      -> naive/answer.md
//! ```
//!
//! Departures from the papers: `docs/developers/departures.md`.
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{Answer, Cx, Entry, Error, Layer, Mode, Prompt, Question, Result, Strategy};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use crate::shared::closing::{close, close_unread};
use crate::shared::settings;
use crate::shared::sources::{Near, TEXT, text_alone};
use crate::shared::steps::{NOTHING_NEAR, Reading, answer_from, chunks_of};

pub(crate) const ENTRY: Entry = Entry {
    name: "naive",
    paper: "baseline of KAR³ (Appendix A.2) and of PIKE-RAG (Section 6.2)",
    summary: "reads the chunks nearest to the question, in one call",
    calls: "1",
    needs: &[],
    build: |table| Ok(Arc::new(settings::parse::<Naive>(table)?.checked()?)),
};

const ANSWER: Prompt<Reading> = Prompt::json("naive/answer");

/// The defaults are those of KAR³, Appendix A.3, but for `mode`, which is `dense` there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Naive {
    /// Where the question is looked up: `text` is the base, the others are sources of texts by
    /// their names (AtomR, Section 4.1.3).
    pub(crate) sources: Vec<String>,
    /// The most chunks near the question (Appendix A.3; 8 in PIKE-RAG's H-R).
    pub(crate) chunks: usize,
    /// Also take the chunks of atoms near the question (H-R).
    pub(crate) hierarchical: bool,
    /// The most atoms near the question, with `hierarchical` (PIKE-RAG, Section 6.1).
    pub(crate) atoms: usize,
    /// δ as a cosine; `None` is the usual one of the embedder in use, layer by layer.
    pub(crate) min_score: Option<f32>,
    pub(crate) mode: Mode,
}

impl Default for Naive {
    fn default() -> Self {
        let (chunks, hierarchical, atoms, min_score) = (16, false, 4, None);
        Self { sources: text_alone(), chunks, hierarchical, atoms, min_score, mode: Mode::Graph }
    }
}

#[async_trait]
impl Strategy for Naive {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        settings::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let base = self.sources.iter().any(|name| name == TEXT);
        let near =
            Near { chunks: self.chunks, atoms: 0, min_score: self.min_score, mode: self.mode };
        let mut context = vec![];
        if base {
            context = near.to(&question.text, &[], cx).await?;
        }
        for name in self.sources.iter().filter(|name| *name != TEXT) {
            match cx.source(name, &question.text, self.chunks).await {
                Err(Error::Source { .. }) => {}
                hits => context.extend(hits?),
            }
        }
        if self.hierarchical && base {
            let text = &question.text;
            let atoms = near.layer(Layer::Atom, self.atoms, text, (&context, &[]), cx).await?;
            context.extend(chunks_of(&atoms, cx).await?);
        }
        if context.is_empty() {
            return close_unread(NOTHING_NEAR, question, cx).await;
        }
        let variables = context! { question => Serde(question), context => Serde(&context) };
        let reading = close(&ANSWER, variables, cx).await?;
        Ok(answer_from(reading, &context))
    }
}

impl Naive {
    pub(crate) fn checked(self) -> std::result::Result<Self, String> {
        settings::at_least_one("sources", self.sources.len())?;
        settings::at_least_one("chunks", self.chunks)?;
        settings::at_least_one("atoms", self.atoms)?;
        settings::a_cosine("min_score", self.min_score)?;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use halma_core::{Budget, LlmError};
    use halma_testkit::{Script, Toy};

    use super::*;
    use crate::golden::{Run, golden};

    const ARCHITECT: &str = "Who was the architect of the Varn lighthouse?";
    const THORN: &str = r#"{"rationale": "Passage 1 says so.", "answer": "Ilse Thorn"}"#;

    #[tokio::test]
    async fn one_search_and_one_reading() {
        let model = Script::new([("naive/answer", THORN)]);
        let run = Run { question: ARCHITECT, ..Run::new(model) };
        golden("naive/one_search", &Naive::default(), run).await;
    }

    #[tokio::test]
    async fn hierarchical_adds_the_chunks_of_atoms_that_are_new() {
        let naive = Naive { hierarchical: true, chunks: 1, ..Naive::default() };
        let model = Script::new([("naive/answer", r#"{"rationale": "", "answer": "Norway"}"#)]);
        let run = Run {
            question: "Where was Ilse Thorn of the Varn lighthouse born?",
            ..Run::new(model)
        };
        golden("naive/hierarchical", &naive, run).await;
    }

    #[tokio::test]
    async fn nothing_found_abstains_without_a_call() {
        let run = Run { knowledge: Toy::empty(), ..Run::new(Script::new([])) };
        golden("naive/empty_search", &Naive::default(), run).await;
    }

    #[tokio::test]
    async fn an_empty_answer_abstains() {
        let reply = r#"{"rationale": "No passage gives a height.", "answer": ""}"#;
        let model = Script::new([("naive/answer", reply)]);
        let run = Run { question: "How high is the Varn lighthouse?", ..Run::new(model) };
        golden("naive/abstains", &Naive::default(), run).await;
    }

    #[tokio::test]
    async fn a_malformed_reply_is_asked_for_again() {
        let model =
            Script::new([("naive/answer", "It was Ilse Thorn, I think."), ("naive/answer", THORN)]);
        let run = Run { question: ARCHITECT, ..Run::new(model) };
        golden("naive/malformed_then_repaired", &Naive::default(), run).await;
    }

    #[tokio::test]
    async fn a_reply_that_stays_malformed_is_asked_for_plainly() {
        let bad = ("naive/answer", "?");
        let plain = ("closing/plain", r#"{"answer": "Ilse Thorn"}"#);
        let run = |model| Run { question: ARCHITECT, ..Run::new(model) };
        let answers = run(Script::new([bad, bad, bad, plain]));
        golden("naive/plain", &Naive::default(), answers).await;

        let prose = ("closing/plain", "The architect was Ilse Thorn.");
        let answers = run(Script::new([bad, bad, bad, prose]));
        golden("naive/plain_prose", &Naive::default(), answers).await;

        let plain = ("closing/plain", "{");
        let never = run(Script::new([bad, bad, bad, plain, plain, plain]));
        golden("naive/always_malformed", &Naive::default(), never).await;
    }

    #[tokio::test]
    async fn a_model_that_refuses_everything_is_an_error() {
        let refusal = || Err(LlmError::refused("no key for this model"));
        let script = vec![("naive/answer", refusal()), ("closing/plain", refusal())];
        let run = Run { question: ARCHITECT, ..Run::new(Script::with_failures(script)) };
        golden("naive/refused", &Naive::default(), run).await;
    }

    #[tokio::test]
    async fn the_last_call_of_the_budget_pays_the_reading() {
        let budget = Budget { calls: Some(1), ..Budget::default() };
        let model = Script::new([("naive/answer", THORN)]);
        let run = Run { question: ARCHITECT, budget, ..Run::new(model) };
        golden("naive/last_call", &Naive::default(), run).await;
    }

    #[tokio::test]
    async fn with_nothing_to_spend_it_says_so() {
        let budget = Budget { calls: Some(0), ..Budget::default() };
        let run = Run { question: ARCHITECT, budget, ..Run::new(Script::new([])) };
        golden("naive/spent_budget", &Naive::default(), run).await;
    }
}
