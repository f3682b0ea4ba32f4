//! The three ways of assessing an answer beyond right and wrong, told as one: a mark for each
//! criterion, or why there is none.
use std::collections::BTreeMap;

use halma_core::{Answer, Citation, Cx, Embedder, Error, Result};
use serde::{Deserialize, Serialize};

use super::criteria::{Evidence, NO_ANSWER, SourceText, assess};
use super::forecast::{ActualValue, NO_DIRECTION, NO_VALUE, outlook};
use super::rate;
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
}

/// What one criterion came to for one answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// A fraction between 0 and 1; of [`Scheme::Creative`], points from 1 to 5.
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

impl Scheme {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ragas => "ragas",
            Self::Creative => "creative",
            Self::Forecast => "forecast",
        }
    }

    /// Its criteria, in the papers' order.
    pub fn criteria(self) -> Vec<&'static str> {
        match self {
            Self::Ragas => Criteria::default().named().map(|(name, _)| name).to_vec(),
            Self::Creative => CREATIVE.to_vec(),
            Self::Forecast => vec![DIRECTION, COVERAGE],
        }
    }

    /// Whether marks are points from 1 to 5 instead of fractions.
    pub fn is_points(self) -> bool {
        self == Self::Creative
    }

    /// The most calls that it takes for an answer, without replies that are asked for again.
    pub fn calls(self) -> u32 {
        match self {
            Self::Ragas => 7,
            Self::Creative | Self::Forecast => 1,
        }
    }

    /// Has the judge assess one answer. The passages that it was made from are those that it
    /// cites, in its order.
    ///
    /// # Errors
    ///
    /// What ends any run: a spent budget, a model that does not reply.
    pub async fn marks(
        self,
        cx: &Cx,
        (item, answer): (&Item, &Answer),
        embedder: Option<&dyn Embedder>,
    ) -> Result<Marks> {
        if answer.text.trim().is_empty() {
            return Ok(self.all(&Mark::LeftOut(NO_ANSWER.into())));
        }
        let marks = match self {
            Self::Ragas => return ragas(cx, (item, answer), embedder).await,
            Self::Creative => creative(cx, item, answer).await,
            Self::Forecast => forecast(cx, item, answer).await,
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
    (item, answer): (&Item, &Answer),
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

async fn creative(cx: &Cx, item: &Item, answer: &Answer) -> Result<Marks> {
    let rubric = rate(cx, &item.question.text, &answer.text).await?;
    let mark = |(name, points): (String, u8)| (name, Mark::Value(points.into()));
    Ok(rubric.0.into_iter().map(mark).collect())
}

/// The judge is not asked where there is nothing to compare a forecast with.
async fn forecast(cx: &Cx, item: &Item, answer: &Answer) -> Result<Marks> {
    let came = ActualValue::read(item);
    let (direction, covered) = if (came.direction, came.value) == (None, None) {
        (Err(NO_DIRECTION), Err(NO_VALUE))
    } else {
        let outlook = outlook(cx, &item.question.text, &answer.text).await?;
        (came.heads_right(&outlook), came.is_covered(&outlook))
    };
    let mark = |found: std::result::Result<f64, &str>| match found {
        Ok(value) => Mark::Value(value),
        Err(reason) => Mark::LeftOut(reason.to_owned()),
    };
    Ok([(DIRECTION, mark(direction)), (COVERAGE, mark(covered))]
        .map(|(name, mark)| (name.to_owned(), mark))
        .into())
}
