//! What is to be forecast.
use crate::forecast::{Granularity, Measure, Period};
use halma_core::{Cx, Prompt, Question, Result, UnlessFailed as _, UnlessSpent as _};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use super::PikeL3;
use crate::pike_l2::quantitative::query::Offered;

const PLAN: Prompt<Plan> = Prompt::json("pike_l3/plan");

/// What stands for the name of a thing in the question that is asked of each.
pub(super) const THING: &str = "{thing}";

/// Periods that a forecast may reach.
const FURTHEST: usize = 60;

/// The length of a period, as settings and plans name it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PeriodLength {
    #[default]
    Auto,
    Day,
    Month,
    Quarter,
    Year,
}

impl PeriodLength {
    pub(super) fn granularity(self) -> Option<Granularity> {
        match self {
            Self::Auto => None,
            Self::Day => Some(Granularity::Day),
            Self::Month => Some(Granularity::Month),
            Self::Quarter => Some(Granularity::Quarter),
            Self::Year => Some(Granularity::Year),
        }
    }
}

/// What is computed over the rows of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Aggregate {
    Count,
    Sum,
    Mean,
    /// Whether anything comes at all: its likelihood is asked for.
    Event,
}

impl Aggregate {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Event => "event",
        }
    }

    pub(super) fn measure(self) -> Measure {
        match self {
            Self::Count => Measure::Count,
            Self::Sum => Measure::Sum,
            Self::Mean => Measure::Mean,
            Self::Event => Measure::Event,
        }
    }

    /// Whether a row needs a value in addition to its date.
    pub(super) fn has_values(self) -> bool {
        matches!(self, Self::Sum | Self::Mean)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Plan {
    /// What is forecast, in a few words; empty where the question asks for no forecast.
    pub(super) target: String,
    #[serde(default)]
    pub(super) unit: String,
    pub(super) measure: Aggregate,
    pub(super) granularity: PeriodLength,
    /// The period that is asked for, such as `2024` or `2024-06`; empty where the question names
    /// none.
    #[serde(default)]
    pub(super) period: String,
    /// Periods ahead, where no period is named.
    #[serde(default = "one")]
    pub(super) horizon: usize,
    /// The kind of thing that is dated, in the plural, for collecting from passages.
    #[serde(default)]
    pub(super) things: String,
    #[serde(default)]
    pub(super) queries: Vec<String>,
    /// Asked of each thing without a date.
    #[serde(default)]
    pub(super) question: String,
}

fn one() -> usize {
    1
}

impl Plan {
    fn check(&self) -> std::result::Result<(), String> {
        let (period, question) = (self.period.trim(), self.question.trim());
        if !period.is_empty() && Period::parse(period).is_none() {
            return Err(format!(
                "`period` is `{period}`, not a period such as 2024, 2024-Q2, 2024-06 or 2024-06-15"
            ));
        }
        if !question.is_empty() && !question.contains(THING) {
            return Err(format!("`question` does not contain `{THING}`"));
        }
        if self.horizon > FURTHEST {
            return Err(format!("`horizon` is {}, but at most {FURTHEST}", self.horizon));
        }
        Ok(())
    }

    /// The period that is asked for, in the length of the periods.
    pub(super) fn target_period(&self) -> Option<Period> {
        let period = Period::parse(&self.period)?;
        Some(match self.granularity.granularity() {
            Some(granularity) => Period::containing(period.last_day(), granularity),
            None => period,
        })
    }

    pub(super) fn period_length(&self) -> Granularity {
        let named = || Period::parse(&self.period).map(|period| period.granularity);
        self.granularity.granularity().or_else(named).unwrap_or(Granularity::Year)
    }
}

impl PikeL3 {
    /// `None` where the question asks for no forecast, or no plan can be had.
    pub(super) async fn plan(
        &self,
        question: &Question,
        tables: &[Offered],
        cx: &Cx,
    ) -> Result<Option<Plan>> {
        let variables = context! { question => Serde(question), tables => Serde(tables) };
        let planned = cx.ask_checked(&PLAN, variables, Plan::check).await;
        let Some(mut plan) = planned.unless_failed(cx, "nothing is planned").unless_spent()? else {
            return Ok(None);
        };
        if plan.target.trim().is_empty() {
            return Ok(None);
        }
        if self.granularity != PeriodLength::Auto {
            plan.granularity = self.granularity;
        }
        if self.horizon > 0 {
            (plan.horizon, plan.period) = (self.horizon, String::new());
        }
        let period = if plan.period.is_empty() {
            format!("{} ahead", plan.horizon.max(1))
        } else {
            plan.period.clone()
        };
        let (measure, target) = (plan.measure.name(), plan.target.trim());
        cx.note(format!("{measure} of {target} by {}: {period}", plan.period_length().name()));
        Ok(Some(plan))
    }
}
