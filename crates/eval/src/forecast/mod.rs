//! What an evaluation will take, before it takes it: from what its own questions took so far, or
//! from earlier results in the same folder, always saying which.
mod show;

pub use show::table;

use std::path::Path;

use halma_core::{Budget, Limit};
use serde::Serialize;

use crate::data::{DataSet, Item};
use crate::error::EvalError;
use crate::figures::{mean, number};
use crate::jobs::Progress;
use crate::journal::Journal;
use crate::record::{Record, RecordOutcome};
use crate::runner::{Bench, Reporting, Runner, SystemUnderTest, journal};

/// Where the figures of a forecast come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "from")]
pub enum Basis {
    /// Questions asked under these very settings, words, models and base.
    Measured { questions: usize },
    /// Questions asked under the same name with other settings, words, models or base.
    Earlier { questions: usize },
    /// Nothing was measured yet.
    Nothing,
}

/// What one question takes, on average.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Cost {
    pub calls: f64,
    /// Prompt and completion tokens, cached replies included.
    pub tokens: f64,
    /// US dollars paid; what the cache answered costs nothing.
    pub usd: f64,
    pub seconds: f64,
}

/// A total with the range it lies in with 90 % (normal theory), were the questions measured a
/// random choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Range {
    pub low: f64,
    pub likely: f64,
    pub high: f64,
}

/// What one system still has to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecast {
    pub label: String,
    /// Questions left to ask.
    pub left: usize,
    pub basis: Basis,
    /// `None` without a basis.
    pub per_question: Option<Cost>,
    pub calls: Option<Range>,
    pub tokens: Option<Range>,
    pub usd: Option<Range>,
    /// With as many questions at once as the runner asks.
    pub seconds: Option<Range>,
    /// The share of the measured calls that the cache answered: what is paid is no guide then.
    pub cached: f64,
}

impl Runner {
    /// Forecasts a run. Where fewer than `probe` questions of a system were measured under its
    /// very settings, `probe` are asked first, spread over the set; they are stored like any others
    /// and not asked again. With a `probe` of 0 nothing is asked and earlier results have to do.
    /// Answers are not assessed, and what that would take is not in it.
    pub async fn forecast(
        &self,
        data: &DataSet,
        systems: &[SystemUnderTest],
        bench: &Bench,
        (probe, progress): (usize, &Progress),
    ) -> Result<Vec<Forecast>, EvalError> {
        // What assessing takes is known without asking.
        let bench = &Bench { assessors: vec![], ..bench.clone() };
        let mut forecasts = vec![];
        for system in systems {
            let mut measured = Measured::read(self.out.as_deref(), data, system)?;
            if measured.same_settings.len() < probe.min(data.items.len()) && self.out.is_some() {
                let some = spread(data, probe);
                let only = std::slice::from_ref(system);
                self.measure(&some, only, bench, Reporting { progress, saves: false }).await?;
                measured = Measured::read(self.out.as_deref(), data, system)?;
            }
            forecasts.push(measured.forecast(system, data.items.len(), self.concurrency));
        }
        Ok(forecasts)
    }
}

/// The limit of the budget that the forecasts together would likely pass.
pub fn would_exceed(forecasts: &[Forecast], budget: &Budget) -> Option<Limit> {
    let sum = |of: fn(&Forecast) -> Option<Range>| {
        forecasts.iter().filter_map(of).map(|range| range.likely).sum::<f64>()
    };
    #[expect(clippy::cast_precision_loss, reason = "limits in calls and tokens")]
    let limits = [
        (Limit::Calls, budget.calls.map(|max| max as f64), sum(|f| f.calls)),
        (Limit::Tokens, budget.tokens.map(|max| max as f64), sum(|f| f.tokens)),
        (Limit::Usd, budget.usd, sum(|f| f.usd)),
        (Limit::Seconds, budget.seconds, sum(|f| f.seconds)),
    ];
    let passed = limits.into_iter().find(|(_, max, sum)| max.is_some_and(|max| *sum > max));
    passed.map(|(limit, ..)| limit)
}

/// At most `count` questions at even distances.
fn spread(data: &DataSet, count: usize) -> DataSet {
    let all = data.items.len();
    let count = count.min(all).max(1);
    let items = (0..count).filter_map(|i| data.items.get(i * all / count).cloned()).collect();
    DataSet { items, ..data.clone() }
}

/// One measured question.
#[derive(Clone, Copy, Default)]
pub(crate) struct Taken {
    pub(crate) calls: f64,
    pub(crate) tokens: f64,
    pub(crate) usd: f64,
    pub(crate) seconds: f64,
    pub(crate) cached: f64,
}

#[derive(Default)]
struct Measured {
    same_settings: Vec<Taken>,
    other_settings: Vec<Taken>,
    /// Questions that need not be asked again.
    answered: usize,
}

impl Measured {
    fn read(
        out: Option<&Path>,
        data: &DataSet,
        system: &SystemUnderTest,
    ) -> Result<Self, EvalError> {
        let mut measured = Self::default();
        let Some(file) = out.map(|out| journal(out, &system.label)) else {
            return Ok(measured);
        };
        if !file.exists() {
            return Ok(measured);
        }
        let mut answered: std::collections::HashSet<String> = std::collections::HashSet::new();
        let items: std::collections::HashMap<&str, &Item> =
            data.items.iter().map(|item| (item.question.id.as_str(), item)).collect();
        Journal::<Record>::read(&file, |record| {
            if matches!(record.outcome, RecordOutcome::Stopped { .. }) {
                return;
            }
            let same_settings = record.fingerprint == system.fingerprint;
            let item = items.get(record.question.as_str());
            if same_settings && item.is_some_and(|item| record.answers(item, &system.fingerprint)) {
                answered.insert(record.question.clone());
            }
            let taken = taken(&record);
            if same_settings {
                measured.same_settings.push(taken);
            } else {
                measured.other_settings.push(taken);
            }
        })?;
        measured.answered = answered.len();
        Ok(measured)
    }

    fn forecast(&self, system: &SystemUnderTest, all: usize, at_once: usize) -> Forecast {
        let left = all.saturating_sub(self.answered);
        let (basis, taken) = match (self.same_settings.len(), self.other_settings.len()) {
            (0, 0) => (Basis::Nothing, &self.same_settings),
            (0, questions) => (Basis::Earlier { questions }, &self.other_settings),
            (questions, _) => (Basis::Measured { questions }, &self.same_settings),
        };
        Forecast::new(&system.label, basis, taken, (left, at_once))
    }
}

impl Forecast {
    /// Of what others took, for `left` more questions.
    pub(crate) fn new(
        label: &str,
        basis: Basis,
        taken: &[Taken],
        (left, at_once): (usize, usize),
    ) -> Self {
        let total = |value: fn(&Taken) -> f64| {
            let values: Vec<f64> = taken.iter().map(value).collect();
            range(&values, left)
        };
        let average = |value: fn(&Taken) -> f64| mean(taken.iter().map(value)).unwrap_or(0.0);
        let at_once = number(at_once.max(1));
        let seconds = total(|taken| taken.seconds).map(|range| Range {
            low: range.low / at_once,
            likely: range.likely / at_once,
            high: range.high / at_once,
        });
        let calls = average(|taken| taken.calls);
        Self {
            label: label.to_owned(),
            left,
            basis,
            per_question: (basis != Basis::Nothing).then(|| Cost {
                calls,
                tokens: average(|taken| taken.tokens),
                usd: average(|taken| taken.usd),
                seconds: average(|taken| taken.seconds),
            }),
            calls: total(|taken| taken.calls),
            tokens: total(|taken| taken.tokens),
            usd: total(|taken| taken.usd),
            seconds,
            cached: if calls > 0.0 { average(|taken| taken.cached) / calls } else { 0.0 },
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "calls and tokens of one question")]
fn taken(record: &Record) -> Taken {
    let (prompt, completion) = record.tokens();
    Taken {
        calls: record.calls() as f64,
        tokens: (prompt + completion) as f64,
        usd: record.usage.usd,
        seconds: record.latency_ms / 1e3,
        cached: record.usage.cached_calls as f64,
    }
}

/// The sum over `left` more questions like these.
fn range(values: &[f64], left: usize) -> Option<Range> {
    let average = mean(values.iter().copied())?;
    let count = number(values.len());
    let squares: f64 = values.iter().map(|value| (value - average).powi(2)).sum();
    let variance = if values.len() > 1 { squares / (count - 1.0) } else { average * average };
    let left = number(left);
    // The sum over other questions, around a mean that was itself only measured.
    let spread = 1.645 * (variance * left * (1.0 + left / count)).sqrt();
    let likely = average * left;
    Some(Range { low: (likely - spread).max(0.0), likely, high: likely + spread })
}

#[cfg(test)]
mod tests;
