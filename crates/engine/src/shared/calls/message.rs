//! Calls and their outcomes as they are written for the ledger, before they are sealed.
use std::sync::Arc;
use std::time::Duration;

use halma_core::{ChatReply, ChatRequest, EmbedRole, LlmError, Message, Stopped, Vector};
use halma_store::pg::call_id;
use serde::{Deserialize, Serialize};

/// A call, with everything that a worker needs to do it by its own model of that name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Call {
    Chat(ChatCall),
    Embed(EmbedCall),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ChatCall {
    pub(crate) model: String,
    prompt: String,
    task: String,
    messages: Vec<Message>,
    schema: Option<serde_json::Value>,
    stop: Vec<String>,
    max_tokens: u32,
    temperature: f32,
    logprobs: bool,
    images: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct EmbedCall {
    pub(crate) model: String,
    pub(crate) texts: Vec<String>,
    is_query: bool,
}

impl ChatCall {
    /// Without the variables, which only the offline model reads, and it is not shared.
    pub(crate) fn new(model: &str, request: &ChatRequest) -> Self {
        Self {
            model: model.to_owned(),
            prompt: request.prompt.clone(),
            task: request.task.clone(),
            messages: request.messages.clone(),
            schema: request.schema.as_deref().cloned(),
            stop: request.stop.clone(),
            max_tokens: request.max_tokens,
            temperature: request.temperature,
            logprobs: request.logprobs,
            images: request.images.clone(),
        }
    }

    pub(crate) fn into_request(self) -> ChatRequest {
        ChatRequest {
            prompt: self.prompt,
            task: self.task,
            variables: minijinja::Value::UNDEFINED,
            messages: self.messages,
            schema: self.schema.map(Arc::new),
            stop: self.stop,
            max_tokens: self.max_tokens,
            temperature: self.temperature,
            logprobs: self.logprobs,
            about: vec![],
            images: self.images,
            stream: None,
        }
    }
}

impl EmbedCall {
    pub(crate) fn new(model: &str, texts: &[&str], role: EmbedRole) -> Self {
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        Self { model: model.to_owned(), texts, is_query: role == EmbedRole::Query }
    }

    pub(crate) fn role(&self) -> EmbedRole {
        if self.is_query { EmbedRole::Query } else { EmbedRole::Passage }
    }
}

/// What the ledger sorts calls by, so that a worker takes only those that it can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct CallKind(pub(crate) i16);

impl CallKind {
    pub(crate) fn of_chat(model: &str) -> Self {
        Self::named(1, model)
    }

    pub(crate) fn of_embedder(model: &str) -> Self {
        Self::named(2, model)
    }

    // Two models of one number are distinguished by the worker that takes such a call.
    fn named(purpose: i16, model: &str) -> Self {
        let [a, b, ..] = call_id(purpose, model.as_bytes());
        Self(i16::from_le_bytes([a, b]))
    }
}

impl Call {
    pub(crate) fn kind(&self) -> CallKind {
        match self {
            Self::Chat(call) => CallKind::of_chat(&call.model),
            Self::Embed(call) => CallKind::of_embedder(&call.model),
        }
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("names, texts and numbers can be written")
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

/// What came of a call that was answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Output {
    Chat(ChatReply),
    Vectors(Vec<Vector>),
}

/// A reply with all its fields; caches do not store why one ended early.
#[derive(Serialize, Deserialize)]
struct WholeReply {
    #[serde(flatten)]
    reply: ChatReply,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stopped: Option<Stopped>,
}

const CHAT: u8 = 1;
const VECTORS: u8 = 2;

impl Output {
    pub(crate) fn write(&self) -> Vec<u8> {
        match self {
            Self::Chat(reply) => {
                let whole = WholeReply { reply: reply.clone(), stopped: reply.stopped.clone() };
                let json = serde_json::to_vec(&whole).expect("texts and numbers can be written");
                [vec![CHAT], json].concat()
            }
            Self::Vectors(vectors) => {
                let length = vectors.first().map_or(0, Vec::len);
                let mut bytes = vec![VECTORS];
                bytes.extend((length as u64).to_le_bytes());
                bytes.extend(vectors.iter().flatten().flat_map(|number| number.to_le_bytes()));
                bytes
            }
        }
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        match bytes.split_first()? {
            (&CHAT, json) => {
                let WholeReply { reply, stopped } = serde_json::from_slice(json).ok()?;
                Some(Self::Chat(ChatReply { stopped, ..reply }))
            }
            (&VECTORS, rest) => {
                let (length, numbers) = rest.split_first_chunk::<8>()?;
                let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
                let (numbers, odd) = numbers.as_chunks::<4>();
                if !odd.is_empty() || (length == 0) != numbers.is_empty() {
                    return None;
                }
                let numbers: Vec<f32> = numbers.iter().map(|b| f32::from_le_bytes(*b)).collect();
                let vectors = numbers.chunks(length.max(1));
                Some(Self::Vectors(vectors.map(<[f32]>::to_vec).collect()))
            }
            _ => None,
        }
    }
}

/// A failure of a model, which keeps its kind.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Failed {
    Transient { reason: String, retry_after_seconds: Option<f64>, throttled: bool },
    TooLong { reason: String },
    Refused { reason: String },
}

impl From<LlmError> for Failed {
    fn from(error: LlmError) -> Self {
        match error {
            LlmError::Transient { reason, retry_after, throttled } => {
                let retry_after_seconds = retry_after.map(|after| after.as_secs_f64());
                Self::Transient { reason, retry_after_seconds, throttled }
            }
            LlmError::TooLong { reason } => Self::TooLong { reason },
            LlmError::Refused { reason } => Self::Refused { reason },
        }
    }
}

impl From<Failed> for LlmError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Transient { reason, retry_after_seconds, throttled } => {
                let after = |seconds| Duration::try_from_secs_f64(seconds).ok();
                let retry_after = retry_after_seconds.and_then(after);
                Self::Transient { reason, retry_after, throttled }
            }
            Failed::TooLong { reason } => Self::TooLong { reason },
            Failed::Refused { reason } => Self::Refused { reason },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_outputs_come_back_as_they_were() {
        let texts = EmbedCall::new("minilm", &["one", "zwei"], EmbedRole::Query);
        assert_eq!(texts.role(), EmbedRole::Query);
        let call = Call::Embed(texts);
        assert_eq!(Call::read(&call.write()).unwrap(), call);
        assert_ne!(call.kind(), CallKind::of_chat("minilm"));
        let logprobs = Some(vec![("a".to_owned(), -0.1_f32)]);
        let reply = ChatReply { text: "ß".into(), logprobs, ..ChatReply::default() };
        let cut = ChatReply { stopped: Some(Stopped::Length), ..reply.clone() };
        for output in [
            Output::Chat(reply),
            Output::Chat(cut),
            Output::Vectors(vec![vec![0.1, -3.5], vec![1e-20, 0.7]]),
            Output::Vectors(vec![]),
        ] {
            let bytes = output.write();
            assert_eq!(Output::read(&bytes).unwrap(), output);
            assert!(Output::read(&bytes[..bytes.len() - 1]).is_none());
        }
    }

    #[test]
    fn a_failure_keeps_its_kind() {
        let throttled = LlmError::Transient {
            reason: "later".into(),
            retry_after: Some(Duration::from_millis(1500)),
            throttled: true,
        };
        for error in [throttled, LlmError::refused("no"), LlmError::TooLong { reason: "8".into() }]
        {
            let text = serde_json::to_string(&Failed::from(error.clone())).unwrap();
            let read: Failed = serde_json::from_str(&text).unwrap();
            assert_eq!(format!("{:?}", LlmError::from(read)), format!("{error:?}"));
        }
    }
}
