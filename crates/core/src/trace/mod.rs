//! Everything that happened, in order. Usage, cost, the outline, the UI and the evaluation log
//! are folds over it.
mod decomposition;
mod describe;
mod ideas;
mod recall;
mod series;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::decomposition::{ChosenHop, DecompositionHop, HopCandidate};
pub use self::ideas::{
    IdeaEvidence, IdeaGroup, IdeaPerspective, IdeaReview, IdeaStep, ProposedIdea,
};
pub use self::recall::KeywordRecall;
pub use self::series::{
    MethodError, PredictionInterval, SeriesForecast, SeriesPoint, SeriesPrediction, round,
};

use crate::{Layer, Limit, Mention, Message, Mode, NodeId, Usage};

/// The version of the trace's JSON form.
pub const TRACE_VERSION: u32 = 4;

/// The base among the sources.
const TEXT: &str = "text";

/// One thing that happened. The union is closed: a new kind is a new variant here.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = TraceEvent))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A part of the work began; later events carry its number.
    SpanStarted { span: u32, parent: u32, name: String },
    /// A model was asked and replied.
    ModelCalled {
        span: u32,
        #[cfg_attr(feature = "schema", schema(value_type = String))]
        prompt: Arc<str>,
        /// Hash of the prompt file's text, so that runs with other words cannot be mistaken.
        #[cfg_attr(feature = "schema", schema(value_type = String))]
        hash: Arc<str>,
        role: String,
        model: String,
        /// 1 for the first try; more when an earlier reply did not fit.
        attempt: u32,
        messages: Vec<Message>,
        /// What the model thought before it replied, where it says so.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        thoughts: String,
        reply: String,
        status: ReplyStatus,
        usage: Usage,
        cached: bool,
        /// US dollars paid (0 for a cached reply).
        usd: f64,
        elapsed_ms: f64,
    },
    /// A model was asked and did not reply.
    ModelCallFailed {
        span: u32,
        #[cfg_attr(feature = "schema", schema(value_type = String))]
        prompt: Arc<str>,
        model: String,
        reason: String,
        /// The same call may succeed later: the server was not there, or asked for fewer calls.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        transient: bool,
        elapsed_ms: f64,
    },
    /// The base was searched for one text.
    Searched {
        span: u32,
        layer: Layer,
        mode: Mode,
        query: String,
        hits: Vec<HitLine>,
        elapsed_ms: f64,
    },
    /// A source other than the base replied: the web, the knowledge graph.
    SourceQueried { span: u32, source: String, query: String, hits: Vec<HitLine>, elapsed_ms: f64 },
    /// A source other than the base failed.
    SourceFailed { span: u32, source: String, query: String, reason: String, elapsed_ms: f64 },
    /// A query was run over the base's tables.
    SqlExecuted { span: u32, sql: String, rows: usize, elapsed_ms: f64 },
    /// A series was made of dated rows and continued.
    SeriesForecast { span: u32, series: Box<SeriesForecast> },
    /// Agents took a step on the way to ideas.
    IdeasDeveloped { span: u32, ideas: Box<IdeaStep> },
    /// Hits were put in the order of their relevance to a query.
    Reranked { span: u32, reranker: String, query: String, hits: Vec<HitLine>, elapsed_ms: f64 },
    /// A text was searched for the entities it names.
    Tagged { span: u32, tagger: String, text: String, entities: Vec<Mention>, elapsed_ms: f64 },
    /// A strategy took a turn worth recording: a fall-back, a choice of nothing.
    Note { span: u32, note: String },
    /// A call was not made because a limit was reached.
    BudgetExhausted { span: u32, limit: Limit },
    /// The first word of the answer was there, milliseconds after the question.
    AnswerStarted { span: u32, elapsed_ms: f64 },
    /// A piece of the answer for those who watch; no trace stores it. With `restart` it replaces
    /// the earlier pieces.
    AnswerDelta { text: String, restart: bool },
    /// A model begins to work for a role, for those who watch; no trace stores it. The longest call
    /// of the run so far, in milliseconds, tells how long this one may take.
    ModelAsked { span: u32, role: String, model: String, longest_ms: Option<f64> },
}

/// What became of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReplyStatus {
    Valid,
    /// It did not parse, for this reason; it was asked for again, or given up on.
    Malformed(String),
}

/// A hit as the trace keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct HitLine {
    pub id: NodeId,
    pub title: String,
    pub text: String,
    pub score: f32,
}

/// Usage and cost of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UsageTotal {
    /// Calls that reached a model.
    pub llm_calls: u64,
    /// Calls that the cache answered.
    pub cached_calls: u64,
    /// Tokens of the calls that reached a model.
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// Of the prompt tokens, those that a server had in its cache.
    #[serde(default)]
    pub cached_tokens: u64,
    /// Of the completion tokens, those of thoughts.
    #[serde(default)]
    pub reasoning_tokens: u64,
    pub usd: f64,
}

impl UsageTotal {
    pub fn add(&mut self, other: Self) {
        *self = self.combined(other, u64::saturating_add, self.usd + other.usd);
    }

    /// What was used since an earlier reading of sums that only grow.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        self.combined(before, u64::saturating_sub, (self.usd - before.usd).max(0.0))
    }

    /// The larger of each sum of two readings.
    #[must_use]
    pub fn larger(self, other: Self) -> Self {
        self.combined(other, u64::max, self.usd.max(other.usd))
    }

    fn combined(self, other: Self, of: fn(u64, u64) -> u64, usd: f64) -> Self {
        Self {
            llm_calls: of(self.llm_calls, other.llm_calls),
            cached_calls: of(self.cached_calls, other.cached_calls),
            prompt_tokens: of(self.prompt_tokens, other.prompt_tokens),
            completion_tokens: of(self.completion_tokens, other.completion_tokens),
            cached_tokens: of(self.cached_tokens, other.cached_tokens),
            reasoning_tokens: of(self.reasoning_tokens, other.reasoning_tokens),
            usd,
        }
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Trace(pub Vec<Event>);

impl Trace {
    pub fn usage(&self) -> UsageTotal {
        let mut total = UsageTotal::default();
        for event in &self.0 {
            match event {
                Event::ModelCalled { cached: true, .. } => total.cached_calls += 1,
                Event::ModelCalled { usage, usd, .. } => total.add(UsageTotal {
                    llm_calls: 1,
                    cached_calls: 0,
                    prompt_tokens: usage.prompt_tokens,
                    completion_tokens: usage.completion_tokens,
                    cached_tokens: usage.cached_tokens,
                    reasoning_tokens: usage.reasoning_tokens,
                    usd: *usd,
                }),
                _ => {}
            }
        }
        total
    }

    /// Turns in which knowledge was looked up.
    pub fn hops(&self) -> usize {
        let mut spans: Vec<u32> = self.0.iter().filter_map(searched_span).collect();
        spans.sort_unstable();
        spans.dedup();
        spans.len()
    }

    /// Searches of the base, and how many of them found nothing (nothing near enough, or nothing new).
    pub fn searches(&self) -> (usize, usize) {
        let empty_hits = self.0.iter().filter_map(|event| match event {
            Event::Searched { hits, .. } => Some(usize::from(hits.is_empty())),
            _ => None,
        });
        empty_hits.fold((0, 0), |(all, empty), nothing| (all + 1, empty + nothing))
    }

    /// How many parts of the work asked each source for something (`AtomR`, Figure 4): `text` is
    /// the base. A lookup that failed was asked for too.
    pub fn sources(&self) -> BTreeMap<String, usize> {
        let queried = self.0.iter().filter_map(|event| match event {
            Event::Searched { span, .. } => Some((TEXT, *span)),
            Event::SourceQueried { span, source, .. }
            | Event::SourceFailed { span, source, .. } => Some((source.as_str(), *span)),
            _ => None,
        });
        let mut counted: BTreeMap<String, usize> = BTreeMap::new();
        for (source, _) in queried.collect::<BTreeSet<(&str, u32)>>() {
            *counted.entry(source.to_owned()).or_default() += 1;
        }
        counted
    }

    /// Milliseconds from the question to the first word of the answer.
    pub fn first_word_ms(&self) -> Option<f64> {
        self.0.iter().find_map(|event| match event {
            Event::AnswerStarted { elapsed_ms, .. } => Some(*elapsed_ms),
            _ => None,
        })
    }

    /// Whether a budget ended the run early.
    pub fn spent(&self) -> bool {
        self.0.iter().any(|event| matches!(event, Event::BudgetExhausted { .. }))
    }

    /// Whether any reply could be used.
    pub fn any_valid(&self) -> bool {
        let valid = |e: &Event| matches!(e, Event::ModelCalled { status: ReplyStatus::Valid, .. });
        self.0.iter().any(valid)
    }

    /// Replies that did not fit.
    pub fn malformed(&self) -> usize {
        let malformed =
            |e: &&Event| matches!(e, Event::ModelCalled { status: ReplyStatus::Malformed(_), .. });
        self.0.iter().filter(malformed).count()
    }
}

fn searched_span(event: &Event) -> Option<u32> {
    match event {
        Event::Searched { span, .. } | Event::SourceQueried { span, .. } => Some(*span),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_span_counts_once_for_each_source_that_it_asks() {
        let looked = |span, source: &str| Event::SourceQueried {
            span,
            source: source.into(),
            query: "q".into(),
            hits: vec![],
            elapsed_ms: 1.0,
        };
        let failed = Event::SourceFailed {
            span: 3,
            source: "web".into(),
            query: "q".into(),
            reason: "timed out".into(),
            elapsed_ms: 1.0,
        };
        let searched = Event::Searched {
            span: 1,
            layer: Layer::Chunk,
            mode: Mode::Dense,
            query: "q".into(),
            hits: vec![],
            elapsed_ms: 1.0,
        };
        let events =
            [searched.clone(), looked(1, "kg"), looked(1, "kg"), searched, looked(2, "kg"), failed];
        let sources = Trace(events.into()).sources();
        let sources: Vec<(&str, usize)> =
            sources.iter().map(|(source, count)| (source.as_str(), *count)).collect();
        assert_eq!(sources, [("kg", 2), ("text", 1), ("web", 1)]);
    }
}
