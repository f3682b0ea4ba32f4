//! What building this base has cost so far, in sums: what an estimate of the next run rests on.
use std::collections::BTreeMap;
use std::ops::{AddAssign, Mul};

use halma_core::{Event, Trace};
use serde::{Deserialize, Serialize};

use super::{StoreReader, StoreWriter};

/// A sum as it was expected, and as it turned out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Compared {
    expected: u64,
    actual: u64,
}

impl Compared {
    fn add(&mut self, expected: u64, actual: u64) {
        self.expected += expected;
        self.actual += actual;
    }

    /// How many times as large as expected it was; 1 where nothing was expected.
    pub(crate) fn ratio(self) -> f64 {
        if self.expected == 0 { 1.0 } else { float(self.actual) / float(self.expected) }
    }
}

/// Sums over the units of one prompt with one model, or over the texts of an embedder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Past {
    /// Units of stages whose units are made by earlier stages.
    pub(crate) units: Compared,
    /// Calls that reached the model, those about malformed replies included.
    pub(crate) calls: Compared,
    pub(crate) prompt_tokens: Compared,
    pub(crate) completion_tokens: Compared,
    /// Texts that were embedded next.
    pub(crate) texts: Compared,
    /// Characters that were embedded.
    pub(crate) characters: u64,
    pub(crate) seconds: f64,
}

impl Past {
    fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.units, other.units),
            (&mut self.calls, other.calls),
            (&mut self.prompt_tokens, other.prompt_tokens),
            (&mut self.completion_tokens, other.completion_tokens),
            (&mut self.texts, other.texts),
        ];
        for (sum, Compared { expected, actual }) in pairs {
            sum.add(expected, actual);
        }
        self.characters += other.characters;
        self.seconds += other.seconds;
    }

    /// Seconds that a call took.
    pub(crate) fn seconds_a_call(&self) -> Option<f64> {
        (self.calls.actual > 0).then(|| self.seconds / float(self.calls.actual))
    }

    /// Characters embedded in a second.
    pub(crate) fn characters_a_second(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| float(self.characters) / self.seconds)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
fn float(count: u64) -> f64 {
    count as f64
}

/// The past of every prompt and model; embedders are under [`History::of_embedder`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct History(BTreeMap<String, Past>);

fn key(prompt: &str, model: &str) -> String {
    format!("{prompt} {model}")
}

impl History {
    /// The past of a prompt with a model.
    pub(crate) fn of_prompt(&self, prompt: &str, model: &str) -> Option<&Past> {
        self.0.get(&key(prompt, model))
    }

    /// Texts embedded by a model.
    pub(crate) fn of_embedder(&self, model: &str) -> Option<&Past> {
        self.of_prompt("", model)
    }

    /// Adds a unit of work: what it was expected to cost, and what its calls came to. One with
    /// replies from the cache says nothing about the model and is left out.
    pub(crate) fn add_unit(&mut self, prompt: &str, trace: &Trace, expected: &Cost, texts: u64) {
        let mut past = Past::default();
        let mut by = None;
        for event in &trace.0 {
            let Event::ModelCalled { model, usage, cached, elapsed_ms, .. } = event else {
                continue;
            };
            if *cached {
                return;
            }
            by = Some(model);
            past.calls.actual += 1;
            past.prompt_tokens.actual += usage.prompt_tokens;
            past.completion_tokens.actual += usage.completion_tokens;
            past.seconds += elapsed_ms / 1e3;
        }
        let Some(model) = by else { return };
        past.calls.expected = expected.calls;
        past.prompt_tokens.expected = expected.prompt_tokens;
        past.completion_tokens.expected = expected.completion_tokens;
        past.texts = Compared { expected: expected.texts, actual: texts };
        self.0.entry(key(prompt, model)).or_default().add(&past);
    }

    /// Adds the number of units of a stage that only an earlier stage could tell.
    pub(crate) fn add_units(&mut self, prompt: &str, model: &str, expected: u64, actual: u64) {
        let units = Compared { expected, actual };
        let past = Past { units, ..Past::default() };
        self.0.entry(key(prompt, model)).or_default().add(&past);
    }

    /// Adds texts that were embedded.
    pub(crate) fn add_embedded(&mut self, model: &str, characters: u64, seconds: f64) {
        let past = Past { characters, seconds, ..Past::default() };
        self.0.entry(key("", model)).or_default().add(&past);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (key, past) in &other.0 {
            self.0.entry(key.clone()).or_default().add(past);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl StoreReader<'_> {
    pub(crate) fn history(&self) -> heed::Result<History> {
        Ok(self.meta("costs")?.unwrap_or_default())
    }
}

impl StoreWriter<'_> {
    pub(crate) fn add_history(&mut self, seen: &History) -> heed::Result<()> {
        if seen.is_empty() {
            return Ok(());
        }
        let mut history = self.history()?;
        history.add(seen);
        self.set_meta("costs", &history)
    }
}

/// What units are expected to cost. Tokens are counted as the core does before a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) calls: u64,
    pub(crate) prompt_tokens: u64,
    pub(crate) completion_tokens: u64,
    /// Texts that are made and then embedded, and their characters.
    pub(crate) texts: u64,
    pub(crate) characters: u64,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.texts += other.texts;
        self.characters += other.characters;
    }
}

impl Mul<u64> for Cost {
    type Output = Self;

    fn mul(self, times: u64) -> Self {
        Self {
            calls: self.calls * times,
            prompt_tokens: self.prompt_tokens * times,
            completion_tokens: self.completion_tokens * times,
            texts: self.texts * times,
            characters: self.characters * times,
        }
    }
}
