//! What a server turned out not to understand, learnt from its complaints and remembered, so that
//! only the first call pays for it.
use std::sync::atomic::{AtomicU8, Ordering};

use halma_core::ChatRequest;

use halma_net::JsonMode;
use halma_net::failure::Complaint;

const NO_SCHEMA: u8 = 1;
const COMPLETION_TOKENS: u8 = 2;
const NO_TEMPERATURE: u8 = 4;
const NO_LOGPROBS: u8 = 8;
const NO_STREAM_USAGE: u8 = 16;
const NO_SYSTEM: u8 = 32;

/// How a request is put to one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    json: JsonMode,
    learnt: u8,
}

impl Dialect {
    pub(crate) fn json_mode(self) -> JsonMode {
        if self.has(NO_SCHEMA) { JsonMode::Off } else { self.json }
    }

    pub(crate) fn max_completion_tokens(self) -> bool {
        self.has(COMPLETION_TOKENS)
    }

    pub(crate) fn temperature(self) -> bool {
        !self.has(NO_TEMPERATURE)
    }

    pub(crate) fn logprobs(self) -> bool {
        !self.has(NO_LOGPROBS)
    }

    pub(crate) fn stream_usage(self) -> bool {
        !self.has(NO_STREAM_USAGE)
    }

    pub(crate) fn system(self) -> bool {
        !self.has(NO_SYSTEM)
    }

    fn has(self, bit: u8) -> bool {
        self.learnt & bit != 0
    }

    /// How to put the request after this complaint; `None` when nothing in it can be put
    /// differently.
    fn after(self, complaint: &Complaint, request: &ChatRequest, stream: bool) -> Option<Self> {
        let Complaint { status, text } = complaint;
        if !matches!(status, 400 | 404 | 422 | 501) {
            return None;
        }
        let names = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let schema = ["response_format", "json_schema", "json schema", "grammar", "guided"];
        let sends_schema = request.schema.is_some() && self.json_mode() != JsonMode::Off;
        let learnt = [
            (sends_schema && self.json == JsonMode::Auto && names(&schema), NO_SCHEMA),
            (stream && names(&["stream_options", "include_usage"]), NO_STREAM_USAGE),
            (names(&["max_tokens", "max_completion_tokens"]), COMPLETION_TOKENS),
            (names(&["temperature"]), NO_TEMPERATURE),
            (request.logprobs && names(&["logprobs"]), NO_LOGPROBS),
            (names(&["system"]) && names(&["role", "message"]), NO_SYSTEM),
        ];
        let fresh = learnt.iter().find(|(fits, bit)| *fits && !self.has(*bit));
        fresh.map(|(_, bit)| Self { learnt: self.learnt | bit, ..self })
    }
}

/// The dialect of one endpoint, as far as it is known.
#[derive(Debug)]
pub(crate) struct Learning {
    json: JsonMode,
    learnt: AtomicU8,
    /// The server has taken a schema before: a refusal is about something else.
    takes_schemas: AtomicU8,
}

impl Learning {
    pub(crate) fn new(json: JsonMode) -> Self {
        Self { json, learnt: AtomicU8::new(0), takes_schemas: AtomicU8::new(0) }
    }

    pub(crate) fn now(&self) -> Dialect {
        Dialect { json: self.json, learnt: self.learnt.load(Ordering::Relaxed) }
    }

    /// What to try after this complaint. A refusal that names nothing, of the first request with
    /// a schema, is tried without: many servers refuse what they do not know without saying so.
    pub(crate) fn next(
        &self,
        dialect: Dialect,
        complaint: &Complaint,
        request: &ChatRequest,
        stream: bool,
    ) -> Option<Dialect> {
        let named = dialect.after(complaint, request, stream);
        let unproven = complaint.status == 400
            && request.schema.is_some()
            && dialect.json == JsonMode::Auto
            && !dialect.has(NO_SCHEMA)
            && self.takes_schemas.load(Ordering::Relaxed) == 0;
        named.or_else(|| {
            unproven.then_some(Dialect { learnt: dialect.learnt | NO_SCHEMA, ..dialect })
        })
    }

    /// Remembers what the server has just understood.
    pub(crate) fn understood(&self, dialect: Dialect, request: &ChatRequest, model: &str) {
        if request.schema.is_some() && dialect.json_mode() != JsonMode::Off {
            self.takes_schemas.store(1, Ordering::Relaxed);
        }
        let before = self.learnt.fetch_or(dialect.learnt, Ordering::Relaxed);
        if dialect.learnt & !before & NO_SCHEMA != 0 {
            tracing::info!(model, "the server takes no JSON schema; replies are read as they come");
        }
    }
}
