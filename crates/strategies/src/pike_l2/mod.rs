//! PIKE-RAG, level 2: questions that link and reason.
//!
//! Paper: "PIKE-RAG: specialised knowledge and rationale augmented generation", Sections 3.2 and
//! 5.3, Figure 9.
//!
//! ```text
//! kind of q, against the base                                   -> auto/classify.md
//! bridging:     KAR³                                            -> kar3/*.md
//! comparative:  things x attributes                             -> pike_l2/compare.md
//!               each cell: â <- LLM(q_cell, chunks near it)     -> pike_l2/cell.md
//!               â <- LLM(q, the table)                          -> pike_l2/compared.md
//!               a cell that no passage states: KAR³ with N = 2
//! quantitative: sql <- LLM(q, tables with samples)              -> pike_l2/sql.md
//!               rows <- run sql; an error, or a doubtful 0, is reported, at most twice
//!               â <- LLM(q, rows)                               -> pike_l2/computed.md
//!               without a table: what is counted, how           -> pike_l2/plan_count.md
//!               things <- LLM(q, group of chunks), concurrently -> pike_l2/list.md
//!               until two rounds of chunks add nothing
//!               each thing: a cell; count, sum … in code
//!               â <- LLM(q, the rows, the result)               -> pike_l2/counted.md
//! summarising:  sections near q, in groups
//!               map: points <- LLM(q, group), concurrently      -> pike_l2/summarise.md
//!               reduce: â <- LLM(q, points)                     -> pike_l2/combine.md
//! ```
//!
//! Where a kind cannot serve, the question is bridged. Departures from the paper:
//! `docs/developers/departures.md`.
pub(crate) mod comparative;
pub(crate) mod quantitative;
mod summarising;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    Answer, AnswerKind, Cx, Entry, Error, Question, Result, Strategy, UnlessSpent as _,
};
use serde::{Deserialize, Serialize};

pub(crate) use self::comparative::Comparative;
pub(crate) use self::quantitative::Quantitative;
use self::quantitative::{asking_for_number, states_number};
pub(crate) use self::summarising::Summarising;
use crate::kar3::Kar3;
use crate::naive::Naive;
use crate::shared::kinds::{Kind, classify};
use crate::shared::settings;
use crate::shared::steps::abstain;

pub(crate) const ENTRY: Entry = Entry {
    name: "pike_l2",
    paper: "PIKE-RAG, Sections 3.2 and 5.3 (level 2)",
    summary: "bridges, compares in a table, counts by a query, or sums up everything found",
    calls: "1 to classify, then by kind: as kar3; 2 and 1 for each cell; 2 to 5 for SQL; at most 9 to summarize",
    needs: &[],
    build: |table| Ok(Arc::new(settings::parse::<PikeL2>(table)?.checked()?)),
};

/// How a question is worked on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reasoning {
    /// As the classifier says.
    #[default]
    Auto,
    Bridging,
    Comparative,
    Quantitative,
    Summarising,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PikeL2 {
    /// The kind of every question, or `auto`: each is classified.
    pub(crate) kind: Reasoning,
    pub(crate) bridging: Kar3,
    pub(crate) comparative: Comparative,
    pub(crate) quantitative: Quantitative,
    pub(crate) summarising: Summarising,
}

#[async_trait]
impl Strategy for PikeL2 {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        settings::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let kind = match self.kind {
            Reasoning::Auto => match classify(question, cx).await? {
                Some(kind) => kind,
                None => return Naive::default().answer(question, cx).await,
            },
            Reasoning::Bridging => Kind::Bridging,
            Reasoning::Comparative => Kind::Comparative,
            Reasoning::Quantitative => Kind::Quantitative,
            Reasoning::Summarising => Kind::Summarising,
        };
        self.of_kind(kind, question, cx).await
    }
}

/// An answer that was read and not counted, with that as its limitation; none where it should be a
/// number and is not.
fn uncounted(question: &Question, answer: Answer, cx: &Cx) -> Answer {
    let read = answer.citations.len();
    let mut limitation = format!("Read from {read} passages, not counted over all there are.");
    if question.answer_kind == AnswerKind::Number && !states_number(&answer.text) {
        limitation = format!("“{}” is not a number. {limitation}", answer.text);
        if question.abstain {
            cx.note(&limitation);
            return Answer { citations: answer.citations, ..abstain(limitation) };
        }
    }
    cx.note(&limitation);
    Answer { limitation: Some(limitation), ..answer }
}

impl PikeL2 {
    /// The answer to a question whose kind is known.
    pub(crate) async fn of_kind(&self, kind: Kind, question: &Question, cx: &Cx) -> Result<Answer> {
        let numbered = asking_for_number(question);
        let question = if kind == Kind::Quantitative { &numbered } else { question };
        let answered = match kind {
            Kind::Comparative => self.comparative.answer(question, cx).await,
            Kind::Quantitative => self.quantitative.answer(question, &self.comparative, cx).await,
            Kind::Summarising | Kind::Collection => {
                return self.summarising.answer(question, cx).await;
            }
            Kind::Predictive | Kind::Creative => {
                let level = if kind == Kind::Predictive { "pike_l3" } else { "pike_l4" };
                cx.note(format!(
                    "{} questions are for `{level}` (or `auto`): summarizing instead",
                    kind.name()
                ));
                return self.summarising.answer(question, cx).await;
            }
            // Where one passage states the answer, the first hop finds it.
            Kind::Bridging | Kind::Factual => Ok(None),
        };
        let abstention = match answered.unless_spent()? {
            Some(answer) if !answer.abstained => return Ok(answer),
            abstention => abstention,
        };
        let bridged = self.bridging.answer(question, &cx.span("bridging")).await;
        match (bridged, abstention) {
            // The procedure has used up what was kept back for the closing answer.
            (Err(Error::Spent(_)), Some(abstention)) => Ok(abstention),
            (Ok(answer), _) if kind == Kind::Quantitative && !answer.abstained => {
                Ok(uncounted(question, answer, cx))
            }
            (answer, _) => answer,
        }
    }

    pub(crate) fn checked(self) -> std::result::Result<Self, String> {
        let within = |kind: &str, error: String| error.replacen('`', &format!("`{kind}."), 1);
        let bridging = self.bridging.checked().map_err(|error| within("bridging", error))?;
        self.comparative.check().map_err(|error| within("comparative", error))?;
        self.quantitative.check().map_err(|error| within("quantitative", error))?;
        self.summarising.check().map_err(|error| within("summarising", error))?;
        Ok(Self { bridging, ..self })
    }
}
