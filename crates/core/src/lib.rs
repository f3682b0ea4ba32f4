//! The words of the trade: what a question, a hit, a prompt, a strategy and a trace are, and the
//! context ([`Cx`]) through which a strategy asks models and searches knowledge.
//!
//! This crate does no input or output and knows no model, file or network (`ARCHITECTURE.md`,
//! invariant 7).
mod budget;
mod cx;
mod error;
mod facts;
mod knowledge;
mod llm;
mod node;
mod outline;
mod prompt;
mod prompt_file;
mod question;
mod reply;
mod reply_loose;
mod reranker;
mod source;
mod strategy;
mod tagger;
pub mod text;
mod text_names;
mod text_values;
mod text_words;
mod trace;

pub use budget::{Budget, Limit, Meter};
pub use cx::{Cx, FactsCx, Scored, Setup, UnlessSpent, Watcher, estimate_tokens};
pub use error::{BoxError, ConfigError, Error, Result};
pub use facts::{Entity, EntityId, Fact, FactValue, Facts, Tail, ValueKind};
pub use knowledge::{
    Catalog, ColumnSchema, Filter, Knowledge, MinScore, Mode, Query, SqlResult, SqlRow, TableSchema,
};
pub use llm::{
    ChatReply, ChatRequest, EmbedRole, Embedder, Llm, LlmError, Message, Models, Price, Role,
    Usage, Vector,
};
pub use node::{Edge, Hit, Layer, NodeId, ScorePart, Span};
pub use prompt::{PROMPTS, Prompt, PromptError, PromptInfo, Prompts, Rendered};
pub use prompt_file::{PromptFile, PromptSet, Shape};
pub use question::{Answer, AnswerKind, Citation, Question};
pub use reply::parse_json;
pub use reranker::Reranker;
pub use source::{Source, SourceInfo};
pub use strategy::{Entry, Need, Outcome, Strategy};
pub use tagger::{Marked, Mention, Tagger, Tagging, mentions};
pub use trace::{Event, HitLine, ReplyStatus, TRACE_VERSION, Trace, UsageTotal};
