//! The shapes of what `core` serialises, for the description of the interface only.
use utoipa::ToSchema;

/// Limits of one question; what is not set is not limited.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(crate) struct Budget {
    /// Calls to models. Replies from the cache are not counted.
    calls: Option<u64>,
    /// Prompt and completion tokens together.
    tokens: Option<u64>,
    /// US dollars.
    usd: Option<f64>,
    seconds: Option<f64>,
}

/// An answer with what it rests on. An abstention has an empty `text` and says why in `reason`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(crate) struct Answer {
    text: String,
    /// How the answer follows, or why there is none.
    reason: String,
    citations: Vec<Citation>,
    abstained: bool,
    /// From 0 to 1, where the strategy can tell.
    confidence: Option<f32>,
    /// A budget was spent before the strategy was done.
    partial: bool,
}

/// A passage that an answer rests on; `start` and `end` are characters of the document's text.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(crate) struct Citation {
    node: String,
    /// The document's name.
    document: String,
    title: String,
    section: Option<String>,
    page: Option<u32>,
    start: usize,
    end: usize,
    quote: String,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(crate) struct UsageTotal {
    /// Calls that reached a model.
    llm_calls: u64,
    /// Calls that the cache answered.
    cached_calls: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    /// US dollars.
    usd: f64,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(crate) struct Span {
    start: usize,
    end: usize,
}

/// What one way of searching added to a score.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(crate) struct ScorePart {
    name: String,
    score: f32,
    through: Option<String>,
}

/// A node of the base.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(crate) struct Hit {
    id: String,
    /// `document`, `section`, `chunk`, `table`, `figure`, `row`, `atom`, `summary`, `tag`,
    /// `entity`, `fact` or `community`.
    layer: String,
    parent: Option<String>,
    /// The document's name.
    document: String,
    title: String,
    section: Option<String>,
    page: Option<u32>,
    text: String,
    /// What a list is ordered by; 0 where nothing was searched.
    score: f32,
    cosine: Option<f32>,
    parts: Option<Vec<ScorePart>>,
    /// Characters of the document's text.
    span: Span,
}

/// One thing that happened, told apart by `event`: `span_began`, `asked`, `ask_failed`,
/// `searched`, `looked_up`, `look_up_failed`, `computed`, `reranked`, `tagged`, `noted` or
/// `spent_budget`; each has the fields of its kind (docs/concepts/trace.md).
#[derive(ToSchema)]
#[expect(dead_code, reason = "a description")]
pub(crate) struct Event {
    event: String,
    /// The part of the work it belongs to.
    span: u32,
}
