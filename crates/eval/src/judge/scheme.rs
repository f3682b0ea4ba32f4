//! The four ways of assessing an answer beyond right and wrong, as data over one engine: a mark for
//! each criterion, or why there is none.
use std::collections::BTreeMap;

use halma_core::{Answer, Citation, Cx, Embedder, Error, Result};
use serde::{Deserialize, Serialize};

use super::creative::{CREATIVE, distinct_ideas, rate};
use super::forecast::{ActualValue, Outlook, outlook};
use super::pair::prefer;
use super::ragas::{Evidence, SourceText};
use crate::Item;
use crate::figures::number;

/// By which criteria answers are assessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheme {
    /// Whether the answer, its question and the passages it cites fit together (Es et al., 2024).
    Ragas,
    /// Open questions without one right answer (PIKE-RAG's L4).
    Creative,
    /// Questions about what is to come (PIKE-RAG's L3).
    Forecast,
    /// Which of two answers is better: this one, or that of the first strategy that was run.
    Pairwise,
}

/// What the values of a criterion are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CriterionUnit {
    /// A fraction between 0 and 1.
    Share,
    /// From 1 to 5.
    Points,
    /// A number of things, or an amount in the unit of the questions.
    Number,
}

/// What one criterion came to for one answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// In the unit of the criterion, [`Scheme::unit`].
    Value(f64),
    /// It cannot be computed, and why.
    LeftOut(String),
    /// The judge's replies could not be read, also when asked for again; what was wrong with the
    /// last one.
    Unreadable(String),
}

/// By the criterion's name.
pub type Marks = BTreeMap<String, Mark>;

/// A value, or why there is none.
pub(super) type Finding = std::result::Result<f64, &'static str>;

const RAGAS: [&str; 5] = [
    "faithfulness",
    "answer_relevancy",
    "context_precision",
    "context_recall",
    "context_relevancy",
];
/// The mean absolute error, and that of the last value known.
pub(crate) const ERROR: &str = "absolute_error";
pub(crate) const NAIVE_ERROR: &str = "naive_error";
const FORECAST: [&str; 4] = ["direction_accuracy", "interval_coverage", ERROR, NAIVE_ERROR];
const IDEAS: &str = "distinct_ideas";
const PAIRWISE: [&str; 2] = ["preferred", "consistent"];

pub(super) const NO_ANSWER: &str = "there is no answer";
const NO_RIVAL: &str = "there is no other answer to compare it with";

impl Scheme {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ragas => "ragas",
            Self::Creative => "creative",
            Self::Forecast => "forecast",
            Self::Pairwise => "pairwise",
        }
    }

    /// Its criteria, in the papers' order.
    pub fn criteria(self) -> Vec<&'static str> {
        match self {
            Self::Ragas => RAGAS.to_vec(),
            Self::Creative => CREATIVE.into_iter().chain([IDEAS]).collect(),
            Self::Forecast => FORECAST.to_vec(),
            Self::Pairwise => PAIRWISE.to_vec(),
        }
    }

    /// What the values of one of its criteria are.
    pub fn unit(self, criterion: &str) -> CriterionUnit {
        match criterion {
            IDEAS | ERROR | NAIVE_ERROR => CriterionUnit::Number,
            _ if self == Self::Creative => CriterionUnit::Points,
            _ => CriterionUnit::Share,
        }
    }

    /// The most calls that it takes for an answer, without replies that are asked for again.
    pub fn calls(self) -> u32 {
        match self {
            Self::Ragas => 7,
            Self::Creative | Self::Pairwise => 2,
            Self::Forecast => 1,
        }
    }

    /// Has the judge assess one answer. The passages that it was made from are those that it
    /// cites, in its order. `rival` is the answer to the same question that it is compared with.
    ///
    /// # Errors
    ///
    /// What ends any run: a spent budget, a model that does not reply.
    pub async fn marks(
        self,
        cx: &Cx,
        (item, answer, rival): (&Item, &Answer, Option<&Answer>),
        embedder: Option<&dyn Embedder>,
    ) -> Result<Marks> {
        if answer.text.trim().is_empty() {
            let left_out = |name: &str| (name.to_owned(), Mark::LeftOut(NO_ANSWER.into()));
            return Ok(self.criteria().into_iter().map(left_out).collect());
        }
        let (question, text) = (item.question.text.as_str(), answer.text.as_str());
        let mut marks = Marks::new();
        match self {
            Self::Ragas => ragas(&mut marks, cx, (item, answer), embedder).await?,
            // Points and the number of ideas are asked for apart: one that cannot be read leaves
            // the other.
            Self::Creative => {
                let points = rate(cx, question, text).await;
                enter(&mut marks, CREATIVE, points.map(|points| points.map(Ok)))?;
                let ideas = distinct_ideas(cx, question, text).await;
                enter(&mut marks, [IDEAS], ideas.map(|ideas| [Ok(number(ideas.len()))]))?;
            }
            // The judge is not asked where there is nothing to compare a forecast with.
            Self::Forecast => {
                let actual = ActualValue::read(item);
                let outlook = if actual.is_known() {
                    outlook(cx, question, text).await
                } else {
                    Ok(Outlook::default())
                };
                enter(&mut marks, FORECAST, outlook.map(|outlook| actual.findings(&outlook)))?;
            }
            Self::Pairwise => {
                let findings = match rival.filter(|rival| !rival.abstained) {
                    Some(rival) => {
                        prefer(cx, question, [text, &rival.text]).await.map(|shares| shares.map(Ok))
                    }
                    None => Ok([Err(NO_RIVAL); 2]),
                };
                enter(&mut marks, PAIRWISE, findings)?;
            }
        }
        Ok(marks)
    }
}

/// The engine: enters what one step of a scheme comes to. Without a reply that can be read none of
/// its criteria has a value.
fn enter<const N: usize>(
    marks: &mut Marks,
    criteria: [&str; N],
    findings: Result<[Finding; N]>,
) -> Result<()> {
    let entered = match findings {
        Ok(findings) => findings.map(|finding| match finding {
            Ok(value) => Mark::Value(value),
            Err(reason) => Mark::LeftOut(reason.to_owned()),
        }),
        Err(Error::BadReply { reason, .. }) => [(); N].map(|()| Mark::Unreadable(reason.clone())),
        Err(error) => return Err(error),
    };
    marks.extend(criteria.map(str::to_owned).into_iter().zip(entered));
    Ok(())
}

/// Each criterion is a step of its own; without an embedder the second is left out.
async fn ragas(
    marks: &mut Marks,
    cx: &Cx,
    (item, answer): (&Item, &Answer),
    embedder: Option<&dyn Embedder>,
) -> Result<()> {
    let evidence = Evidence {
        question: &item.question.text,
        answer: &answer.text,
        passages: &passages(&answer.citations),
        reference: item.answers.first().map(String::as_str),
    };
    let cx = &cx.span("assess");
    let [faithfulness, answer_relevancy, precision, recall, context_relevancy] =
        RAGAS.map(|name| [name]);
    enter(marks, faithfulness, evidence.faithfulness(cx).await.map(|share| [share]))?;
    let relevancy = evidence.answer_relevancy(cx, embedder).await;
    enter(marks, answer_relevancy, relevancy.map(|cosine| [cosine]))?;
    enter(marks, precision, evidence.context_precision(cx).await.map(|share| [share]))?;
    enter(marks, recall, evidence.context_recall(cx).await.map(|share| [share]))?;
    enter(marks, context_relevancy, evidence.context_relevancy(cx).await.map(|share| [share]))
}

/// What an answer was made from: the quotes of its citations in their order, each once.
pub(crate) fn passages(citations: &[Citation]) -> Vec<SourceText> {
    let mut passages: Vec<SourceText> = vec![];
    for Citation { title, quote, .. } in citations {
        let source = SourceText { title: title.clone(), text: quote.clone() };
        if !quote.trim().is_empty() && !passages.contains(&source) {
            passages.push(source);
        }
    }
    passages
}
