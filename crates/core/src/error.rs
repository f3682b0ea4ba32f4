//! What can go wrong in a run, distinguished by what the caller can do about it.
use crate::{Limit, LlmError, PromptError};

pub type Result<T> = std::result::Result<T, Error>;

/// An error of a floor above, kept with its own words.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Close with what there is, or raise the budget.
    #[error("the budget is spent: {0}")]
    Spent(Limit),
    /// The model's reply did not fit after it was asked again; never turned into an empty one.
    #[error("the reply to `{prompt}` does not fit: {reason}")]
    BadReply { prompt: String, reason: String, raw: String },
    #[error("model `{model}`: {source}")]
    Llm { model: String, source: LlmError },
    #[error("knowledge base: {0}")]
    Knowledge(#[source] BoxError),
    /// A source other than the base failed; a strategy may continue without it and notes that.
    #[error("source `{name}`: {source}")]
    Source { name: String, source: BoxError },
    /// Something the run needs is not configured, or does not do what it must.
    #[error("{0}")]
    MissingRequirement(String),
    #[error(transparent)]
    Prompt(#[from] PromptError),
}

impl Error {
    /// The kind in one word, for counting failures.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Spent(_) => "spent",
            Self::BadReply { .. } => "bad_reply",
            Self::Llm { .. } => "llm",
            Self::Knowledge(_) => "knowledge",
            Self::Source { .. } => "source",
            Self::MissingRequirement(_) => "missing_requirement",
            Self::Prompt(_) => "prompt",
        }
    }
}

/// A parser's message on one line, with words in the place of types that only programmers know.
#[must_use]
pub fn plain_message(message: &str) -> String {
    const TYPES: [(&str, &str); 13] = [
        ("invalid type: unit variant, expected string only", "expected a text"),
        ("wanted string or table", "expected a text"),
        ("expected u8", "expected a whole number"),
        ("expected i32", "expected a whole number"),
        ("expected a sequence", "expected a list"),
        ("expected a map", "expected a table"),
        ("expected usize", "expected a whole number"),
        ("expected u16", "expected a whole number"),
        ("expected u32", "expected a whole number"),
        ("expected u64", "expected a whole number"),
        ("expected i64", "expected a whole number"),
        ("expected f32", "expected a number"),
        ("expected f64", "expected a number"),
    ];
    let line = message.trim().replace('\n', " ");
    let line = TYPES.into_iter().fold(line, |line, (name, words)| line.replace(name, words));
    without_type_names(line)
}

/// A message without the names of Rust types, each of which follows the words that end here.
fn without_type_names(line: String) -> String {
    const BEFORE_NAME: [(&str, &str); 3] = [
        ("expected struct ", "expected a table"),
        ("expected enum ", "expected a word"),
        ("data did not match any variant of untagged enum ", "it has none of its possible forms"),
    ];
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    BEFORE_NAME.into_iter().fold(line, |line, (before_name, words)| {
        match line.split_once(before_name) {
            Some((before, after)) => {
                format!("{before}{words}{}", after.trim_start_matches(is_of_name))
            }
            None => line,
        }
    })
}

/// Something in the configuration cannot be used. Printed with its hint; exit code 2.
#[derive(Debug, thiserror::Error)]
pub struct ConfigError {
    /// The file, flag or variable it came from.
    pub file: String,
    /// What it is about; empty where that is the file as a whole.
    pub key: String,
    pub reason: String,
    /// What to do about it.
    pub hint: String,
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, key, reason, .. } = self;
        match key.as_str() {
            "" => write!(f, "{file}: {reason}"),
            key => write!(f, "{file}: `{key}`: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_words_in_the_place_of_types() {
        for (message, expected) in [
            (
                "invalid type: integer `3`, expected struct AskConfig\n",
                "invalid type: integer `3`, expected a table",
            ),
            (
                "invalid type: string \"x\", expected a sequence",
                "invalid type: string \"x\", expected a list",
            ),
            (
                "a.b: data did not match any variant of untagged enum FieldValue at line 1",
                "a.b: it has none of its possible forms at line 1",
            ),
            (
                "invalid value: integer `-1`, expected u8",
                "invalid value: integer `-1`, expected a whole number",
            ),
        ] {
            assert_eq!(plain_message(message), expected);
        }
    }
}
