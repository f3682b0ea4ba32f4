//! The answer: the computed number, weighed against what passages say.
use std::collections::HashSet;
use std::fmt::Write as _;

use futures::future::try_join_all;
use halma_core::text::thousands;
use halma_core::{
    Answer, Citation, Cx, Hit, Mode, NodeId, Prompt, Question, Result, SeriesForecast,
    SeriesPrediction, UnlessFailed as _, round,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use super::PikeL3;
use super::plan::Plan;
use super::rows::Collected;
use crate::shared::citing::{joined, renumbered};
use crate::shared::closing::close_unread;
use crate::shared::sources::Near;
use crate::shared::steps::{Reading, answer_from, answer_text};

const ANSWER: Prompt<WrittenForecast> = Prompt::json("pike_l3/answer");
const GUESS: Prompt<Reading> = Prompt::json("pike_l3/guess");

/// A reply to `answer`.
#[derive(Debug, Deserialize)]
struct WrittenForecast {
    #[serde(default)]
    rationale: String,
    #[serde(deserialize_with = "answer_text")]
    answer: String,
    /// Why the value may turn out higher or lower than computed, by the passages.
    #[serde(default)]
    outlook: String,
}

/// What was planned, collected and computed.
pub(super) struct Findings<'a> {
    pub(super) plan: &'a Plan,
    pub(super) collected: &'a Collected,
    pub(super) outlook: &'a [SeriesForecast],
}

/// A forecast as it is written for people and models.
#[derive(Debug, Serialize)]
struct Shown {
    group: String,
    period: String,
    value: String,
    interval: String,
    wide: String,
    series: String,
    method: String,
    errors: String,
    direction: &'static str,
}

impl PikeL3 {
    pub(super) async fn conclude(
        &self,
        question: &Question,
        findings: &Findings<'_>,
        cx: &Cx,
    ) -> Result<Answer> {
        let Findings { plan, collected, outlook } = *findings;
        let citations = self.cited(outlook, cx).await?;
        let shown: Vec<Shown> = outlook.iter().filter_map(Shown::new).collect();
        if shown.is_empty() {
            let series: Vec<String> = outlook.iter().map(SeriesForecast::describe).collect();
            let reason = format!("There is no forecast. {}", series.join("; "));
            return Ok(Answer { citations, ..close_unread(&reason, question, cx).await? });
        }
        let evidence = self.evidence(question, cx).await?;
        let caveats = &outlook[0].caveats;
        let variables = context! {
            question => Serde(question),
            plan => Serde(plan),
            forecasts => Serde(&shown),
            caveats => Serde(caveats),
            context => Serde(&evidence),
        };
        let expected: Vec<&str> = shown.iter().map(|shown| shown.value.as_str()).collect();
        let check = |reply: &WrittenForecast| states(&reply.answer, &expected);
        let replied = cx.reserve().ask_checked(&ANSWER, variables, check).await;
        let reply = replied.unless_failed(cx, "the computed forecast is the answer")?;
        let (text, said) = match reply {
            Some(reply) => {
                (reply.answer, format!("{} {}", reply.rationale.trim(), reply.outlook.trim()))
            }
            None => (shown[0].plain(), String::new()),
        };
        let mut citations = citations;
        let reason = cite_marked(said.trim(), &evidence, &mut citations);
        let computation = Some(computation(&shown, caveats, collected));
        let text = text.trim().to_owned();
        Ok(Answer { text, reason, citations, computation, ..Answer::default() })
    }

    /// A forecast by the model alone, from the series and the chunks near the question.
    pub(super) async fn guess(
        &self,
        question: &Question,
        outlook: &[SeriesForecast],
        cx: &Cx,
    ) -> Result<Answer> {
        let evidence = self.evidence(question, cx).await?;
        let series: Vec<String> = outlook.iter().map(points).collect();
        let variables = context! {
            question => Serde(question),
            series => Serde(&series),
            context => Serde(&evidence),
        };
        let reading = cx.reserve().ask(&GUESS, variables).await?;
        let mut answer = answer_from(reading, &evidence);
        answer.citations =
            joined(self.cited(outlook, cx).await?.into_iter().chain(answer.citations));
        Ok(answer)
    }

    async fn evidence(&self, question: &Question, cx: &Cx) -> Result<Vec<Hit>> {
        if self.evidence == 0 {
            return Ok(vec![]);
        }
        let near = Near { chunks: self.evidence, atoms: 0, min_score: None, mode: Mode::Graph };
        near.to(&question.text, &[], cx).await
    }

    /// The nodes that the series come from, the latest first.
    async fn cited(&self, outlook: &[SeriesForecast], cx: &Cx) -> Result<Vec<Citation>> {
        let mut seen = HashSet::new();
        let points = outlook.iter().flat_map(|series| series.points.iter().rev());
        let nodes = points.flat_map(|point| &point.rows).filter(|node| seen.insert(*node));
        let nodes: Vec<&NodeId> = nodes.collect();
        if nodes.len() > self.citations {
            let rows = thousands(nodes.len() as u64);
            cx.note(format!("{rows} rows: citing the latest {}", self.citations));
        }
        let hits = nodes.into_iter().take(self.citations).map(|node| cx.get(node));
        Ok(try_join_all(hits).await?.iter().map(Citation::from).collect())
    }
}

/// What is wrong with an answer that does not state a computed number.
fn states(answer: &str, expected: &[&str]) -> std::result::Result<(), String> {
    let numbers: Vec<String> = numbers(answer).map(round).collect();
    let plain = |value: &str| value.trim_end_matches(" %").to_owned();
    if expected.iter().any(|value| numbers.contains(&plain(value))) {
        return Ok(());
    }
    Err(format!("`answer` does not state the computed value, {}", expected.join(" or ")))
}

fn numbers(text: &str) -> impl Iterator<Item = f64> {
    let number = |part: &str| part.trim_matches(['.', ',']).replace(',', "").parse().ok();
    text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').filter_map(number)
}

fn points(series: &SeriesForecast) -> String {
    let point =
        |point: &halma_core::SeriesPoint| format!("{}: {}", point.period, round(point.value));
    let finished = series.points.iter().filter(|point| point.finished);
    let points: Vec<String> = finished.map(point).collect();
    if series.group.is_empty() {
        points.join(", ")
    } else {
        format!("{}: {}", series.group, points.join(", "))
    }
}

impl Shown {
    /// `None` where there is no forecast.
    fn new(series: &SeriesForecast) -> Option<Self> {
        let prediction = series.predictions.last()?;
        let share = series.measure == "event";
        let scaled = |value: f64| if share { value * 100.0 } else { value };
        let unit = match (share, series.unit.as_str()) {
            (true, _) => " %".to_owned(),
            (false, "") => String::new(),
            (false, unit) => format!(" {unit}"),
        };
        let range = |at: usize| {
            let interval = prediction.intervals.get(at);
            interval.map_or_else(String::new, |interval| {
                let (low, high) = (round(scaled(interval.low)), round(scaled(interval.high)));
                format!("{} % interval {low} to {high}{unit}", round(interval.level * 100.0))
            })
        };
        let error =
            |error: &halma_core::MethodError| format!("{} {}", error.method, round(error.error));
        let errors: Vec<String> = series.errors.iter().map(error).collect();
        let value = round(scaled(prediction.value));
        Some(Self {
            group: series.group.clone(),
            period: prediction.period.clone(),
            value: if share { format!("{value} %") } else { value },
            interval: range(0),
            wide: range(1),
            series: points(series),
            method: series.method.clone(),
            errors: errors.join(", "),
            direction: direction(series, prediction),
        })
    }

    fn plain(&self) -> String {
        let group = if self.group.is_empty() { String::new() } else { format!("{}: ", self.group) };
        format!("{group}{} ({})", self.value, self.interval)
    }
}

/// Where the value goes from the last one.
fn direction(series: &SeriesForecast, prediction: &SeriesPrediction) -> &'static str {
    let last = series.points.iter().rev().find(|point| point.finished);
    match last.map(|last| prediction.value - last.value) {
        _ if series.measure == "event" => "",
        Some(change) if change > last.map_or(0.0, |last| last.value.abs() * 0.02) => "up",
        Some(change) if change < -last.map_or(0.0, |last| last.value.abs() * 0.02) => "down",
        _ => "level",
    }
}

/// The text with its marks of passages, such as `[2]`, as numbers of the citations, to which the
/// passages are added.
fn cite_marked(text: &str, passages: &[Hit], citations: &mut Vec<Citation>) -> String {
    renumbered(text, |number| {
        let passage = passages.get(number.checked_sub(1)?)?;
        let cited = citations.iter().position(|citation| citation.node == passage.id);
        Some(
            1 + cited.unwrap_or_else(|| {
                citations.push(Citation::from(passage));
                citations.len() - 1
            }),
        )
    })
}

/// What was computed, and from what.
fn computation(shown: &[Shown], caveats: &[String], collected: &Collected) -> String {
    let mut out = String::new();
    for shown in shown {
        let (period, value, method) = (&shown.period, &shown.value, &shown.method);
        let _ = write!(out, " {period}: {value}, {}, {}, by {method}", shown.interval, shown.wide);
        if !shown.errors.is_empty() {
            let _ = write!(out, " (mean error on values held back: {})", shown.errors);
        }
        let _ = write!(out, ". Series: {}.", shown.series);
    }
    let _ = write!(out, " Computed from {} rows.", thousands(collected.rows.len() as u64));
    if !caveats.is_empty() {
        let _ = write!(out, " {}.", caveats.join("; "));
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_has_to_state_the_number() {
        for answer in
            ["2", "About 2 (0 to 4)", "2.0 designations", "Between 0 and 4, most likely 2."]
        {
            assert!(states(answer, &["2"]).is_ok(), "{answer}");
        }
        for answer in ["", "3", "in 2024", "two", "22"] {
            assert!(states(answer, &["2"]).is_err(), "{answer}");
        }
        assert!(states("83 %", &["83 %"]).is_ok() && states("0.83", &["83 %"]).is_err());
        assert!(states("1,234 t", &["1234"]).is_ok());
        assert!(states("Oslo: 7", &["3", "7"]).is_ok());
    }
}
