//! Asking a model: rendering, budget, parsing, asking again.
use std::sync::Arc;
use std::time::Instant;

use minijinja::context;

use super::shorten::shorten;
use super::{Cx, ms};
use crate::reply::{Split, split_thoughts};
use crate::{
    ChatReply, ChatRequest, Error, Event, LONGEST_REPLY, LONGEST_THOUGHTS, Limit, Llm, LlmError,
    Message, Prompt, ReplyStatus, Result, Usage,
};

/// How often a model is asked again when its reply does not fit.
const RE_ASKS: u32 = 2;

/// The temperature, at least, at which a model is asked that has given the same malformed reply
/// twice.
const OTHER_REPLY: f32 = 0.7;

/// A reply with each of its tokens and the token's log-probability.
#[derive(Debug, Clone)]
pub struct Scored<R> {
    pub value: R,
    /// As the model wrote them, in order; put together they are the reply.
    pub tokens: Vec<(String, f32)>,
}

impl Cx {
    /// Asks the model of the prompt's role and parses its reply. A reply that does not fit is
    /// asked for again, at most twice and within [`Budget::repairs`](crate::Budget), with the
    /// parser's complaint; then it is [`Error::BadReply`]. A strategy that can do without the reply
    /// continues with [`UnlessFailed`](crate::UnlessFailed).
    pub async fn ask<R>(&self, prompt: &Prompt<R>, variables: minijinja::Value) -> Result<R> {
        self.ask_checked(prompt, variables, |_| Ok(())).await
    }

    /// [`Cx::ask`] for a reply that only the caller can judge: an index into what was offered,
    /// say. What `check` complains about is malformed like any other and asked for again.
    pub async fn ask_checked<R>(
        &self,
        prompt: &Prompt<R>,
        variables: minijinja::Value,
        check: impl Fn(&R) -> std::result::Result<(), String> + Send + Sync,
    ) -> Result<R> {
        Ok(self.asked(prompt, variables, check, false).await?.value)
    }

    /// [`Cx::ask`] with the log-probability of every token of the reply.
    ///
    /// # Errors
    /// [`Error::MissingRequirement`] when the model gives none; a strategy that needs them says so in its
    /// [`Entry`](crate::Entry), and is refused before it is run.
    pub async fn ask_scored<R>(
        &self,
        prompt: &Prompt<R>,
        variables: minijinja::Value,
    ) -> Result<Scored<R>> {
        self.asked(prompt, variables, |_| Ok(()), true).await
    }

    async fn asked<R>(
        &self,
        prompt: &Prompt<R>,
        variables: minijinja::Value,
        check: impl Fn(&R) -> std::result::Result<(), String> + Send + Sync,
        logprobs: bool,
    ) -> Result<Scored<R>> {
        let rendered = self.run.setup.prompts.render(prompt.name, &variables)?;
        let name: Arc<str> = prompt.name.into();
        let llm = Arc::clone(self.run.setup.models.for_role(&rendered.role));
        let mut request = ChatRequest {
            prompt: prompt.name.to_owned(),
            task: rendered.task,
            variables,
            messages: self.messages(rendered.demonstrations, rendered.messages),
            schema: rendered.schema,
            stop: rendered.stop,
            max_tokens: rendered.max_tokens.saturating_add(llm.thinking_tokens()),
            temperature: rendered.temperature,
            logprobs,
            images: rendered.images,
            about: self.about(),
            stream: self.stream.clone(),
        };
        let (mut attempt, mut last) = (1, None::<String>);
        loop {
            let began = Instant::now();
            let (reply, usd) = match self.call(llm.as_ref(), &request, &name).await {
                Err(error @ Error::Llm { source: LlmError::TooLong { .. }, .. }) => {
                    self.shorten(&mut request)?.ok_or(error)?;
                    continue;
                }
                outcome => outcome?,
            };
            let ReadReply { thoughts, text, start, problem } = ReadReply::new(&reply);
            let parsed = match problem {
                Some(problem) => Err(problem),
                None => (prompt.parse)(&text).and_then(|value| check(&value).map(|()| value)),
            };
            let status = match &parsed {
                Ok(_) => ReplyStatus::Valid,
                Err(reason) => ReplyStatus::Malformed(reason.clone()),
            };
            self.push(Event::ModelCalled {
                span: self.span,
                prompt: Arc::clone(&name),
                hash: Arc::clone(&rendered.hash),
                role: rendered.role.clone(),
                model: llm.model().to_owned(),
                attempt,
                messages: request.messages.clone(),
                thoughts,
                reply: text.clone(),
                status,
                usage: reply.usage,
                cached: reply.cached,
                usd,
                elapsed_ms: ms(began),
            });
            match parsed {
                Ok(value) => {
                    let tokens = after(reply.logprobs.unwrap_or_default(), start);
                    if logprobs && tokens.is_empty() {
                        let model = llm.model();
                        return Err(Error::MissingRequirement(format!(
                            "`{name}` needs log-probabilities, and model `{model}` gives none"
                        )));
                    }
                    return Ok(Scored { value, tokens });
                }
                Err(reason) if attempt > RE_ASKS || !self.run.meter.take_repair() => {
                    return Err(Error::BadReply { prompt: name.to_string(), reason, raw: text });
                }
                Err(reason) => {
                    let complaint =
                        self.run.setup.prompts.render("reply/repair", &context! { reason })?;
                    // At a temperature of 0 the same would come once more.
                    if last.replace(text.clone()).is_some_and(|last| last == text) {
                        request.temperature = request.temperature.max(OTHER_REPLY);
                    }
                    // Servers refuse messages without text.
                    let text = if text.is_empty() { "(empty)".to_owned() } else { text };
                    request.messages.push(Message { role: "assistant".into(), text });
                    request.messages.extend(complaint.messages);
                    attempt += 1;
                }
            }
        }
    }

    /// The messages with the worked examples, where they are wanted, before the last one.
    fn messages(&self, demonstrations: Vec<Message>, mut messages: Vec<Message>) -> Vec<Message> {
        if self.demonstrations {
            let last = messages.len().saturating_sub(1);
            messages.splice(last..last, demonstrations);
        }
        messages
    }

    /// Omits a part of what the prompt shows, since the model cannot read all of it; `None` when
    /// there is no more to omit.
    fn shorten(&self, request: &mut ChatRequest) -> Result<Option<()>> {
        let Some(shorter) = shorten(&request.variables) else { return Ok(None) };
        self.note(format!("`{}` is too long for its model: {}", request.prompt, shorter.note));
        let rendered = self.run.setup.prompts.render(&request.prompt, &shorter.variables)?;
        request.variables = shorter.variables;
        request.messages = self.messages(rendered.demonstrations, rendered.messages);
        Ok(Some(()))
    }

    /// One call under the budget: taken before, settled after, cut off at the time limit.
    async fn call(
        &self,
        llm: &dyn Llm,
        request: &ChatRequest,
        name: &Arc<str>,
    ) -> Result<(ChatReply, f64)> {
        let began = Instant::now();
        if let Some(source) = self.outage(llm) {
            return Err(self.failed(llm, source, name, began));
        }
        let meter = &self.run.meter;
        let most = Usage {
            prompt_tokens: estimate_tokens(&request.messages),
            completion_tokens: request.max_tokens.into(),
        };
        let price = llm.price();
        let taken = meter.take(most, price, self.may_use_reserve).await;
        let taken = taken.map_err(|limit| self.spent(limit))?;
        let sent = tokio::time::Instant::now();
        let reply = match meter.time_left(self.may_use_reserve) {
            Some(left) => match tokio::time::timeout(left, llm.chat(request)).await {
                Ok(reply) => reply,
                Err(_) => {
                    // The model may have worked and been paid: what was taken stays taken.
                    return Err(self.spent(Limit::Seconds));
                }
            },
            None => llm.chat(request).await,
        };
        match reply {
            Ok(reply) => {
                let usd = if reply.cached { 0.0 } else { price.cost(reply.usage) };
                meter.settle(taken, (!reply.cached).then_some((reply.usage, usd)));
                Ok((reply, usd))
            }
            Err(source) => {
                meter.settle(taken, None);
                self.remember_outage(llm, &source, sent);
                Err(self.failed(llm, source, name, began))
            }
        }
    }

    fn failed(&self, llm: &dyn Llm, source: LlmError, name: &Arc<str>, began: Instant) -> Error {
        let model = llm.model().to_owned();
        self.push(Event::ModelCallFailed {
            span: self.span,
            prompt: Arc::clone(name),
            model: model.clone(),
            reason: source.to_string(),
            elapsed_ms: ms(began),
        });
        Error::Llm { model, source }
    }

    pub(super) fn spent(&self, limit: Limit) -> Error {
        self.push(Event::BudgetExhausted { span: self.span, limit });
        Error::Spent(limit)
    }
}

/// A reply as it is read: what is too long is never parsed, and only its beginning is stored and
/// shown to the model again.
struct ReadReply {
    thoughts: String,
    text: String,
    /// Bytes before the text, for its log-probabilities.
    start: usize,
    /// Why the text cannot be what was asked for.
    problem: Option<String>,
}

/// Bytes that are left of a reply that is too long.
const BEGINNING: usize = 2_000;

impl ReadReply {
    fn new(reply: &ChatReply) -> Self {
        let Split { thoughts, reply: text, start } = if reply.is_too_long() {
            Split { thoughts: String::new(), reply: reply.text.clone(), start: 0 }
        } else {
            split_thoughts(&reply.text)
        };
        let too_long = reply.is_too_long() || text.len() > LONGEST_REPLY;
        let problem = match text.as_str() {
            _ if too_long => Some(format!(
                "the reply is longer than {} KiB, or its thoughts are longer than {} KiB; reply \
                 with nothing but what is asked for",
                LONGEST_REPLY >> 10,
                LONGEST_THOUGHTS >> 10
            )),
            "" if start > 0 => Some("there is nothing but thoughts in the reply".to_owned()),
            _ => None,
        };
        let thoughts = [reply.thoughts.as_str(), &thoughts].concat();
        let shown = |text: String| if too_long { beginning(&text) } else { text };
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

/// Four characters a token, the usual rule of thumb; settled by the server's count.
pub fn estimate_tokens(messages: &[Message]) -> u64 {
    messages.iter().map(|message| message.text.len() as u64 / 4 + 4).sum()
}
