//! A model that answers as weak, careless and reasoning models do: it wraps any other and spoils
//! its replies in one of the ways of [`Mischief`], always the same for the same call.
mod kind;
mod spoil;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{ChatReply, ChatRequest, Llm, LlmError, Message, Price, estimate_tokens};
use parking_lot::Mutex;

pub use kind::{Mischief, Remedy};
pub use spoil::DRAFT;

/// Tokens of prompt and reply that a model with a small context takes.
const SMALL_CONTEXT: u64 = 4096;

/// Which calls are spoiled and what becomes of them, for a model in this process and for a server.
/// Kinds whose remedy is another call spoil every second request, by a hash of it and the seed, and
/// never the one that follows; the others spoil all.
pub struct Spoiler {
    kind: Mischief,
    seed: u64,
    /// The first reply to each prompt, for [`Mischief::SameReply`].
    first: Mutex<BTreeMap<String, String>>,
    /// Requests that have failed once.
    failed: Mutex<BTreeSet<u64>>,
}

/// A call as a spoiler sees it.
pub(crate) struct SpoilerCall<'a> {
    pub(crate) prompt: &'a str,
    pub(crate) messages: &'a [Message],
    pub(crate) max_tokens: u64,
}

/// What becomes of a call.
pub(crate) enum CallOutcome {
    Untouched,
    /// It fails before it is answered.
    Fails(LlmError),
    /// Its reply is spoiled with this seed.
    Spoiled(u64),
}

impl Spoiler {
    pub(crate) fn new(kind: Mischief, seed: u64) -> Self {
        let (first, failed) = (Mutex::default(), Mutex::default());
        Self { kind, seed, first, failed }
    }

    pub(crate) fn decide(&self, call: &SpoilerCall) -> CallOutcome {
        let seed = hash(self.seed, call.prompt, call.messages);
        match (self.spoils(call, seed), self.error(call)) {
            (false, _) => CallOutcome::Untouched,
            (true, Some(error)) => CallOutcome::Fails(error),
            (true, None) => CallOutcome::Spoiled(seed),
        }
    }

    fn spoils(&self, call: &SpoilerCall, seed: u64) -> bool {
        let asked_again = call.messages.iter().any(|message| message.role == "assistant");
        match self.kind {
            Mischief::DeafPrompt => hash(self.seed, call.prompt, &[]).is_multiple_of(3),
            Mischief::Throttled | Mischief::ServerError | Mischief::CutStream => {
                seed.is_multiple_of(2) && self.failed.lock().insert(seed)
            }
            kind => kind.spoils_every_call() || (seed.is_multiple_of(2) && !asked_again),
        }
    }

    fn error(&self, call: &SpoilerCall) -> Option<LlmError> {
        let fails = |reason: &str| Some(LlmError::transient(reason));
        let tokens = estimate_tokens(call.messages) + call.max_tokens;
        match self.kind {
            Mischief::SmallContext if tokens > SMALL_CONTEXT => Some(LlmError::TooLong {
                reason: format!("{tokens} tokens are more than {SMALL_CONTEXT}"),
            }),
            Mischief::Throttled => Some(LlmError::Transient {
                reason: "429".into(),
                retry_after: None,
                throttled: true,
            }),
            Mischief::ServerError => fails("500"),
            Mischief::CutStream => fails("the stream was cut"),
            _ => None,
        }
    }

    /// The spoiled text of a reply and the thoughts that are sent next to it.
    pub(crate) fn spoil(&self, prompt: &str, text: &str, seed: u64) -> (String, String) {
        match self.kind {
            Mischief::ReasoningField => (text.to_owned(), spoil::draft(text)),
            Mischief::SameReply => {
                let mut first = self.first.lock();
                let text = first.entry(prompt.to_owned()).or_insert_with(|| text.to_owned());
                (text.clone(), String::new())
            }
            kind => (kind.spoil(text, seed), String::new()),
        }
    }

    pub(crate) fn logprobs(&self) -> bool {
        self.kind != Mischief::NoLogprobs
    }
}

/// A model whose replies are spoiled.
pub struct Mischievous {
    inner: Arc<dyn Llm>,
    spoiler: Spoiler,
}

impl Mischievous {
    pub fn new(inner: Arc<dyn Llm>, kind: Mischief, seed: u64) -> Arc<Self> {
        Arc::new(Self { inner, spoiler: Spoiler::new(kind, seed) })
    }
}

#[async_trait]
impl Llm for Mischievous {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn price(&self) -> Price {
        self.inner.price()
    }

    fn logprobs(&self) -> bool {
        self.spoiler.logprobs() && self.inner.logprobs()
    }

    fn thinking_tokens(&self) -> u32 {
        self.inner.thinking_tokens()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let (prompt, messages) = (request.prompt.as_str(), request.messages.as_slice());
        let max_tokens = u64::from(request.max_tokens);
        let seed = match self.spoiler.decide(&SpoilerCall { prompt, messages, max_tokens }) {
            CallOutcome::Untouched => return self.inner.chat(request).await,
            CallOutcome::Fails(error) => return Err(error),
            CallOutcome::Spoiled(seed) => seed,
        };
        let mut reply = self.inner.chat(request).await?;
        if !self.spoiler.logprobs() {
            reply.logprobs = None;
        }
        let (text, thoughts) = self.spoiler.spoil(prompt, &reply.text, seed);
        if let Some(tokens) = reply.logprobs.as_mut().filter(|_| text != reply.text) {
            let logprob = tokens.first().map_or(0.0, |(_, logprob)| *logprob);
            let token = |word: &str| (word.to_owned(), logprob);
            *tokens = text.split_inclusive(' ').map(token).collect();
        }
        Ok(ChatReply { text, thoughts: reply.thoughts + &thoughts, ..reply })
    }
}

/// What of a spoiled reply got into a text: a draft, an "Unknown", a refusal.
pub fn leak(text: &str) -> Option<String> {
    let marks = [DRAFT, "<think", "Unknown", "N/A", "Not mentioned in", "I can't help", "```"];
    let mark = marks.into_iter().find(|mark| text.contains(mark))?;
    Some(format!("`{mark}` in `{text}`"))
}

/// FNV-1a over the prompt's name and the messages.
fn hash(seed: u64, prompt: &str, messages: &[Message]) -> u64 {
    let texts = messages.iter().map(|message| message.text.as_str());
    let bytes = std::iter::once(prompt).chain(texts).flat_map(str::bytes);
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325 ^ seed, step);
    hash ^ (hash >> 29)
}
