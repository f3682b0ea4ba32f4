//! What the rest of a collection will take, from what its questions took so far.
use std::collections::HashMap;

use super::round::Round;
use crate::figures::{mean, number};
use crate::forecast::{Basis, Cost, Forecast, Range, range};

/// A forecast for `left` more questions, of the rounds of others.
pub(super) fn forecast(label: &str, rounds: &[Round], (left, at_once): (usize, usize)) -> Forecast {
    let mut taken: HashMap<(String, String), [f64; 5]> = HashMap::new();
    for round in rounds {
        let sum = taken.entry(round.key()).or_default();
        let usage = &round.usage;
        sum[0] += float(usage.llm_calls + usage.cached_calls);
        sum[1] += float(round.tokens);
        sum[2] += usage.usd;
        sum[3] += round.latency_ms / 1e3;
        sum[4] += float(usage.cached_calls);
    }
    let of = |at: usize| taken.values().map(|sum| sum[at]).collect::<Vec<f64>>();
    let average = |at: usize| mean(of(at).into_iter()).unwrap_or(0.0);
    let calls = average(0);
    let at_once = number(at_once.max(1));
    let seconds = range(&of(3), left).map(|range| Range {
        low: range.low / at_once,
        likely: range.likely / at_once,
        high: range.high / at_once,
    });
    let basis = match taken.len() {
        0 => Basis::Nothing,
        questions => Basis::Measured { questions },
    };
    let cost = Cost { calls, tokens: average(1), usd: average(2), seconds: average(3) };
    Forecast {
        label: label.to_owned(),
        left,
        basis,
        per_question: (basis != Basis::Nothing).then_some(cost),
        calls: range(&of(0), left),
        tokens: range(&of(1), left),
        usd: range(&of(2), left),
        seconds,
        cached: if calls > 0.0 { average(4) / calls } else { 0.0 },
    }
}

#[expect(clippy::cast_precision_loss, reason = "calls and tokens of one question")]
fn float(count: u64) -> f64 {
    count as f64
}
