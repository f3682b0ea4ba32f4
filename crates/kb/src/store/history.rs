//! What building this base has cost so far, in sums: what an estimate of the next run rests on.
use std::collections::BTreeMap;

use halma_core::{Event, Trace, estimate_tokens};
use serde::{Deserialize, Serialize};

use super::{Reader, Writer};

/// Sums over the calls of one prompt to one model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Past {
    /// Units of work that were asked about.
    pub(crate) units: u64,
    /// Calls that reached the model, those about malformed replies included.
    pub(crate) calls: u64,
    /// Prompt tokens as estimated before the call, and as the model counted them.
    pub(crate) estimated: u64,
    pub(crate) counted: u64,
    /// Completion tokens as the stage expected them, and as the model counted them.
    pub(crate) expected: u64,
    pub(crate) completed: u64,
    /// Texts to embed that were expected of the replies, and that came of them.
    pub(crate) foreseen: u64,
    pub(crate) made: u64,
    pub(crate) seconds: f64,
}

impl Past {
    fn add(&mut self, other: &Self) {
        self.units += other.units;
        self.calls += other.calls;
        self.estimated += other.estimated;
        self.counted += other.counted;
        self.expected += other.expected;
        self.completed += other.completed;
        self.foreseen += other.foreseen;
        self.made += other.made;
        self.seconds += other.seconds;
    }
}

/// What a stage expected of one unit, and the texts that it made of it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Expected {
    /// Completion tokens of each call.
    pub(crate) completion: u64,
    pub(crate) texts: u64,
    pub(crate) made: u64,
}

/// The past of every prompt and model; embedders are under [`History::embedding`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct History(BTreeMap<String, Past>);

fn key(prompt: &str, model: &str) -> String {
    format!("{prompt} {model}")
}

impl History {
    /// The past of a prompt with a model.
    pub(crate) fn of(&self, prompt: &str, model: &str) -> Option<&Past> {
        self.0.get(&key(prompt, model))
    }

    /// Texts embedded by a model: `units` texts of `estimated` characters in `seconds`.
    pub(crate) fn embedding(&self, model: &str) -> Option<&Past> {
        self.of("", model)
    }

    /// Adds one unit of work: what its calls used and came to. Replies from the cache say nothing
    /// about the model and are left out.
    pub(crate) fn saw(&mut self, trace: &Trace, expected: Expected) {
        for (i, event) in trace.0.iter().enumerate() {
            let Event::ModelCalled {
                prompt,
                model,
                messages,
                usage,
                cached: false,
                elapsed_ms,
                ..
            } = event
            else {
                continue;
            };
            let past = self.0.entry(key(prompt, model)).or_default();
            let asked_before = trace.0[..i].iter().any(
                |event| matches!(event, Event::ModelCalled { prompt: other, .. } if other == prompt),
            );
            let first = u64::from(!asked_before);
            past.add(&Past {
                units: first,
                calls: 1,
                estimated: estimate_tokens(messages),
                counted: usage.prompt_tokens,
                expected: expected.completion,
                completed: usage.completion_tokens,
                foreseen: first * expected.texts,
                made: first * expected.made,
                seconds: elapsed_ms / 1e3,
            });
        }
    }

    /// Adds texts that were embedded.
    pub(crate) fn embedded(&mut self, model: &str, texts: u64, characters: u64, seconds: f64) {
        let past = self.0.entry(key("", model)).or_default();
        past.add(&Past { units: texts, estimated: characters, seconds, ..Past::default() });
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

impl Reader<'_> {
    pub(crate) fn history(&self) -> heed::Result<History> {
        Ok(self.meta("history")?.unwrap_or_default())
    }
}

impl Writer<'_> {
    pub(crate) fn add_history(&mut self, seen: &History) -> heed::Result<()> {
        if seen.is_empty() {
            return Ok(());
        }
        let mut history = self.history()?;
        history.add(seen);
        self.set_meta("history", &history)
    }
}
