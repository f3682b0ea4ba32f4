//! A forecast with the series that it continues, as the trace keeps it.
use serde::{Deserialize, Serialize};

use crate::NodeId;

/// A series by period and how it was continued.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SeriesForecast {
    /// What was counted or measured.
    pub target: String,
    /// Empty where it is a number of things.
    pub unit: String,
    /// The group that it is of; empty where there is one.
    pub group: String,
    /// `count`, `sum`, `mean` or `event`.
    pub measure: String,
    /// `day`, `month`, `quarter` or `year`.
    pub granularity: String,
    pub points: Vec<SeriesPoint>,
    /// Empty where there is no basis for a forecast.
    pub predictions: Vec<SeriesPrediction>,
    /// How it was continued; why not, where it was not.
    pub method: String,
    /// Mean absolute errors of the methods on values that were held back.
    pub errors: Vec<MethodError>,
    /// What was left out, and what was assumed.
    pub caveats: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SeriesPoint {
    /// `2024`, `2024-Q2`, `2024-06` or `2024-06-15`.
    pub period: String,
    pub value: f64,
    /// What the method gives for it.
    pub fitted: Option<f64>,
    /// The nodes that it was computed from, as many as are known.
    pub rows: Vec<NodeId>,
    /// There was no row in it.
    pub filled: bool,
    /// The period is over; one that is not was not used.
    pub finished: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SeriesPrediction {
    pub period: String,
    pub value: f64,
    pub intervals: Vec<PredictionInterval>,
}

/// Where the value lies with a probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PredictionInterval {
    /// The probability, a share of 1.
    pub level: f64,
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MethodError {
    pub method: String,
    pub error: f64,
}

impl SeriesForecast {
    /// The series and what follows in one line: `2021: 2, 2022: 2 → 2023: 2 (80 %: 0 to 4)`.
    pub fn describe(&self) -> String {
        let point = |point: &SeriesPoint| {
            let mark = if point.finished { "" } else { " (unfinished)" };
            format!("{}: {}{mark}", point.period, round(point.value))
        };
        let points: Vec<String> = self.points.iter().map(point).collect();
        let predictions: Vec<String> =
            self.predictions.iter().map(SeriesPrediction::describe).collect();
        let predictions = match predictions.as_slice() {
            [] => self.method.clone(),
            predictions => format!("{} by {}", predictions.join(", "), self.method),
        };
        let group = if self.group.is_empty() { String::new() } else { format!("{}: ", self.group) };
        format!("{group}{} → {predictions}", points.join(", "))
    }
}

impl SeriesPrediction {
    fn describe(&self) -> String {
        let interval = |interval: &PredictionInterval| {
            let (low, high) = (round(interval.low), round(interval.high));
            format!("{} %: {low} to {high}", round(interval.level * 100.0))
        };
        let intervals: Vec<String> = self.intervals.iter().map(interval).collect();
        format!("{}: {} ({})", self.period, round(self.value), intervals.join(", "))
    }
}

/// A number as people write it: whole from 100 on, else with at most three digits.
pub fn round(value: f64) -> String {
    let places = match value.abs() {
        large if large >= 100.0 => 0,
        medium if medium >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.places$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_as_people_write_them() {
        let rounded = [2.0, 0.0, -0.001, 3.4567, 12.34, 99.96, 1234.5, 0.8 * 100.0].map(round);
        assert_eq!(rounded, ["2", "0", "0", "3.46", "12.3", "100", "1234", "80"]);
    }

    #[test]
    fn a_forecast_is_one_line() {
        let point = |period: &str, finished| SeriesPoint {
            period: period.into(),
            value: 2.0,
            fitted: None,
            rows: vec![],
            filled: false,
            finished,
        };
        let interval = PredictionInterval { level: 0.8, low: 0.0, high: 4.0 };
        let step =
            SeriesPrediction { period: "2024".into(), value: 2.25, intervals: vec![interval] };
        let mut series = SeriesForecast {
            points: vec![point("2022", true), point("2023", false)],
            predictions: vec![step],
            method: "last value".into(),
            ..SeriesForecast::default()
        };
        let line = "2022: 2, 2023: 2 (unfinished) → 2024: 2.25 (80 %: 0 to 4) by last value";
        assert_eq!(series.describe(), line);
        series.predictions.clear();
        series.group = "Oslo".into();
        series.method = "no basis".into();
        assert_eq!(series.describe(), "Oslo: 2022: 2, 2023: 2 (unfinished) → no basis");
    }
}
