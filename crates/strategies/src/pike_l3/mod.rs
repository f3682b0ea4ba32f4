//! PIKE-RAG, level 3: questions about the future.
//!
//! Paper: "PIKE-RAG: specialised knowledge and rationale augmented generation", Sections 3.2 and
//! 5.4, Figure 14.
//!
//! ```text
//! plan:        p <- LLM(q, tables): target, measure, period      -> pike_l3/plan.md
//! structuring: sql <- LLM(q, p, tables); rows <- run sql         -> pike_l3/sql.md
//!              no table: rows <- LLM(q, p, group of chunks),
//!              until two rounds add nothing                      -> pike_l3/rows.md
//!              a row without its date: a cell of pike_l2         -> pike_l2/cell.md
//! induction:   series <- rows by period, in code
//! forecast:    f <- the best of several methods on the values
//!              held back, with intervals, in code
//! answer:      â <- LLM(q, f, series, chunks near q)             -> pike_l3/answer.md
//!              asked again where the number of â is not f
//! ```
//!
//! Without a series the question is summarized, as in level 2. Departures from the paper:
//! `docs/developers/departures.md`.
mod answering;
mod gather;
mod plan;
mod predict;
mod rows;
mod structure;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{Answer, Cx, Entry, Question, Result, Strategy};
use serde::{Deserialize, Serialize};

use self::answering::Findings;
use self::plan::PeriodLength;
use crate::pike_l2::{Comparative, PikeL2, Quantitative};
use crate::shared::kinds::Kind;
use crate::shared::settings::{self, at_least_one};

pub(crate) const ENTRY: Entry = Entry {
    name: "pike_l3",
    paper: "PIKE-RAG, Section 5.4 (level 3)",
    summary: "collects dated rows, makes a series of them and continues it with intervals",
    calls: "3 with a table; without one 2, one for each group of chunks and each undated thing",
    needs: &[],
    build: |table| Ok(Arc::new(settings::parse::<PikeL3>(table)?.checked()?)),
};

/// Who computes the forecast.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Forecaster {
    /// Statistics over the series.
    #[default]
    Statistics,
    /// The model that answers; an ablation.
    Model,
}

/// The paper names no constants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PikeL3 {
    /// The length of a period, or `auto`: as the question implies.
    pub(crate) granularity: PeriodLength,
    /// Periods ahead; 0 for as many as the question says.
    pub(crate) horizon: usize,
    /// The probability of the narrow interval; the wide one has 0.95.
    pub(crate) level: f64,
    /// Periods below which there is no forecast.
    pub(crate) min_points: usize,
    /// The most rows that are collected from passages, and the most groups that are forecast.
    pub(crate) max_items: usize,
    pub(crate) groups: usize,
    /// Rounds of collecting from passages, chunks for each search text, and chunks for each call.
    pub(crate) rounds: usize,
    pub(crate) chunks: usize,
    pub(crate) group: usize,
    /// The most rows that are cited.
    pub(crate) citations: usize,
    /// Chunks near the question that the forecast is weighed against; 0 for none.
    pub(crate) evidence: usize,
    /// Collect rows and make a series of them; without it the model answers from chunks.
    pub(crate) structure: bool,
    pub(crate) forecast: Forecaster,
    /// How a thing without a date is looked up.
    pub(crate) cells: Comparative,
}

impl Default for PikeL3 {
    fn default() -> Self {
        Self {
            granularity: PeriodLength::Auto,
            horizon: 0,
            level: 0.8,
            min_points: 4,
            max_items: 200,
            groups: 8,
            rounds: 6,
            chunks: 16,
            group: 8,
            citations: 50,
            evidence: 6,
            structure: true,
            forecast: Forecaster::Statistics,
            cells: Comparative::default(),
        }
    }
}

#[async_trait]
impl Strategy for PikeL3 {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> serde_json::Value {
        settings::json(self)
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> Result<Answer> {
        if !self.structure {
            return self.guess(question, &[], cx).await;
        }
        let tables = Quantitative::default().offered(question, &cx.span("plan")).await?;
        let Some(plan) = self.plan(question, &tables, cx).await? else {
            return self.summarise("there is no plan for a forecast", question, cx).await;
        };
        let rows = self.structure(question, &plan, &tables, cx).await?;
        if let Some(recorded) = predict::recorded(question, &plan, &rows) {
            cx.note(format!("the rows reach {recorded}: it is counted, not forecast"));
            return PikeL2::default().of_kind(Kind::Quantitative, question, cx).await;
        }
        let outlook = self.predict(question, &plan, &rows, &cx.span("forecast"));
        if outlook.is_empty() {
            return self.summarise("there is no series to continue", question, cx).await;
        }
        if self.forecast == Forecaster::Model {
            return self.guess(question, &outlook, cx).await;
        }
        let findings = Findings { plan: &plan, collected: &rows, outlook: &outlook };
        self.conclude(question, &findings, &cx.span("answer")).await
    }
}

impl PikeL3 {
    /// What can be said without a forecast.
    async fn summarise(&self, reason: &str, question: &Question, cx: &Cx) -> Result<Answer> {
        cx.note(format!("{reason}: summarizing instead"));
        let answer = PikeL2::default().of_kind(Kind::Summarising, question, cx).await?;
        let limitation = Some(format!("This is a summary and not a forecast: {reason}."));
        Ok(Answer { limitation, ..answer })
    }

    pub(crate) fn checked(self) -> std::result::Result<Self, String> {
        at_least_one("min_points", self.min_points)?;
        at_least_one("max_items", self.max_items)?;
        at_least_one("groups", self.groups)?;
        at_least_one("chunks", self.chunks)?;
        at_least_one("group", self.group)?;
        at_least_one("citations", self.citations)?;
        if !(0.5..0.95).contains(&self.level) {
            let level = self.level;
            return Err(format!("`level` is {level}, but must be at least 0.5 and below 0.95"));
        }
        let within = |error: String| error.replacen('`', "`cells.", 1);
        self.cells.check().map_err(within)?;
        Ok(self)
    }
}
