//! Predictive questions (PIKE-RAG's L3, section 6.1: "trend judgment"): whether a forecast goes the
//! right way, and whether what came lies in the interval it gave.
use serde::{Deserialize, Serialize};

use super::share;

/// Where a series goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Up,
    Down,
    Flat,
}

impl Direction {
    /// From one value to another; a change of at most `tolerance`, as a share of the first, is
    /// none.
    pub fn between(from: f64, to: f64, tolerance: f64) -> Self {
        let least = from.abs() * tolerance.max(0.0);
        match to - from {
            change if change.abs() <= least => Self::Flat,
            change if change > 0.0 => Self::Up,
            _ => Self::Down,
        }
    }
}

/// A forecast of one value, with the interval it should lie in where one was given.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    pub value: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// The share of forecasts that go in the direction of what came; `None` without any. Values are
/// made directions by [`Direction::between`].
pub fn direction_accuracy(forecasts: &[Direction], actual: &[Direction]) -> Option<f64> {
    let pairs: Vec<_> = forecasts.iter().zip(actual).collect();
    let same = pairs.iter().filter(|(forecast, actual)| forecast == actual).count();
    (!pairs.is_empty()).then(|| share(same, pairs.len()))
}

/// The share of values that lie within their forecast's interval, bounds included; `None` where no
/// forecast has an interval.
pub fn interval_coverage(forecasts: &[Forecast], actual: &[f64]) -> Option<f64> {
    let inside: Vec<bool> = forecasts
        .iter()
        .zip(actual)
        .filter_map(|(forecast, actual)| Some((forecast.low?..=forecast.high?).contains(actual)))
        .collect();
    (!inside.is_empty())
        .then(|| share(inside.iter().filter(|inside| **inside).count(), inside.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast(value: f64, interval: Option<(f64, f64)>) -> Forecast {
        Forecast { value, low: interval.map(|i| i.0), high: interval.map(|i| i.1) }
    }

    #[test]
    fn directions_are_of_changes_beyond_the_tolerance() {
        assert_eq!(Direction::between(100.0, 104.0, 0.05), Direction::Flat);
        assert_eq!(Direction::between(100.0, 106.0, 0.05), Direction::Up);
        assert_eq!(Direction::between(-10.0, -12.0, 0.0), Direction::Down);
        assert_eq!(Direction::between(0.0, 0.0, 0.0), Direction::Flat);
    }

    #[test]
    fn forecasts_are_compared_with_what_came() {
        let given = [forecast(110.0, Some((90.0, 130.0))), forecast(95.0, None)];
        let of = |values: &[f64]| -> Vec<Direction> {
            values.iter().map(|value| Direction::between(100.0, *value, 0.0)).collect()
        };
        assert_eq!(direction_accuracy(&of(&[110.0, 95.0]), &of(&[120.0, 130.0])), Some(0.5));
        assert_eq!(interval_coverage(&given, &[130.0, 1.0]), Some(1.0));
        assert_eq!(interval_coverage(&given, &[131.0, 1.0]), Some(0.0));
        assert_eq!(interval_coverage(&given[1..], &[1.0]), None);
        assert_eq!(direction_accuracy(&[], &[]), None);
    }
}
