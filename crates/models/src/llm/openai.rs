//! The client for OpenAI-compatible chat servers.
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use halma_core::{
    ChatReply, ChatRequest, ConfigError, LONGEST_REPLY, LONGEST_THOUGHTS, Llm, LlmError, Message,
    Price,
};
use reqwest::Url;
use serde_json::Value;

use super::dialect::{Dialect, JsonFormat, Learning};
use super::stream::assemble;
use super::usage::{WireUsage, usage};
use super::wire::{Content, Reply, TokenLogprob, body, pairs};
use halma_net::Endpoint;
use halma_net::address::show;
use halma_net::failure::Failed;
use halma_net::http::{Http, content_type};

/// How many times the tokens a model gets that thought until they were used up.
const MORE_THOUGHT: u32 = 4;

/// Bytes of a reply that comes as a whole: the longest reply and its thoughts, escaped, with the
/// log-probabilities of as many tokens as a model writes.
const LONGEST_BODY: usize = 16 << 20;

/// A chat model behind an OpenAI-compatible API.
///
/// It learns what its server does not understand (JSON schemas, `max_tokens`, a temperature,
/// log-probs) from the refusals and asks accordingly from then on.
pub struct OpenAi {
    endpoint: Endpoint,
    http: Http,
    chat: Url,
    learning: Learning,
}

/// What a server said, whole or put together from a stream.
#[derive(Default)]
pub(crate) struct ServerReply {
    pub(crate) text: String,
    /// What a reasoning model thought, where the server sends it apart.
    pub(crate) thoughts: String,
    pub(crate) refusal: Option<String>,
    pub(crate) finish_reason: Option<String>,
    pub(crate) usage: Option<WireUsage>,
    /// Of each token, empty where none were told.
    pub(crate) logprobs: Vec<TokenLogprob>,
}

impl ServerReply {
    /// Whether there is more of it than is ever read ([`ChatReply::is_too_long`]).
    pub(crate) fn is_too_long(&self) -> bool {
        self.text.len() > LONGEST_REPLY + LONGEST_THOUGHTS || self.thoughts.len() > LONGEST_THOUGHTS
    }

    /// Cuts a reply that is too long to one that is just too long.
    fn cut_if_too_long(&mut self) -> bool {
        let is_too_long = self.is_too_long();
        if is_too_long {
            cut(&mut self.text, LONGEST_REPLY + LONGEST_THOUGHTS);
            cut(&mut self.thoughts, LONGEST_THOUGHTS);
            self.logprobs.clear();
        }
        is_too_long
    }
}

/// Leaves one character beyond a number of bytes.
fn cut(text: &mut String, most: usize) {
    if text.len() > most {
        text.truncate(text.ceil_char_boundary(most + 1));
    }
}

impl OpenAi {
    /// Connects to nothing yet. The error's `file` is left empty for the caller that
    /// read the configuration.
    pub fn new(endpoint: Endpoint) -> Result<Self, ConfigError> {
        let http = Http::new(&endpoint)?.with_longest_body(LONGEST_BODY);
        let chat = http.address("/chat/completions");
        let learning = Learning::new(endpoint.json);
        Ok(Self { endpoint, http, chat, learning })
    }

    /// Asks in the dialect known so far and in others while the server's complaints teach one.
    async fn ask(&self, request: &ChatRequest) -> Result<ServerReply, LlmError> {
        let mut dialect = self.learning.now();
        let stream = self.streams(request);
        let mut first_refusal = None;
        loop {
            let failed = match self.exchange(request, dialect).await {
                Ok(reply) => {
                    self.learning.understood(dialect, request, &self.endpoint.model);
                    return Ok(reply);
                }
                Err(failed) => failed,
            };
            let complaint = failed.complaint.as_ref();
            let next = complaint
                .and_then(|complaint| self.learning.next(dialect, complaint, request, stream));
            let Some(other) = next else {
                // Asked differently it is refused again: the first refusal says what is wrong.
                return Err(match (first_refusal, failed.error) {
                    (Some(first @ LlmError::Refused { .. }), LlmError::Refused { .. }) => first,
                    (_, last) => last,
                });
            };
            first_refusal.get_or_insert(failed.error);
            dialect = other;
        }
    }

    async fn exchange(
        &self,
        request: &ChatRequest,
        dialect: Dialect,
    ) -> Result<ServerReply, Failed> {
        let stream = self.streams(request);
        let body = body(&self.endpoint, request, dialect, stream)
            .map_err(|e| LlmError::refused(format!("the request cannot be written: {e}")))?;
        let whole = if stream {
            let response = self.http.open(&self.chat, &request.prompt, body).await?;
            if content_type(&response).starts_with("text/event-stream") {
                return assemble(&self.http, response, &self.chat, request).await;
            }
            // A server that does not stream replies in one piece.
            let whole = self.http.whole(response, &self.chat);
            let read = tokio::time::timeout(self.http.timeout(), whole).await;
            read.map_err(|_| self.http.late(&self.chat))??
        } else {
            self.http.post(&self.chat, &request.prompt, body).await?
        };
        let reply: Reply = serde_json::from_slice(&whole.bytes)
            .map_err(|e| self.http.unreadable(&whole, &self.chat, &e))?;
        if let Some(error) = reply.error.filter(|error| !error.is_null()) {
            return Err(self.http.reported(&self.chat, &error));
        }
        let choice = reply.choices.and_then(|choices| choices.into_iter().next());
        let choice = choice.ok_or_else(|| {
            let url = show(&self.chat);
            LlmError::refused(format!(
                "`{url}` sent JSON without `choices`; is `url` the API base (…/v1)?"
            ))
        })?;
        Ok(ServerReply {
            thoughts: choice.message.thoughts().to_owned(),
            text: choice.message.content.map(Content::into_text).unwrap_or_default(),
            refusal: choice.message.refusal,
            finish_reason: choice.finish_reason,
            usage: reply.usage,
            logprobs: choice.logprobs.and_then(|told| told.content).unwrap_or_default(),
        })
    }

    /// Whether the reply is read while it is generated.
    fn streams(&self, request: &ChatRequest) -> bool {
        self.endpoint.stream || request.stream.is_some()
    }

    /// Why a reply has no text.
    fn nothing(&self, reply: &ServerReply, request: &ChatRequest) -> LlmError {
        let model = &self.endpoint.model;
        let why = match (&reply.refusal, reply.finish_reason.as_deref()) {
            (Some(refusal), _) => format!("refuses: {}", halma_net::failure::clip(refusal)),
            (None, Some("content_filter")) => "was stopped by the server's content filter".into(),
            (None, Some("length")) => format!(
                "used all {} tokens before the first word; raise the model's `thinking_tokens` or the \
                 prompt's `max_tokens`",
                request.max_tokens
            ),
            (None, reason) => {
                format!("sent an empty reply (finish reason {})", reason.unwrap_or("missing"))
            }
        };
        LlmError::refused(format!("`{model}` at `{}` {why}", show(&self.chat)))
    }

    /// What the model replies to the smallest question, and to one for JSON. Servers list their
    /// models also while every call fails, so these are calls.
    async fn ping(&self) -> Result<Ping, LlmError> {
        let began = Instant::now();
        self.ask(&small_request(".", PING_TOKENS, None)).await?;
        let took = began.elapsed();
        let schema = Arc::new(serde_json::json!({
            "type": "object",
            "properties": {"ok": {"type": "boolean"}},
            "required": ["ok"],
            "additionalProperties": false,
        }));
        let most = PING_JSON_TOKENS + self.endpoint.thinking_tokens;
        let request = small_request("Reply with this JSON: {\"ok\": true}", most, Some(schema));
        self.ask(&request).await?;
        Ok(Ping { took, json: self.learning.now().json_format() })
    }
}

/// How a model replied to small requests.
#[derive(Debug, Clone, Copy)]
pub struct Ping {
    /// Until the reply to the smallest question was there.
    pub took: Duration,
    /// In which form its server takes requests for JSON.
    pub json: JsonFormat,
}

/// Tokens of the reply to the smallest question: some servers refuse to give fewer.
const PING_TOKENS: u32 = 16;
/// Tokens of the reply in JSON: some servers refuse to give one that is cut off.
const PING_JSON_TOKENS: u32 = 256;

fn small_request(text: &str, max_tokens: u32, schema: Option<Arc<Value>>) -> ChatRequest {
    ChatRequest {
        prompt: String::new(),
        task: String::new(),
        variables: minijinja::Value::UNDEFINED,
        messages: vec![Message { role: "user".into(), text: text.into() }],
        schema,
        stop: vec![],
        max_tokens,
        temperature: 0.0,
        logprobs: false,
        about: vec![],
        images: vec![],
        stream: None,
    }
}

/// Asks a model for the smallest replies.
pub async fn ping(endpoint: Endpoint) -> Result<Ping, LlmError> {
    let model = OpenAi::new(endpoint)
        .map_err(|e| LlmError::refused(format!("`{}`: {}; {}", e.key, e.reason, e.hint)))?;
    model.ping().await
}

#[async_trait]
impl Llm for OpenAi {
    fn model(&self) -> &str {
        &self.endpoint.model
    }

    fn price(&self) -> Price {
        self.endpoint.price
    }

    fn logprobs(&self) -> bool {
        self.endpoint.logprobs
    }

    fn thinking_tokens(&self) -> u32 {
        self.endpoint.thinking_tokens
    }

    /// An empty reply is asked for once more at once, since samplers do stumble, with four times
    /// the tokens if the model thought until they were used up. A second one is refused where the
    /// server gives a reason; otherwise it is the model's reply, which its caller complains about.
    /// Both are paid for and counted.
    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let mut paid = halma_core::Usage::default();
        let mut request = Cow::Borrowed(request);
        for attempt in 1.. {
            let mut reply = self.ask(&request).await?;
            let is_too_long = reply.cut_if_too_long();
            let used = usage(reply.usage, &request, &reply.text);
            paid.prompt_tokens += used.prompt_tokens;
            paid.completion_tokens += used.completion_tokens;
            let reasoned = reply.refusal.is_some()
                || matches!(reply.finish_reason.as_deref(), Some("content_filter" | "length"));
            if is_too_long || !reply.text.trim().is_empty() || (attempt == 2 && !reasoned) {
                let logprobs = Some(pairs(reply.logprobs)).filter(|pairs| !pairs.is_empty());
                let text = reply.text;
                let thoughts = reply.thoughts;
                return Ok(ChatReply { text, thoughts, usage: paid, cached: false, logprobs });
            }
            let filtered = reply.finish_reason.as_deref() == Some("content_filter");
            if reply.refusal.is_some() || filtered || attempt == 2 {
                return Err(self.nothing(&reply, &request));
            }
            if reply.finish_reason.as_deref() == Some("length") {
                request.to_mut().max_tokens = request.max_tokens.saturating_mul(MORE_THOUGHT);
            }
        }
        unreachable!("the loop ends at its second turn")
    }
}
