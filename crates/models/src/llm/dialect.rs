//! What a server turned out not to understand, learnt from its complaints and remembered, so that
//! only the first call pays for it.
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};

use halma_core::ChatRequest;

use halma_net::JsonMode;
use halma_net::failure::Complaint;

const NO_SCHEMA: u16 = 1;
const COMPLETION_TOKENS: u16 = 2;
const NO_TEMPERATURE: u16 = 4;
const NO_LOGPROBS: u16 = 8;
const NO_STREAM_USAGE: u16 = 16;
const NO_SYSTEM: u16 = 32;
const NO_OBJECT_SCHEMA: u16 = 64;
const NO_OBJECT: u16 = 128;
const NO_STREAM: u16 = 256;
const NO_BOUNDS: u16 = 512;

/// The keywords of a JSON schema that bound a reply, which some servers refuse.
pub(crate) const BOUNDS: [&str; 2] = ["maxLength", "maxItems"];

/// In which form a reply in JSON is requested, in the field `response_format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonFormat {
    /// `json_schema`.
    Schema,
    /// `json_object` with the schema in the field `schema`, as llama.cpp and servers built on it
    /// take it.
    ObjectWithSchema,
    /// `json_object`, any object.
    Object,
    /// Not at all: by the prompt's words alone.
    Words,
}

impl fmt::Display for JsonFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Schema => "JSON is requested by schema (`json_schema`)",
            Self::ObjectWithSchema => "JSON is requested as `json_object` with a schema",
            Self::Object => "JSON is requested as `json_object`, without a schema",
            Self::Words => "JSON is requested by the prompt's words alone",
        })
    }
}

/// What is tried one after the other with [`JsonMode::Auto`], and what is learnt where a server
/// refuses it.
const FORMATS: [(JsonFormat, u16); 3] = [
    (JsonFormat::Schema, NO_SCHEMA),
    (JsonFormat::ObjectWithSchema, NO_OBJECT_SCHEMA),
    (JsonFormat::Object, NO_OBJECT),
];

/// The bits of all [`FORMATS`].
const NO_FORMAT: u16 = NO_SCHEMA | NO_OBJECT_SCHEMA | NO_OBJECT;

/// Words of a server that refuses a form of JSON.
const ABOUT_FORMATS: [&str; 7] = [
    "response_format",
    "json_schema",
    "json schema",
    "json_object",
    "json object",
    "grammar",
    "guided",
];

/// How a request is put to one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    json: JsonMode,
    learnt: u16,
}

impl Dialect {
    pub(crate) fn json_format(self) -> JsonFormat {
        match self.json {
            JsonMode::Auto => {
                let left = FORMATS.iter().find(|(_, refused)| !self.has(*refused));
                left.map_or(JsonFormat::Words, |(format, _)| *format)
            }
            JsonMode::Schema => JsonFormat::Schema,
            JsonMode::Object => JsonFormat::Object,
            JsonMode::Off => JsonFormat::Words,
        }
    }

    /// What is learnt when the form of JSON that it sends is refused; `None` where none is sent, or
    /// where no other may be.
    fn without_format(self, request: &ChatRequest) -> Option<u16> {
        let format = self.json_format();
        let fits = self.json == JsonMode::Auto && request.schema.is_some();
        FORMATS.iter().find(|(sent, _)| fits && *sent == format).map(|(_, refused)| *refused)
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

    pub(crate) fn stream(self) -> bool {
        !self.has(NO_STREAM)
    }

    pub(crate) fn system(self) -> bool {
        !self.has(NO_SYSTEM)
    }

    /// Whether a schema is sent with its [`BOUNDS`].
    pub(crate) fn bounds(self) -> bool {
        !self.has(NO_BOUNDS)
    }

    fn has(self, bit: u16) -> bool {
        self.learnt & bit != 0
    }

    /// How to put the request after this complaint; `None` when nothing in it can be put
    /// differently.
    fn after(self, complaint: &Complaint, request: &ChatRequest, stream: bool) -> Option<Self> {
        let Complaint { status, text } = complaint;
        let names = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let format = self.without_format(request).filter(|refused| {
            names(&ABOUT_FORMATS) || (*refused == NO_OBJECT_SCHEMA && names(&["schema"]))
        });
        let tells =
            matches!(*status, 400 | 422 | 500) && names(&["maxlength", "maxitems", "repetition"]);
        let has_bounds = request.schema.as_ref().is_some_and(|schema| {
            let schema = schema.to_string();
            BOUNDS.iter().any(|bound| schema.contains(bound))
        });
        if tells && has_bounds && self.bounds() {
            return Some(self.and(NO_BOUNDS));
        }
        // Some servers fail where they should refuse: only what they name is tried otherwise.
        if *status == 500 {
            return format.map(|refused| self.and(refused));
        }
        if !matches!(status, 400 | 404 | 422 | 501) {
            return None;
        }
        let learnt = [
            (format.is_some(), format.unwrap_or_default()),
            (stream && names(&["stream_options", "include_usage"]), NO_STREAM_USAGE),
            (stream && text.replace("upstream", "").contains("stream"), NO_STREAM),
            (names(&["max_tokens", "max_completion_tokens"]), COMPLETION_TOKENS),
            (names(&["temperature"]), NO_TEMPERATURE),
            (request.logprobs && names(&["logprobs"]), NO_LOGPROBS),
            (names(&["system"]) && names(&["role", "message"]), NO_SYSTEM),
        ];
        let fresh = learnt.iter().find(|(fits, bit)| *fits && !self.has(*bit));
        fresh.map(|(_, bit)| self.and(*bit))
    }

    /// The same with more learnt.
    fn and(self, learnt: u16) -> Self {
        Self { learnt: self.learnt | learnt, ..self }
    }
}

/// The dialect of one endpoint, as far as it is known.
#[derive(Debug)]
pub(crate) struct Learning {
    json: JsonMode,
    learnt: AtomicU16,
    /// The server has taken a form of JSON before: a refusal is about something else.
    takes_json: AtomicBool,
}

impl Learning {
    pub(crate) fn new(json: JsonMode) -> Self {
        Self { json, learnt: AtomicU16::new(0), takes_json: AtomicBool::new(false) }
    }

    pub(crate) fn now(&self) -> Dialect {
        Dialect { json: self.json, learnt: self.learnt.load(Ordering::Relaxed) }
    }

    /// What to try after this complaint. A refusal that names nothing, of the first request for
    /// JSON, is tried by the prompt's words alone: many servers refuse what they do not know without
    /// saying so.
    pub(crate) fn next(
        &self,
        dialect: Dialect,
        complaint: &Complaint,
        request: &ChatRequest,
        stream: bool,
    ) -> Option<Dialect> {
        let named = dialect.after(complaint, request, stream);
        let is_unproven = complaint.status == 400
            && dialect.without_format(request).is_some()
            && !self.takes_json.load(Ordering::Relaxed);
        named.or_else(|| is_unproven.then(|| dialect.and(NO_FORMAT)))
    }

    /// Remembers what the server has just understood.
    pub(crate) fn understood(&self, dialect: Dialect, request: &ChatRequest, model: &str) {
        if request.schema.is_some() && dialect.json_format() != JsonFormat::Words {
            self.takes_json.store(true, Ordering::Relaxed);
        }
        let before = self.learnt.fetch_or(dialect.learnt, Ordering::Relaxed);
        if dialect.learnt & !before & NO_FORMAT != 0 {
            tracing::info!(model, "the server takes no JSON schema: {}", dialect.json_format());
        }
    }
}
