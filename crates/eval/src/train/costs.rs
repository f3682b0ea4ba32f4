//! What the rest of a collection will take, from what its questions took so far.
use std::collections::HashMap;

use super::round::Round;
use crate::forecast::{Basis, Forecast, Taken};

/// A forecast for `left` more questions, of the rounds of others.
#[expect(clippy::cast_precision_loss, reason = "calls and tokens of one question")]
pub(super) fn forecast(label: &str, rounds: &[Round], counts: (usize, usize)) -> Forecast {
    let mut questions: HashMap<(String, String), Taken> = HashMap::new();
    for round in rounds {
        let taken = questions.entry(round.key()).or_default();
        let usage = &round.usage;
        taken.calls += (usage.llm_calls + usage.cached_calls) as f64;
        taken.tokens += round.tokens as f64;
        taken.usd += usage.usd;
        taken.seconds += round.latency_ms / 1e3;
        taken.cached += usage.cached_calls as f64;
    }
    let basis = match questions.len() {
        0 => Basis::Nothing,
        questions => Basis::Measured { questions },
    };
    let taken: Vec<Taken> = questions.into_values().collect();
    Forecast::new(label, basis, &taken, counts)
}
