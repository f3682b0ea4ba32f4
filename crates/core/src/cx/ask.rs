//! Asking a model: rendering, budget, parsing, asking again.
use std::sync::Arc;
use std::time::Instant;

use minijinja::context;

use super::attempt::{Attempt, PromptCall, ReadReply};
use super::open_call::OpenCall;
use super::shorten::shorten;
use super::{Cx, ms};
use crate::prompt::Rendered;
use crate::reply::{Echo, is_silent};
use crate::{
    ChatRequest, Error, Event, Limit, Llm, LlmError, Message, Prompt, ReplyStatus, Result, Stopped,
    Usage,
};

/// How often a model is asked again when its reply does not fit.
const RE_ASKS: u32 = 2;

/// The temperature, at least, at which a model is asked that has given the same malformed reply
/// twice.
const OTHER_REPLY: f32 = 0.7;

/// How many times the tokens a model gets that thought until they were used up.
const MORE_THOUGHT: u32 = 4;

/// What a model is told that gives no answer to a question that is always answered.
const SILENT: &str = "`answer` is empty, but an answer must be given: write the most likely one";

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
        Ok(self.ask_until_valid(prompt, variables, check, false).await?.value)
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
        self.ask_until_valid(prompt, variables, |_| Ok(()), true).await
    }

    async fn ask_until_valid<R>(
        &self,
        prompt: &Prompt<R>,
        variables: minijinja::Value,
        check: impl Fn(&R) -> std::result::Result<(), String> + Send + Sync,
        logprobs: bool,
    ) -> Result<Scored<R>> {
        let rendered = self.run.setup.prompts.render(prompt.name, &variables)?;
        let llm = Arc::clone(self.run.setup.models.for_role(&rendered.role));
        let prompt_call = PromptCall::new(prompt.name, &rendered, llm.as_ref());
        // An empty answer where one must be given, which stands unless a better one comes.
        let (mut insists, mut silent) = (rendered.must_answer, None);
        let mut request = self.request(prompt.name, rendered, variables);
        request.max_tokens = request.max_tokens.saturating_add(llm.thinking_tokens());
        request.logprobs = logprobs;
        let echo = Echo::new(&request.messages);
        let (mut number, mut unusable) = (0, Vec::<ChatRequest>::new());
        loop {
            let attempt = match self.attempt(llm.as_ref(), &request, &prompt_call).await {
                Err(error @ Error::Llm { source: LlmError::TooLong { .. }, .. }) => {
                    self.shorten(&mut request)?.ok_or(error)?;
                    continue;
                }
                Err(error @ Error::Spent(_)) => return silent.ok_or(error),
                attempt => Attempt { number: number + 1, ..attempt? },
            };
            number = attempt.number;
            let parsed = attempt.read.parse(|text| {
                let value = (prompt.parse)(&echo.without_copies(text)?)?;
                check(&value).map(|()| value)
            });
            // Asked once more for an answer, the model may still give none.
            let is_empty = insists && parsed.is_ok() && is_silent(&attempt.read.text);
            insists = insists && !is_empty;
            let again = is_empty && self.run.meter.take_repair();
            let status = match &parsed {
                Ok(_) if again => ReplyStatus::Malformed(SILENT.to_owned()),
                Ok(_) => ReplyStatus::Valid,
                Err(reason) => ReplyStatus::Malformed(reason.clone()),
            };
            self.push(prompt_call.event(self.span, &request, &attempt, status));
            let reason = match parsed {
                Ok(value) if again => {
                    silent = Some(Scored { value, tokens: vec![] });
                    self.ask_differently(&mut request, attempt, SILENT)?;
                    continue;
                }
                Ok(value) if logprobs => return prompt_call.scored(value, attempt),
                Ok(value) => return Ok(Scored { value, tokens: vec![] }),
                Err(reason) => reason,
            };
            let had_more = unusable.first().is_some_and(|one| one.max_tokens < request.max_tokens);
            let refusal = prompt_call.refusal(&attempt, had_more);
            unusable.push(request.clone());
            if refusal.is_some() || attempt.number > RE_ASKS || !self.run.meter.take_repair() {
                // Asked for the same another time, the model may do better.
                for request in &unusable {
                    llm.discard(request);
                }
                let error = || refusal.unwrap_or_else(|| prompt_call.unreadable(reason, attempt));
                return silent.ok_or_else(error);
            }
            if attempt.is_stumble() {
                // As it was, since samplers do stumble; from a cache the same would come again.
                llm.discard(&request);
                continue;
            }
            self.ask_differently(&mut request, attempt, &reason)?;
        }
    }

    /// The request for a prompt, with the worked examples where they are wanted.
    fn request(&self, name: &str, rendered: Rendered, variables: minijinja::Value) -> ChatRequest {
        let Rendered { messages, demonstrations, task, max_tokens, temperature, .. } = rendered;
        ChatRequest {
            prompt: name.to_owned(),
            task,
            variables,
            messages: self.messages(demonstrations, messages),
            schema: rendered.schema,
            stop: rendered.stop,
            max_tokens,
            temperature,
            logprobs: false,
            images: rendered.images,
            about: self.about(),
            stream: self.stream.clone(),
        }
    }

    /// Changes a request whose reply was malformed: it has more tokens where the model thought until
    /// they were used up; otherwise the model is told what is wrong.
    fn ask_differently(
        &self,
        request: &mut ChatRequest,
        attempt: Attempt,
        reason: &str,
    ) -> Result<()> {
        let text = attempt.read.text;
        if text.is_empty() && attempt.reply.stopped == Some(Stopped::Length) {
            request.max_tokens = request.max_tokens.saturating_mul(MORE_THOUGHT);
            return Ok(());
        }
        // Servers refuse messages without text.
        let text = if text.is_empty() { "(empty)".to_owned() } else { text };
        // At a temperature of 0 the same would come once more.
        let last = request.messages.iter().rfind(|message| message.role == "assistant");
        if last.is_some_and(|last| last.text == text) {
            request.temperature = request.temperature.max(OTHER_REPLY);
        }
        let complaint = self.run.setup.prompts.render("reply/repair", &context! { reason })?;
        request.messages.push(Message { role: "assistant".into(), text });
        request.messages.extend(complaint.messages);
        Ok(())
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
        let of_prompt = self.run.setup.prompts.render(&request.prompt, &request.variables)?;
        if of_prompt.demonstrations.iter().any(|example| request.messages.contains(example)) {
            self.note(format!("`{}` is too long for its model: without examples", request.prompt));
            request.messages = of_prompt.messages;
            return Ok(Some(()));
        }
        let Some(shorter) = shorten(&request.variables) else { return Ok(None) };
        self.note(format!("`{}` is too long for its model: {}", request.prompt, shorter.note));
        let rendered = self.run.setup.prompts.render(&request.prompt, &shorter.variables)?;
        request.variables = shorter.variables;
        request.messages = rendered.messages;
        Ok(Some(()))
    }

    /// One call under the budget: taken before, settled after, cut off at the time limit.
    async fn attempt(
        &self,
        llm: &dyn Llm,
        request: &ChatRequest,
        prompt_call: &PromptCall,
    ) -> Result<Attempt> {
        let began = Instant::now();
        if let Some(source) = self.outage(llm) {
            return Err(self.failed(prompt_call, source, began));
        }
        let meter = &self.run.meter;
        let largest = Usage {
            prompt_tokens: estimate_prompt(request),
            completion_tokens: request.max_tokens.into(),
            ..Usage::default()
        };
        let price = llm.price();
        let taken = meter.take(largest, price, self.share()).await;
        let call = OpenCall::new(meter, taken.map_err(|limit| self.spent(limit))?);
        let sent = tokio::time::Instant::now();
        self.watch(&prompt_call.begun(self.span, self.longest_call()));
        // Of one that is cut off what was taken stays taken: the model may have worked and been paid.
        match self.in_time(llm.chat(request)).await? {
            Ok(reply) => {
                if !reply.cached {
                    self.remember_time(sent.elapsed());
                }
                let usd = if reply.cached { 0.0 } else { price.cost(reply.usage) };
                call.settle((!reply.cached).then_some((reply.usage, usd)));
                let read = ReadReply::new(&reply);
                Ok(Attempt { number: 1, reply, read, usd, elapsed_ms: ms(began) })
            }
            Err(source) => {
                call.settle(None);
                self.remember_outage(llm, &source, sent);
                Err(self.failed(prompt_call, source, began))
            }
        }
    }

    fn failed(&self, prompt_call: &PromptCall, source: LlmError, began: Instant) -> Error {
        let model = prompt_call.model.clone();
        self.push(Event::ModelCallFailed {
            span: self.span,
            prompt: Arc::clone(&prompt_call.prompt),
            model: model.clone(),
            reason: source.to_string(),
            transient: matches!(source, LlmError::Transient { .. }),
            elapsed_ms: ms(began),
        });
        Error::Llm { model, source }
    }

    pub(super) fn spent(&self, limit: Limit) -> Error {
        self.push(Event::BudgetExhausted { span: self.span, limit });
        Error::Spent(limit)
    }
}

/// Tokens that an image takes, about: servers count by its size, 85 to some 1,500.
const IMAGE_TOKENS: u64 = 1_000;

/// The tokens of a whole request, with its images and its schema.
fn estimate_prompt(request: &ChatRequest) -> u64 {
    let schema = request.schema.as_ref().map_or(0, |schema| schema.to_string().len() as u64 / 4);
    estimate_tokens(&request.messages) + schema + request.images.len() as u64 * IMAGE_TOKENS
}

/// Four characters a token, the usual rule of thumb; settled by the server's count.
pub fn estimate_tokens(messages: &[Message]) -> u64 {
    messages.iter().map(|message| message.text.len() as u64 / 4 + 4).sum()
}
