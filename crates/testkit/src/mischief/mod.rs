//! A model that answers as weak, careless and reasoning models do: it wraps any other and spoils
//! its replies in one of the ways of [`Mischief`], always the same for the same call.
mod kind;
mod spoil;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use halma_core::{ChatReply, ChatRequest, Llm, LlmError, Message, Price, estimate_tokens};

pub use kind::{Mischief, Remedy};
pub use spoil::DRAFT;

/// Tokens of prompt and reply that a model with a small context takes.
const SMALL_CONTEXT: u64 = 4096;

/// A model whose replies are spoiled. Kinds whose remedy is another call spoil every second
/// request, by a hash of it and the seed, and never the one that follows; the others spoil all.
pub struct Mischievous {
    inner: Arc<dyn Llm>,
    kind: Mischief,
    seed: u64,
    /// The first reply to each prompt, for [`Mischief::SameReply`].
    first: Mutex<BTreeMap<String, String>>,
    /// Requests that have failed once.
    failed: Mutex<BTreeSet<u64>>,
}

impl Mischievous {
    pub fn new(inner: Arc<dyn Llm>, kind: Mischief, seed: u64) -> Arc<Self> {
        let (first, failed) = (Mutex::default(), Mutex::default());
        Arc::new(Self { inner, kind, seed, first, failed })
    }

    fn spoils(&self, request: &ChatRequest, seed: u64) -> bool {
        let asked_again = request.messages.iter().any(|message| message.role == "assistant");
        match self.kind {
            Mischief::DeafPrompt => hash(self.seed, &request.prompt, &[]).is_multiple_of(3),
            Mischief::Throttled | Mischief::ServerError | Mischief::CutStream => {
                seed.is_multiple_of(2) && self.failed.lock().unwrap().insert(seed)
            }
            kind => kind.spoils_every_call() || (seed.is_multiple_of(2) && !asked_again),
        }
    }

    fn error(&self, request: &ChatRequest) -> Option<LlmError> {
        let fails = |reason: &str| Some(LlmError::transient(reason));
        let tokens = estimate_tokens(&request.messages) + u64::from(request.max_tokens);
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
        self.kind != Mischief::NoLogprobs && self.inner.logprobs()
    }

    fn thinking_tokens(&self) -> u32 {
        self.inner.thinking_tokens()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let seed = hash(self.seed, &request.prompt, &request.messages);
        let spoils = self.spoils(request, seed);
        if let Some(error) = self.error(request).filter(|_| spoils) {
            return Err(error);
        }
        let mut reply = self.inner.chat(request).await?;
        if !spoils {
            return Ok(reply);
        }
        match self.kind {
            Mischief::ReasoningField => reply.thoughts = spoil::draft(&reply.text),
            Mischief::NoLogprobs => reply.logprobs = None,
            Mischief::SameReply => {
                let mut first = self.first.lock().unwrap();
                let text = first.entry(request.prompt.clone()).or_insert(reply.text.clone());
                reply.text.clone_from(text);
            }
            kind => {
                let text = kind.spoil(&reply.text, seed);
                if let Some(tokens) = reply.logprobs.as_mut().filter(|_| text != reply.text) {
                    let logprob = tokens.first().map_or(0.0, |(_, logprob)| *logprob);
                    let token = |word: &str| (word.to_owned(), logprob);
                    *tokens = text.split_inclusive(' ').map(token).collect();
                }
                reply.text = text;
            }
        }
        Ok(reply)
    }
}

/// FNV-1a over the prompt's name and the messages.
fn hash(seed: u64, prompt: &str, messages: &[Message]) -> u64 {
    let texts = messages.iter().map(|message| message.text.as_str());
    let bytes = std::iter::once(prompt).chain(texts).flat_map(str::bytes);
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325 ^ seed, step);
    hash ^ (hash >> 29)
}
