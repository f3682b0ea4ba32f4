//! The three ways of assessing an answer beyond right and wrong, told as one: a mark for each
//! criterion, or why there is none.
use std::collections::BTreeMap;

use halma_core::{Answer, Citation, Cx, Embedder, Error, Result};
use serde::{Deserialize, Serialize};

use super::criteria::{Evidence, NO_ANSWER, SourceText, assess};
use super::forecast::{ActualValue, NO_DIRECTION, NO_VALUE, outlook};
use super::pair::prefer;
use super::{distinct_ideas, rate};
use crate::Item;
use crate::metrics::{CREATIVE, Criteria};

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

const DIRECTION: &str = "direction_accuracy";
const COVERAGE: &str = "interval_coverage";
/// The mean absolute error, and that of the last value known.
pub(crate) const ERROR: &str = "absolute_error";
pub(crate) const NAIVE_ERROR: &str = "naive_error";
const IDEAS: &str = "distinct_ideas";
const PREFERRED: &str = "preferred";
const CONSISTENT: &str = "consistent";

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
            Self::Ragas => Criteria::default().named().map(|(name, _)| name).to_vec(),
            Self::Creative => CREATIVE.into_iter().chain([IDEAS]).collect(),
            Self::Forecast => vec![DIRECTION, COVERAGE, ERROR, NAIVE_ERROR],
            Self::Pairwise => vec![PREFERRED, CONSISTENT],
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
            return Ok(self.all(&Mark::LeftOut(NO_ANSWER.into())));
        }
        let marks = match self {
            Self::Ragas => return ragas(cx, item, answer, embedder).await,
            Self::Creative => return creative(cx, item, answer).await,
            Self::Forecast => forecast(cx, item, answer).await,
            Self::Pairwise => match rival.filter(|rival| !rival.abstained) {
                Some(rival) => pairwise(cx, item, answer, rival).await,
                None => return Ok(self.all(&Mark::LeftOut(NO_RIVAL.into()))),
            },
        };
        match marks {
            Err(Error::BadReply { reason, .. }) => Ok(self.all(&Mark::Unreadable(reason))),
            other => other,
        }
    }

    fn all(self, mark: &Mark) -> Marks {
        self.criteria().into_iter().map(|name| (name.to_owned(), mark.clone())).collect()
    }
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

async fn ragas(
    cx: &Cx,
    item: &Item,
    answer: &Answer,
    embedder: Option<&dyn Embedder>,
) -> Result<Marks> {
    let passages = passages(&answer.citations);
    let evidence = Evidence {
        question: &item.question.text,
        answer: &answer.text,
        passages: &passages,
        reference: item.answers.first().map(String::as_str),
    };
    let mut assessed = assess(cx, &evidence, embedder).await?;
    let mut marks = Marks::new();
    for (name, value) in assessed.criteria.named() {
        let unreadable = assessed.unreadable.remove(name).map(Mark::Unreadable);
        let left_out = assessed.left_out.remove(name).map(Mark::LeftOut);
        if let Some(mark) = value.map(Mark::Value).or(unreadable).or(left_out) {
            marks.insert(name.to_owned(), mark);
        }
    }
    Ok(marks)
}

const NO_RIVAL: &str = "there is no other answer to compare it with";

/// Points and the number of ideas are asked for apart: one that cannot be read leaves the other.
async fn creative(cx: &Cx, item: &Item, answer: &Answer) -> Result<Marks> {
    let unreadable = |error: Error| match error {
        Error::BadReply { reason, .. } => Ok(Mark::Unreadable(reason)),
        error => Err(error),
    };
    let mut marks: Marks = match rate(cx, &item.question.text, &answer.text).await {
        Ok(rubric) => {
            let mark = |(name, points): (String, u8)| (name, Mark::Value(points.into()));
            rubric.0.into_iter().map(mark).collect()
        }
        Err(error) => {
            let mark = unreadable(error)?;
            CREATIVE.iter().map(|name| ((*name).to_owned(), mark.clone())).collect()
        }
    };
    #[expect(clippy::cast_precision_loss, reason = "a handful of ideas")]
    let ideas = match distinct_ideas(cx, &item.question.text, &answer.text).await {
        Ok(ideas) => Mark::Value(ideas.len() as f64),
        Err(error) => unreadable(error)?,
    };
    marks.insert(IDEAS.to_owned(), ideas);
    Ok(marks)
}

async fn pairwise(cx: &Cx, item: &Item, answer: &Answer, rival: &Answer) -> Result<Marks> {
    let preference = prefer(cx, &item.question.text, [&answer.text, &rival.text]).await?;
    let marks = [(PREFERRED, preference.share()), (CONSISTENT, preference.consistency())];
    Ok(marks.map(|(name, value)| (name.to_owned(), Mark::Value(value))).into())
}

/// The judge is not asked where there is nothing to compare a forecast with.
async fn forecast(cx: &Cx, item: &Item, answer: &Answer) -> Result<Marks> {
    let came = ActualValue::read(item);
    let marks = if (came.direction, came.value) == (None, None) {
        [Err(NO_DIRECTION), Err(NO_VALUE), Err(NO_VALUE), Err(NO_VALUE)]
    } else {
        let said = outlook(cx, &item.question.text, &answer.text).await?;
        let (error, naive) = (came.error(&said), came.naive_error(&said));
        [came.heads_right(&said), came.is_covered(&said), error, naive]
    };
    let mark = |found: std::result::Result<f64, &str>| match found {
        Ok(value) => Mark::Value(value),
        Err(reason) => Mark::LeftOut(reason.to_owned()),
    };
    let names = [DIRECTION, COVERAGE, ERROR, NAIVE_ERROR];
    Ok(names.into_iter().map(str::to_owned).zip(marks.map(mark)).collect())
}
