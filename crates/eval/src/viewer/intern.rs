//! Prompts repeat the same passages over and over, so that long texts are replaced by the numbers
//! of their lines, each line stored once.
use std::collections::HashMap;

use serde_json::{Value, json};

/// Shorter texts of one line stay where they are, in bytes.
const SHORT: usize = 48;

#[derive(Default)]
pub(super) struct Interner {
    lines: Vec<String>,
    places: HashMap<String, usize>,
    /// Bytes of lines added since [`Interner::take_added`].
    added: usize,
}

impl Interner {
    /// The value with `{"$": [numbers of lines]}` for every long text.
    pub(super) fn intern(&mut self, value: Value) -> Value {
        match value {
            Value::String(text) if text.len() > SHORT || text.contains('\n') => {
                let places: Vec<usize> = text.split('\n').map(|line| self.place(line)).collect();
                json!({ "$": places })
            }
            Value::Array(values) => values.into_iter().map(|value| self.intern(value)).collect(),
            Value::Object(fields) => {
                let fields = fields.into_iter().map(|(key, value)| (key, self.intern(value)));
                Value::Object(fields.collect())
            }
            value => value,
        }
    }

    fn place(&mut self, line: &str) -> usize {
        if let Some(&place) = self.places.get(line) {
            return place;
        }
        self.added += line.len() + 3;
        self.lines.push(line.to_owned());
        self.places.insert(line.to_owned(), self.lines.len() - 1);
        self.lines.len() - 1
    }

    pub(super) fn take_added(&mut self) -> usize {
        std::mem::take(&mut self.added)
    }

    pub(super) fn lines(&self) -> &[String] {
        &self.lines
    }
}
