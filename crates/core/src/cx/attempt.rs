//! One attempt at a prompt: what was asked, what came back, whether another may help.
use std::sync::Arc;
use std::time::Duration;

use super::ask::Scored;
use crate::prompt::Rendered;
use crate::reply::{Split, split_thoughts};
use crate::{
    ChatReply, ChatRequest, Error, Event, LONGEST_REPLY, LONGEST_THOUGHTS, Llm, LlmError,
    ReplyStatus, Result, Stopped,
};

/// A prompt and the model that is asked.
pub(super) struct PromptCall {
    pub(super) prompt: Arc<str>,
    hash: Arc<str>,
    role: String,
    pub(super) model: String,
}

/// A call that was answered.
pub(super) struct Attempt {
    /// Counted from 1.
    pub(super) number: u32,
    pub(super) reply: ChatReply,
    /// The reply as it is read.
    pub(super) read: ReadReply,
    pub(super) usd: f64,
    pub(super) elapsed_ms: f64,
}

impl Attempt {
    /// Whether the first reply has no text, for no reason that is known: the same request may well
    /// get one.
    pub(super) fn is_stumble(&self) -> bool {
        let Self { number, reply, read, .. } = self;
        *number == 1 && read.text.is_empty() && !reply.cached && reply.stopped.is_none()
    }
}

impl PromptCall {
    pub(super) fn new(prompt: &str, rendered: &Rendered, llm: &dyn Llm) -> Self {
        let (hash, role) = (Arc::clone(&rendered.hash), rendered.role.clone());
        Self { prompt: prompt.into(), hash, role, model: llm.model().to_owned() }
    }

    /// What a watcher sees while the model works.
    pub(super) fn begun(&self, span: u32, longest: Option<Duration>) -> Event {
        let longest_ms = longest.map(|longest| longest.as_secs_f64() * 1e3);
        Event::ModelAsked { span, role: self.role.clone(), model: self.model.clone(), longest_ms }
    }

    /// What the trace says of an attempt.
    pub(super) fn event(
        &self,
        span: u32,
        request: &ChatRequest,
        attempt: &Attempt,
        status: ReplyStatus,
    ) -> Event {
        Event::ModelCalled {
            span,
            prompt: Arc::clone(&self.prompt),
            hash: Arc::clone(&self.hash),
            role: self.role.clone(),
            model: self.model.clone(),
            attempt: attempt.number,
            messages: request.messages.clone(),
            thoughts: attempt.read.thoughts.clone(),
            reply: attempt.read.text.clone(),
            status,
            usage: attempt.reply.usage,
            cached: attempt.reply.cached,
            usd: attempt.usd,
            elapsed_ms: attempt.elapsed_ms,
        }
    }

    pub(super) fn scored<R>(&self, value: R, attempt: Attempt) -> Result<Scored<R>> {
        let tokens = after(attempt.reply.logprobs.unwrap_or_default(), attempt.read.start);
        if tokens.is_empty() {
            return Err(Error::MissingRequirement(format!(
                "`{}` needs log-probabilities, and model `{}` gives none",
                self.prompt, self.model
            )));
        }
        Ok(Scored { value, tokens })
    }

    /// The error for a reply without text, where the server says why and asking again will not help:
    /// more tokens are given once.
    pub(super) fn refusal(&self, attempt: &Attempt, had_more: bool) -> Option<Error> {
        let stopped = attempt.reply.stopped.as_ref().filter(|_| attempt.read.text.is_empty())?;
        (*stopped != Stopped::Length || had_more).then(|| {
            let source = LlmError::refused(format!("the model {stopped}"));
            Error::Llm { model: self.model.clone(), source }
        })
    }

    pub(super) fn unreadable(&self, reason: String, attempt: Attempt) -> Error {
        Error::BadReply { prompt: self.prompt.to_string(), reason, raw: attempt.read.text }
    }
}

/// A reply as it is read: what is too long is never parsed, and only its beginning is stored and
/// shown to the model again.
pub(super) struct ReadReply {
    pub(super) thoughts: String,
    pub(super) text: String,
    /// Bytes before the text, for its log-probabilities.
    pub(super) start: usize,
    /// Why the text cannot be what was asked for.
    pub(super) problem: Option<String>,
}

/// Bytes that are left of a reply that is too long.
const BEGINNING: usize = 2_000;

impl ReadReply {
    /// The value of the text, if it can be what was asked for; otherwise what is wrong with it.
    pub(super) fn parse<R>(
        &self,
        parse: impl Fn(&str) -> std::result::Result<R, String>,
    ) -> std::result::Result<R, String> {
        match &self.problem {
            Some(problem) => Err(problem.clone()),
            None => parse(&self.text),
        }
    }

    pub(super) fn new(reply: &ChatReply) -> Self {
        let Split { thoughts, reply: text, start } = if reply.is_too_long() {
            Split { thoughts: String::new(), reply: reply.text.clone(), start: 0 }
        } else {
            split_thoughts(&reply.text)
        };
        let too_long = reply.is_too_long() || text.len() > LONGEST_REPLY;
        let problem = match (text.trim(), &reply.stopped) {
            _ if too_long => Some(format!(
                "the reply is longer than {} KiB, or its thoughts are longer than {} KiB; reply \
                 with nothing but what is asked for",
                LONGEST_REPLY >> 10,
                LONGEST_THOUGHTS >> 10
            )),
            ("", Some(stopped)) => Some(format!("the model {stopped}")),
            ("", None) if start > 0 => {
                Some("there is nothing but thoughts in the reply".to_owned())
            }
            _ => None,
        };
        let thoughts = [reply.thoughts.as_str(), &thoughts].concat();
        let shown = |text: String| if too_long { beginning(&text) } else { text };
        let text = if text.trim().is_empty() { String::new() } else { text };
        Self { thoughts: shown(thoughts), text: shown(text), start, problem }
    }
}

fn beginning(text: &str) -> String {
    match text.floor_char_boundary(BEGINNING.min(text.len())) {
        end if end < text.len() => format!("{}…", &text[..end]),
        _ => text.to_owned(),
    }
}

/// The tokens of the reply itself, without those of the thoughts before it.
fn after(tokens: Vec<(String, f32)>, start: usize) -> Vec<(String, f32)> {
    let mut at = 0;
    let in_reply = |(text, _): &(String, f32)| {
        at += text.len();
        at > start
    };
    tokens.into_iter().filter(in_reply).collect()
}
