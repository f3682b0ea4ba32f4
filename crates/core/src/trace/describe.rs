//! A step of a trace in words.
use halma_text::thousands;

use crate::{Event, ReplyStatus};

impl Event {
    /// What this event did, in one line for a person who follows a run; `None` for an event that is
    /// not a step of its own (a model call that went well, a tagged text).
    pub fn describe(&self) -> Option<String> {
        let line = match self {
            Self::SpanStarted { name, .. } => name.clone(),
            Self::Searched { query, hits, .. } => {
                let best = hits.first().map_or("no result", |hit| hit.title.as_str());
                format!("searched “{query}” → {best}")
            }
            Self::SourceQueried { source, query, hits, .. } => {
                let best = hits.first().map_or("no result", |hit| hit.title.as_str());
                format!("queried {source} for “{query}” → {best}")
            }
            Self::SourceFailed { source, query, reason, .. } => {
                format!("{source} failed for “{query}”: {reason}")
            }
            Self::SqlExecuted { sql, rows, .. } => {
                format!("ran SQL “{sql}” → {} rows", thousands(*rows as u64))
            }
            Self::SeriesForecast { series, .. } => format!("forecast {}", series.describe()),
            Self::IdeasDeveloped { ideas, .. } => ideas.describe(),
            Self::Reranked { query, hits, .. } => {
                format!("reranked {} passages for “{query}”", hits.len())
            }
            Self::Note { note, .. } => note.clone(),
            Self::ModelCallFailed { prompt, reason, .. } => {
                format!("the model did not reply to `{prompt}`: {reason}")
            }
            Self::ModelCalled { prompt, status: ReplyStatus::Malformed(reason), .. } => {
                format!("the reply to `{prompt}` was malformed: {reason}")
            }
            Self::BudgetExhausted { limit, .. } => format!("budget exhausted: {limit}"),
            Self::ModelCalled { .. }
            | Self::Tagged { .. }
            | Self::AnswerStarted { .. }
            | Self::AnswerDelta { .. }
            | Self::ModelAsked { .. } => return None,
        };
        Some(line)
    }
}
