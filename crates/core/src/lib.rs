//! Core domain types and traits: question, hit, prompt, strategy, trace, and the context ([`Cx`])
//! through which a strategy asks models and searches knowledge.
//!
//! This crate does no input or output and knows no model, file or network.
mod budget;
mod choice;
mod cx;
mod date_bound;
mod error;
mod facts;
mod knowledge;
mod llm;
mod metadata;
mod node;
mod passage_reader;
mod plain_message;
mod prompt;
mod question;
mod reply;
mod reranker;
mod source;
mod strategy;
mod tagger;
mod trace;

pub use halma_text as text;

pub use budget::{Amount, Budget, Limit, Meter, NotALimit, SharedBudget, check_limit};
pub use cx::{Cx, FactsCx, Scored, Setup, UnlessFailed, UnlessSpent, Watcher, estimate_tokens};
pub use date_bound::{DateBound, NotADate};
pub use error::{BoxError, ConfigError, Error, Result};
pub use facts::{
    Entity, EntityId, ExtractedEntity, ExtractedFact, ExtractedGraph, Fact, FactValue, Facts, Tail,
    ValueKind,
};
pub use knowledge::{
    Catalog, ColumnKind, ColumnSchema, Filter, Knowledge, MinScore, Mode, PassageQuery, Passages,
    Query, SqlResult, SqlRow, TableSchema, TagMatch, Which,
};
pub use llm::{
    ChatReply, ChatRequest, EmbedRole, Embedder, LONGEST_REPLY, LONGEST_THOUGHTS, Llm, LlmError,
    Message, Models, Price, ReplyPiece, ReplyStream, Role, Stopped, Usage, Vector,
};
pub use metadata::{FieldValue, Metadata, MetadataError, MetadataFilter, MetadataTest, ValueRange};
pub use node::{Edge, Hit, Layer, NodeId, ScorePart, Span};
pub use passage_reader::{
    KindScores, PassageReader, Reading, ReadingWindow, ScoredSpan, TokenScore,
};
pub use plain_message::plain_message;
pub use prompt::{
    PROMPTS, Prompt, PromptError, PromptFile, PromptInfo, PromptSet, Prompts, Rendered, Shape,
};
pub use question::{
    Answer, AnswerKind, AnswerStep, AnswerStyle, Citation, Claim, FullAnswer, NearestPassage,
    Question, ResultKind,
};
pub use reply::field::FieldReader;
pub use reply::{AnswerText, NextQuestion, parse_json};
pub use reranker::Reranker;
pub use source::{Source, SourceInfo};
pub use strategy::{COMMON_SETTINGS, Entry, Need, Outcome, Strategy};
pub use tagger::{Marked, Mention, Tagger, Tagging, mentions};
pub use trace::{
    ChosenHop, DecompositionHop, Event, HitLine, HopCandidate, IdeaEvidence, IdeaGroup,
    IdeaPerspective, IdeaReview, IdeaStep, KeywordRecall, MethodError, PredictionInterval,
    ProposedIdea, ReplyStatus, SeriesForecast, SeriesPoint, SeriesPrediction, TRACE_VERSION, Trace,
    UsageTotal, round,
};
