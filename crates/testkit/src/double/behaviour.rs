//! How the double behaves when nothing fails.
use std::sync::Arc;
use std::time::Duration;

use crate::mischief::{Mischief, Spoiler};

use super::failure::Failure;
use super::reply::{ChatCall, Reply, echo};

/// What the server can do and says.
#[derive(Clone)]
pub struct Behaviour {
    /// Makes the text of a chat reply.
    pub reply: Reply,
    /// Waited before every answer.
    pub latency: Duration,
    /// Length of the embedding vectors.
    pub dim: usize,
    pub encoding: Encoding,
    /// What is refused to be embedded.
    pub embed_limits: Option<EmbedLimits>,
    /// How a request fails that has a text with this word in it.
    pub text_fault: Option<(&'static str, Failure)>,
    /// Fields of a request body that are refused with 400 and their name, as servers do that do
    /// not know `response_format`, say.
    pub refused_fields: Vec<&'static str>,
    /// Forms of JSON, values of `type` in `response_format`, that are not known: 400, or the status
    /// that comes with them.
    pub refused_formats: Vec<(&'static str, u16)>,
    /// Keywords with a number in the schema of `response_format` that are refused with 400.
    pub refused_keywords: Vec<&'static str>,
    /// Roles of messages that are refused with 400: some chat templates know no `system`.
    pub refused_roles: Vec<&'static str>,
    /// Whether reranking is answered in logits instead of scores between 0 and 1.
    pub logits: bool,
    /// The bearer key that is wanted; `None`: any or no key will do.
    pub key: Option<String>,
    /// Whether replies tell their usage.
    pub usage: bool,
    /// Spoils the replies: see [`Behaviour::mischievous`].
    pub spoiler: Option<Arc<Spoiler>>,
    /// Whether requests are kept for [`super::Double::requests`]; benches turn it off.
    pub record: bool,
}

/// What a server embeds at most, as Text Embeddings Inference has limits.
#[derive(Debug, Clone, Copy)]
pub struct EmbedLimits {
    /// Texts in one request.
    pub texts: usize,
    /// Bytes of a text.
    pub chars: usize,
}

/// What the server makes of `encoding_format: "base64"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Does as it is asked.
    Base64,
    /// Sends arrays of floats anyway.
    Ignored,
    /// Refuses the field with 400.
    Refused,
}

impl Behaviour {
    /// An obliging server that replies with what `reply` makes of a call.
    pub fn replying(reply: impl Fn(&ChatCall) -> String + Send + Sync + 'static) -> Self {
        Self::with(Arc::new(reply))
    }

    /// [`Behaviour::replying`] for a ready-made reply: `echo()`, `scripted(…)`, `atomizer()`.
    pub fn with(reply: Reply) -> Self {
        Self { reply, ..Self::default() }
    }

    /// Spoils the replies in one of the ways of [`Mischief`].
    #[must_use]
    pub fn mischievous(self, kind: Mischief, seed: u64) -> Self {
        Self { spoiler: Some(Arc::new(Spoiler::new(kind, seed))), ..self }
    }

    #[must_use]
    pub fn latency(self, latency: Duration) -> Self {
        Self { latency, ..self }
    }

    /// Keeps no requests, only the counts.
    #[must_use]
    pub fn unrecorded(self) -> Self {
        Self { record: false, ..self }
    }
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            reply: echo(),
            latency: Duration::ZERO,
            dim: 384,
            encoding: Encoding::Base64,
            embed_limits: None,
            text_fault: None,
            refused_fields: vec![],
            refused_keywords: vec![],
            refused_formats: vec![],
            refused_roles: vec![],
            logits: false,
            key: None,
            usage: true,
            spoiler: None,
            record: true,
        }
    }
}
