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
