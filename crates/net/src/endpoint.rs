//! What is known of a model server: where it is, what it serves, how it wants to be asked.
use std::fmt;
use std::time::Duration;

use halma_core::Price;
use serde::{Deserialize, Serialize};

/// An OpenAI-compatible server and one of its models.
#[derive(Clone)]
pub struct Endpoint {
    /// The base of the API, `https://host/v1` for instance.
    pub url: String,
    pub model: String,
    /// Sent as a bearer token; never shown, logged or put into an error.
    pub key: Option<String>,
    pub price: Price,
    /// Longest wait for a whole reply; of a streamed one, for its next piece.
    pub timeout: Duration,
    pub json: JsonMode,
    /// Whether chat replies are streamed, which keeps proxies from cutting long ones.
    pub stream: bool,
    /// Whether the server gives the log-probabilities of a reply's tokens.
    pub logprobs: bool,
    /// Tokens that a reasoning model may think, in addition to those of its reply.
    pub thinking_tokens: u32,
    /// Fields of the server's own for every chat request; they replace those of the same name.
    pub extra: serde_json::Map<String, serde_json::Value>,
    /// Starts the server on this machine when it is needed.
    pub command: Option<ServerCommand>,
}

/// The program of a server and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerCommand {
    pub program: String,
    pub arguments: Vec<String>,
}

impl Endpoint {
    /// A model at a base URL, the rest as in [`Endpoint::default`].
    pub fn new(url: impl Into<String>, model: impl Into<String>) -> Self {
        Self { url: url.into(), model: model.into(), ..Self::default() }
    }
}

impl Default for Endpoint {
    /// A timeout of 120 s, no key, no price, replies whole; the URL is still to be given.
    fn default() -> Self {
        Self {
            url: String::new(),
            model: String::new(),
            key: None,
            price: Price::default(),
            timeout: Duration::from_mins(2),
            json: JsonMode::Auto,
            stream: false,
            logprobs: false,
            thinking_tokens: 0,
            extra: serde_json::Map::new(),
            command: None,
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("url", &self.url)
            .field("model", &self.model)
            .field("key", &self.key.as_ref().map(|_| "(hidden)"))
            .field("price", &self.price)
            .field("timeout", &self.timeout)
            .field("json", &self.json)
            .field("stream", &self.stream)
            .field("logprobs", &self.logprobs)
            .field("thinking_tokens", &self.thinking_tokens)
            .field("extra", &self.extra)
            .field("command", &self.command)
            .finish()
    }
}

/// How a server is asked for JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JsonMode {
    /// By schema, until the server refuses that; then as an object of this schema, as any object, or
    /// by the prompt's words alone, whatever it takes.
    #[default]
    Auto,
    /// By schema, always.
    Schema,
    /// As any JSON object (`json_object`), always.
    Object,
    /// By the prompt's words alone.
    Off,
}
