//! The client for OpenAI-compatible chat servers.
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use halma_core::{
    ChatReply, ChatRequest, ConfigError, LONGEST_REPLY, LONGEST_THOUGHTS, Llm, LlmError, Message,
    Price, Stopped,
};
use reqwest::Url;
use serde_json::Value;

use super::dialect::{Dialect, JsonFormat, Learning};
use super::reply::{Choice, ReplyMessage, TokenLogprob, pairs, read_reply};
use super::request::body;
use super::stream::assemble;
use super::usage::{WireUsage, usage};
use halma_net::address::show;
use halma_net::failure::{Failed, clip};
use halma_net::http::{Http, content_type};
use halma_net::{ChildServer, Endpoint};

/// Bytes of a reply that comes as a whole: the longest reply and its thoughts, escaped, with the
/// log-probabilities of as many tokens as a model writes.
const LONGEST_BODY: usize = 16 << 20;

/// A chat model behind an OpenAI-compatible API.
///
/// It learns what its server does not understand (JSON schemas, `max_tokens`, a temperature,
/// log-probs, streams) from the refusals and asks accordingly from then on.
pub struct OpenAi {
    endpoint: Endpoint,
    http: Http,
    chat: Url,
    learning: Learning,
    /// Of a server that this process starts.
    server: Option<ChildServer>,
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
    fn cut_if_too_long(&mut self) {
        if self.is_too_long() {
            cut(&mut self.text, LONGEST_REPLY + LONGEST_THOUGHTS);
            cut(&mut self.thoughts, LONGEST_THOUGHTS);
            self.logprobs.clear();
        }
    }

    fn stopped(&self) -> Option<Stopped> {
        if let Some(words) = &self.refusal {
            return Some(Stopped::Refusal(clip(words)));
        }
        match self.finish_reason.as_deref() {
            Some("content_filter") => Some(Stopped::Filter),
            Some("length") => Some(Stopped::Length),
            _ => None,
        }
    }
}

/// Leaves one character beyond a number of bytes.
fn cut(text: &mut String, limit: usize) {
    if text.len() > limit {
        text.truncate(text.ceil_char_boundary(limit + 1));
    }
}

impl OpenAi {
    /// Connects to nothing yet. The error's `file` is left empty for the caller that
    /// read the configuration.
    pub fn new(endpoint: Endpoint) -> Result<Self, ConfigError> {
        let http = Http::new(&endpoint)?.with_longest_body(LONGEST_BODY);
        let chat = http.address("/chat/completions");
        let learning = Learning::new(endpoint.json);
        let command = endpoint.command.clone();
        let child = |command| ChildServer::new(command, &endpoint.url, &endpoint.model);
        let server = command.map(child).transpose()?;
        Ok(Self { endpoint, http, chat, learning, server })
    }

    /// Asks in the dialect known so far and in others while the server's complaints teach one.
    async fn ask(&self, request: &ChatRequest) -> Result<ServerReply, LlmError> {
        if let Some(server) = &self.server {
            server.ready().await?;
        }
        let mut dialect = self.learning.now();
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
            let next = complaint.and_then(|complaint| {
                self.learning.next(dialect, complaint, request, self.streams(request, dialect))
            });
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
        let stream = self.streams(request, dialect);
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
        let reply =
            read_reply(&whole.bytes).map_err(|e| self.http.unreadable(&whole, &self.chat, &e))?;
        if let Some(error) = &reply.error {
            return Err(self.http.reported(&self.chat, error));
        }
        let usage = reply.usage;
        let url = show(&self.chat);
        if !reply.has_choices {
            return Err(LlmError::refused(format!(
                "`{url}` sent JSON without `choices`; is `url` the API base (…/v1)?"
            ))
            .into());
        }
        let Some(choice) = reply.first_choice() else {
            let reason = format!("`{url}` sent an empty list of `choices`");
            return Err(LlmError::transient(reason).into());
        };
        let Choice { message, finish_reason, logprobs, .. } = choice;
        let ReplyMessage { text, thoughts, refusal } = message;
        Ok(ServerReply { text, thoughts, refusal, finish_reason, usage, logprobs })
    }

    /// Whether the reply is read while it is generated.
    fn streams(&self, request: &ChatRequest, dialect: Dialect) -> bool {
        (self.endpoint.stream || request.stream.is_some()) && dialect.stream()
    }

    /// What the model replies to the smallest question, and to one for JSON. Servers list their
    /// models also while every call fails, so these are calls.
    /// Sends two small requests, one of them for JSON.
    pub async fn ping(&self) -> Result<Ping, LlmError> {
        let began = Instant::now();
        self.ask(&small_request(".", PING_TOKENS, None)).await?;
        let took = began.elapsed();
        let schema = Arc::new(serde_json::json!({
            "type": "object",
            "properties": {"ok": {"type": "boolean"}},
            "required": ["ok"],
            "additionalProperties": false,
        }));
        let max_tokens = PING_JSON_TOKENS + self.endpoint.thinking_tokens;
        let request =
            small_request("Reply with this JSON: {\"ok\": true}", max_tokens, Some(schema));
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

pub(super) fn small_request(
    text: &str,
    max_tokens: u32,
    schema: Option<Arc<Value>>,
) -> ChatRequest {
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

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let mut reply = self.ask(request).await?;
        reply.cut_if_too_long();
        let usage = usage(&reply, request);
        let stopped = reply.stopped();
        let logprobs = Some(pairs(reply.logprobs)).filter(|pairs| !pairs.is_empty());
        let ServerReply { text, thoughts, .. } = reply;
        Ok(ChatReply { text, thoughts, usage, cached: false, logprobs, stopped })
    }
}
