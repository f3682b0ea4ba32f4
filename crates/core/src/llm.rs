//! Language models and embedders, as traits.
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

/// The part that a model plays, such as `reader`; the configuration maps each role to a model.
pub type Role = String;

/// A vector of unit length.
pub type Vector = Vec<f32>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Message {
    /// `system`, `user` or `assistant`.
    pub role: String,
    pub text: String,
}

/// A call to a chat model. It carries what the messages were rendered from, so that a model that
/// answers without reading prose (the offline one) is a provider like any other.
#[derive(Debug, Clone)]
pub struct ChatRequest {
    /// Name of the prompt file, for the trace, the cache, the `x-halma-prompt` header.
    pub prompt: String,
    /// What is asked for: `propose`, `select`, `read`, `questions`, …
    pub task: String,
    /// The structured variables the messages were rendered from.
    pub variables: minijinja::Value,
    pub messages: Vec<Message>,
    /// JSON schema of the reply, for prompts that ask for JSON.
    pub schema: Option<Arc<serde_json::Value>>,
    pub stop: Vec<String>,
    /// In tokens.
    pub max_tokens: u32,
    pub temperature: f32,
    /// Whether the log-probability of every reply token is wanted.
    pub logprobs: bool,
    /// Names of the documents that the messages may quote, so that a kept reply can be forgotten
    /// with them.
    pub about: Vec<String>,
    /// Images that belong to the last message, as data URLs.
    pub images: Vec<String>,
    /// Receives the reply while it is generated, where the model can do that. The reply is returned
    /// whole in any case.
    pub stream: Option<ReplyStream>,
}

/// A piece of a reply that is being generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyPiece<'a> {
    /// A reply begins; pieces of an earlier attempt at the same call are void.
    Start,
    Text(&'a str),
}

/// Receives the pieces of a reply.
#[derive(Clone)]
pub struct ReplyStream(Arc<dyn Fn(ReplyPiece<'_>) + Send + Sync>);

impl ReplyStream {
    pub fn new(receive: impl Fn(ReplyPiece<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(receive))
    }

    pub fn send(&self, piece: ReplyPiece<'_>) {
        (self.0)(piece);
    }
}

impl std::fmt::Debug for ReplyStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReplyStream")
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    pub text: String,
    pub usage: Usage,
    /// The reply came from the cache; nothing was paid for it.
    pub cached: bool,
    /// Each reply token with its log-probability, when asked for and offered.
    pub logprobs: Option<Vec<(String, f32)>>,
    /// What a reasoning model thought, where the server sends it apart from the text. The last
    /// field, so that replies that were cached before there was one can be read.
    #[serde(default)]
    pub thoughts: String,
    /// Why it ended early; such a reply is not cached.
    #[serde(skip)]
    pub stopped: Option<Stopped>,
}

/// Why a reply ended before the model was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// All its tokens were used.
    Length,
    /// By a content filter of the server.
    Filter,
    /// The model refuses, in these words.
    Refusal(String),
}

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Length => f.write_str(
                "used all its tokens before the first word; raise the model's `thinking_tokens` or \
                 the prompt's `max_tokens`",
            ),
            Self::Filter => f.write_str("was stopped by the server's content filter"),
            Self::Refusal(words) => write!(f, "refuses: {words}"),
        }
    }
}

/// Bytes of a reply at most, without its thoughts. One that is longer is malformed, and asked for
/// again like any other: no prompt asks for as much.
pub const LONGEST_REPLY: usize = 256 << 10;

/// Bytes of the thoughts of a reply at most, wherever the server puts them.
pub const LONGEST_THOUGHTS: usize = 1 << 20;

impl ChatReply {
    /// Whether there is more of it than is ever read. What a model sent beyond may be missing.
    pub fn is_too_long(&self) -> bool {
        self.text.len() > LONGEST_REPLY + LONGEST_THOUGHTS || self.thoughts.len() > LONGEST_THOUGHTS
    }
}

/// Tokens of one call, as the server counts them (estimated at four characters a token when it
/// does not).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Usage {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// Of the prompt tokens, those that the server had read for an earlier request.
    #[serde(default)]
    pub cached_tokens: u64,
    /// Of the completion tokens, those of thoughts, which are not shown.
    #[serde(default)]
    pub reasoning_tokens: u64,
}

impl Usage {
    /// All tokens. What a server counts is not checked, so that a sum may not overflow.
    pub(crate) fn total(self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }
}

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Price {
    #[serde(alias = "input")]
    pub prompt: f64,
    #[serde(alias = "output")]
    pub completion: f64,
    /// Of prompt tokens that the server has in its cache; `prompt` where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
}

impl Price {
    /// US dollars for this usage.
    #[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^52")]
    pub fn cost(&self, usage: Usage) -> f64 {
        let cached = usage.cached_tokens.min(usage.prompt_tokens);
        (self.prompt * (usage.prompt_tokens - cached) as f64
            + self.cached.unwrap_or(self.prompt) * cached as f64
            + self.completion * usage.completion_tokens as f64)
            / 1e6
    }
}

/// Why a model did not answer, distinguished by what to do next.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LlmError {
    /// Try again, not before `retry_after`. `throttled` means that the server asks for fewer calls.
    #[error("{reason}")]
    Transient { reason: String, retry_after: Option<Duration>, throttled: bool },
    /// Shorten the request.
    #[error("the request is too long: {reason}")]
    TooLong { reason: String },
    /// Give up: the same call will fail again.
    #[error("{reason}")]
    Refused { reason: String },
}

impl LlmError {
    /// A passing failure other than throttling.
    pub fn transient(reason: impl Into<String>) -> Self {
        Self::Transient { reason: reason.into(), retry_after: None, throttled: false }
    }

    pub fn refused(reason: impl Into<String>) -> Self {
        Self::Refused { reason: reason.into() }
    }
}

#[async_trait]
pub trait Llm: Send + Sync {
    /// The model's name, for the trace, the cache and the price.
    fn model(&self) -> &str;

    /// What its tokens cost; nothing for local models.
    fn price(&self) -> Price {
        Price::default()
    }

    /// Whether it gives the log-probabilities of a reply's tokens.
    fn logprobs(&self) -> bool {
        false
    }

    /// Tokens that it may think before it replies, in addition to those of the reply.
    fn thinking_tokens(&self) -> u32 {
        0
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError>;

    /// The reply to this request could not be used: where it is cached, the next request is sent to
    /// the model again.
    fn discard(&self, _request: &ChatRequest) {}
}

/// What the text to embed is; some embedders treat queries and passages differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedRole {
    Query,
    Passage,
}

#[async_trait]
pub trait Embedder: Send + Sync {
    /// Names the vector space: bases keep vectors of different names apart.
    fn model(&self) -> &str;

    /// One unit vector for each text, in order, all of the same length.
    async fn embed(&self, texts: &[&str], role: EmbedRole) -> Result<Vec<Vector>, LlmError>;

    /// [`Embedder::embed`] of texts of these documents, for an embedder that keeps something of a call,
    /// so that it can be forgotten with them. Where there are none it is not known whose texts they are.
    async fn embed_about(
        &self,
        texts: &[&str],
        role: EmbedRole,
        _about: &[String],
    ) -> Result<Vec<Vector>, LlmError> {
        self.embed(texts, role).await
    }
}

/// Which model plays which role.
#[derive(Clone)]
pub struct Models {
    default: Arc<dyn Llm>,
    by_role: BTreeMap<Role, Arc<dyn Llm>>,
}

impl Models {
    pub fn new(default: Arc<dyn Llm>) -> Self {
        Self { default, by_role: BTreeMap::new() }
    }

    #[must_use]
    pub fn with(mut self, role: impl Into<Role>, model: Arc<dyn Llm>) -> Self {
        self.by_role.insert(role.into(), model);
        self
    }

    /// The model of a role, or the default one.
    pub fn for_role(&self, role: &str) -> &Arc<dyn Llm> {
        self.by_role.get(role).unwrap_or(&self.default)
    }
}
