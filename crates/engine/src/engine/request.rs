//! A question and a search with their settings, as every interface reads them: HTTP and MCP from
//! JSON, the command line from its flags.
use std::collections::BTreeMap;
use std::sync::Arc;

use halma_core::{AnswerKind, AnswerStyle, Budget, Filter, Layer, Meter, Mode, Watcher};
use serde::Deserialize;

use super::Effort;
use crate::storage::traces::TraceHead;

/// A question and how to answer it.
#[derive(Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AskRequest {
    pub question: String,
    /// The strategy; the configured one by default.
    pub strategy: Option<String>,
    /// Chooses the strategy where none is named, by what it costs.
    pub effort: Option<Effort>,
    /// Settings of the strategy for this question.
    #[serde(default)]
    pub settings: BTreeMap<String, serde_json::Value>,
    /// The conversation so far, oldest turn first; the question may refer to it.
    #[serde(default)]
    pub history: Vec<Turn>,
    /// The conversation that the question belongs to: an id of the client's choice, 8 to 64 letters,
    /// digits, `-` and `_`. Its questions are listed together.
    pub conversation: Option<String>,
    /// The choices of a multiple-choice question.
    #[serde(default)]
    pub options: Vec<String>,
    /// `short` by default.
    pub answer_kind: Option<AnswerKind>,
    /// The documents that the answer may come from: by name, format, date or metadata.
    pub filter: Option<Filter>,
    /// The date of the question, such as `2024-02-28`: what changes with time is answered for it.
    pub asked_at: Option<String>,
    /// `full` adds sentences with numbered sources to the answer; `ask.answer_style` by default.
    pub answer_style: Option<AnswerStyle>,
    /// Stream events; so does the header `accept: text/event-stream`.
    #[serde(default)]
    pub stream: bool,
    /// Limits, within those of the server.
    pub budget: Option<Budget>,
    /// A budget shared with other questions, such as the daily budget of an API key.
    #[serde(skip)]
    pub parent: Option<Arc<Meter>>,
    /// Receives every event as it happens.
    #[serde(skip)]
    pub watcher: Option<Watcher>,
    /// The id of the API key that asks.
    #[serde(skip)]
    pub key: Option<String>,
    /// The caller's span, in the form of the header `traceparent` (W3C Trace Context).
    #[serde(skip)]
    pub trace_parent: Option<String>,
    /// Called once with the head of the trace, also when the question is cancelled.
    #[serde(skip)]
    pub on_finish: Option<OnFinish>,
}

/// Receives the head of the trace and, of a question without an answer, the kind of error:
/// `cancelled`, or that of [`halma_core::Error::kind`].
pub type OnFinish = Box<dyn FnOnce(&TraceHead, Option<&'static str>) + Send + Sync>;

impl AskRequest {
    /// A question for the configured strategy.
    pub fn new(question: impl Into<String>) -> Self {
        Self { question: question.into(), ..Self::default() }
    }
}

/// A message of a conversation.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// `user` or `assistant`.
    pub role: String,
    pub text: String,
}

/// Hits of a search, and items of a page of a list, where a request names no limit.
pub const DEFAULT_LIMIT: usize = 50;

/// A search of one layer.
#[derive(Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SearchRequest {
    /// `query` is the same.
    #[serde(alias = "query")]
    pub text: String,
    /// `chunk` by default.
    pub layer: Option<Layer>,
    /// The default is `graph`.
    pub mode: Option<Mode>,
    /// Maximum number of hits: 50 by default, at most 500.
    pub limit: Option<usize>,
    pub filter: Option<Filter>,
}
