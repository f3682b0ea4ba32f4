//! Routing: the cheapest level that can answer, and one level up when its answer does not hold.
//!
//! Paper: "PIKE-RAG: specialised knowledge and rationale augmented generation", Sections 3.2
//! and 4.2.
//!
//! ```text
//! kind <- LLM(q, what the base holds, chunks near q)            -> auto/classify.md
//! level <- naive or pike_l1 for a factual question, pike_l3 for a predictive one, pike_l4
//!          for one that asks for ideas, else pike_l2; a question about the whole collection:
//!          graph_global, where the base has communities; never above the highest level allowed
//! repeat
//!     â, C <- the strategy of that level
//!     stop when â is there and LLM(q, â, C) says that C supports it   -> auto/support.md
//!     level <- the next one of naive, pike_l1, pike_l2
//! at the highest: â as it is where a procedure concluded it, else none
//! ```
//!
//! Departures from the paper: `docs/developers/departures.md`.
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::try_join_all;
use halma_core::{
    Answer, Cx, Entry, Error, Layer, Prompt, Question, Result, Strategy, UnlessFailed as _,
    UnlessSpent as _,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use crate::graph_global::GraphGlobal;
use crate::naive::Naive;
use crate::pike_l1::PikeL1;
use crate::pike_l2::PikeL2;
use crate::pike_l3::PikeL3;
use crate::pike_l4::PikeL4;
use crate::shared::kinds::{Kind, classify};
use crate::shared::settings;

pub(crate) const ENTRY: Entry = Entry {
    name: "auto",
    paper: "PIKE-RAG, Sections 3.2 and 4.2",
    summary: "classifies the question, starts at the cheapest level and goes up",
    calls: "2, and those of the levels that it tries; 3 for a fact that is found at once",
    needs: &[],
    build: |table| Ok(Arc::new(settings::parse::<Auto>(table)?.checked()?)),
};

const SUPPORT: Prompt<Verdict> = Prompt::json("auto/support");

/// The highest level of PIKE-RAG.
const HIGHEST: u8 = 4;

/// Above it are the levels for the future and for ideas.
const HIGHEST_OF_SUMMARIES: u8 = 2;

/// Passages that an answer is checked against.
const CHECKED: usize = 16;

/// The levels, cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Level {
    Naive,
    PikeL1,
    PikeL2,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::PikeL1 => "pike_l1",
            Self::PikeL2 => "pike_l2",
        }
    }

    /// The number of PIKE-RAG (Table 1); 0 is looking up without any of its levels.
    fn number(self) -> u8 {
        match self {
            Self::Naive => 0,
            Self::PikeL1 => 1,
            Self::PikeL2 => 2,
        }
    }

    /// The highest of these that is not above a number.
    fn at_most(number: u8) -> Self {
        match number {
            0 => Self::Naive,
            1 => Self::PikeL1,
            _ => Self::PikeL2,
        }
    }

    fn above(self) -> Option<Self> {
        match self {
            Self::Naive => Some(Self::PikeL1),
            Self::PikeL1 => Some(Self::PikeL2),
            Self::PikeL2 => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Auto {
    /// The highest level that is used, from 0 (`naive`) to 4; questions for a higher one are
    /// answered at the highest below it.
    pub(crate) highest: u8,
    /// Where factual questions begin.
    pub(crate) factual: Level,
    /// Ask whether the passages support an answer, and go up when they do not.
    pub(crate) check_support: bool,
    pub(crate) naive: Naive,
    pub(crate) pike_l1: PikeL1,
    /// Its `kind` is what the classifier says.
    pub(crate) pike_l2: PikeL2,
    /// For questions about the future.
    pub(crate) pike_l3: PikeL3,
    /// For questions that ask for ideas.
    pub(crate) pike_l4: PikeL4,
    /// For questions about the whole collection.
    pub(crate) graph_global: GraphGlobal,
}

impl Default for Auto {
    fn default() -> Self {
        Self {
            highest: HIGHEST,
            factual: Level::PikeL1,
            check_support: true,
            naive: Naive::default(),
            pike_l1: PikeL1::default(),
            pike_l2: PikeL2::default(),
            pike_l3: PikeL3::default(),
            pike_l4: PikeL4::default(),
            graph_global: GraphGlobal::default(),
        }
    }
}

/// Whether an answer is supported.
#[derive(Debug, Deserialize)]
struct Verdict {
    supported: bool,
    #[serde(default)]
    score: Option<f32>,
    #[serde(default)]
    reason: String,
}

#[async_trait]
impl Strategy for Auto {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        settings::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        let Some(kind) = classify(question, cx).await? else {
            return self.naive.answer(question, cx).await;
        };
        let needed = self.needed(kind);
        let highest = Level::at_most(self.highest);
        if needed > self.highest {
            let (kind, level) = (kind.name(), highest.name());
            cx.note(format!(
                "{kind} questions need level {needed}, and the highest allowed is {}: `{level}` \
                 answers",
                self.highest
            ));
        }
        if kind == Kind::Collection && needed <= self.highest {
            if cx.catalog().await?.count(Layer::Community) > 0 {
                return self.graph_global.answer(question, &cx.span("graph_global")).await;
            }
            cx.note("the knowledge base has no communities: summarizing what is near");
        }
        if kind == Kind::Predictive && needed <= self.highest {
            return self.pike_l3.answer(question, &cx.span("pike_l3")).await;
        }
        if kind == Kind::Creative && needed <= self.highest {
            return self.pike_l4.answer(question, &cx.span("pike_l4")).await;
        }
        // What no procedure is allowed for is summarized.
        let kind = if needed > HIGHEST_OF_SUMMARIES { Kind::Summarising } else { kind };
        let mut level = if kind == Kind::Factual { self.factual } else { Level::PikeL2 };
        if level.number() > highest.number() {
            level = highest;
        }
        // What a lower level said though the passages do not support it.
        let mut below: Option<Answer> = None;
        loop {
            let cx = cx.span(level.name());
            let above = level.above().filter(|above| above.number() <= highest.number());
            // Where a level is above, an abstention is what leads there.
            let abstain = question.abstain || above.is_some();
            let at_level = Question { abstain, ..question.clone() };
            let answer = match self.at(level, kind, &at_level, &cx).await {
                Err(Error::Spent(limit)) => match below {
                    Some(answer) => return Ok(unsupported(question, answer)),
                    None => return Err(Error::Spent(limit)),
                },
                answer => answer?,
            };
            // What a procedure computes or concludes stands in no passage.
            let is_computed = kind != Kind::Quantitative || answer.computation.is_some();
            let is_concluded = above.is_none() && kind != Kind::Factual && is_computed;
            let judged = if is_concluded && !answer.abstained {
                Judged::Holds(answer)
            } else {
                self.judged(question, answer, &cx).await?
            };
            let answer = match judged {
                Judged::Holds(answer) => return Ok(answer),
                Judged::Fails(answer) => answer,
            };
            let Some(above) = above else {
                let cut_short = answer.abstained && cx.trace().spent();
                let answer = below.filter(|_| cut_short).unwrap_or(answer);
                return Ok(unsupported(question, answer));
            };
            cx.note(format!("goes up to `{}`", above.name()));
            below = Some(answer).filter(|answer| !answer.abstained).or(below);
            level = above;
        }
    }
}

/// An abstention, unless the question is to be answered in any case.
fn unsupported(question: &Question, answer: Answer) -> Answer {
    if answer.abstained || !question.abstain {
        return answer;
    }
    let reason = format!("The passages do not support “{}”.", answer.text);
    Answer { abstained: true, text: String::new(), reason, ..answer }
}

enum Judged {
    Holds(Answer),
    Fails(Answer),
}

impl Auto {
    /// The level that questions of a kind need.
    fn needed(&self, kind: Kind) -> u8 {
        match kind {
            Kind::Factual => self.factual.number().min(self.highest),
            Kind::Predictive => 3,
            Kind::Creative => 4,
            Kind::Bridging
            | Kind::Comparative
            | Kind::Quantitative
            | Kind::Summarising
            | Kind::Collection => 2,
        }
    }

    async fn at(&self, level: Level, kind: Kind, question: &Question, cx: &Cx) -> Result<Answer> {
        match level {
            Level::Naive => self.naive.answer(question, cx).await,
            Level::PikeL1 => self.pike_l1.answer(question, cx).await,
            Level::PikeL2 => self.pike_l2.of_kind(kind, question, cx).await,
        }
    }

    /// Whether an answer is there and its passages support it. Where that cannot be asked, it
    /// holds.
    async fn judged(&self, question: &Question, answer: Answer, cx: &Cx) -> Result<Judged> {
        if answer.abstained {
            cx.note(format!("no answer: {}", answer.reason.trim()));
            return Ok(Judged::Fails(answer));
        }
        if !self.check_support {
            return Ok(Judged::Holds(answer));
        }
        let passages = answer.citations.iter().take(CHECKED).map(|cited| cx.get(&cited.node));
        let passages = try_join_all(passages).await?;
        let variables = context! {
            question => Serde(question),
            answer => &answer.text,
            context => Serde(&passages),
        };
        // What the budget keeps back for the closing answer pays for its check as well.
        let verdict = cx.reserve().ask(&SUPPORT, variables).await;
        let verdict =
            verdict.unless_failed(cx, "the answer is accepted unchecked").unless_spent()?;
        let Some(Verdict { supported, score, reason }) = verdict else {
            return Ok(Judged::Holds(answer));
        };
        let answer = Answer { confidence: score.or(answer.confidence), ..answer };
        if supported {
            return Ok(Judged::Holds(answer));
        }
        cx.note(format!("“{}” is not supported: {}", answer.text, reason.trim()));
        Ok(Judged::Fails(answer))
    }

    fn checked(self) -> std::result::Result<Self, String> {
        if self.highest > HIGHEST {
            return Err(format!("`highest` is {}; levels are 0 to {HIGHEST}", self.highest));
        }
        let within = |level: Level| {
            move |error: String| error.replacen('`', &format!("`{}.", level.name()), 1)
        };
        Ok(Self {
            naive: self.naive.checked().map_err(within(Level::Naive))?,
            pike_l1: self.pike_l1.checked().map_err(within(Level::PikeL1))?,
            pike_l2: self.pike_l2.checked().map_err(within(Level::PikeL2))?,
            pike_l3: self.pike_l3.checked().map_err(|error| error.replacen('`', "`pike_l3.", 1))?,
            pike_l4: self.pike_l4.checked().map_err(|error| error.replacen('`', "`pike_l4.", 1))?,
            graph_global: self
                .graph_global
                .checked()
                .map_err(|error| error.replacen('`', "`graph_global.", 1))?,
            ..self
        })
    }
}
