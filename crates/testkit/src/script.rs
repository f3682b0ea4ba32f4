//! A model that follows a script and checks that the strategy does too.
use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{ChatReply, ChatRequest, Llm, LlmError, Usage};
use parking_lot::Mutex;

/// Gives the scripted replies in order and asserts the name of each prompt, so that a wrong order
/// fails where it happens. Every call is billed 10 prompt and 2 completion tokens.
pub struct Script {
    steps: Mutex<VecDeque<Step>>,
    /// Whether it gives the log-probabilities of its tokens.
    scored: bool,
    /// Prompts with what the model was shown.
    shown: Mutex<Vec<(String, String)>>,
}

struct Step {
    prompt: String,
    reply: Result<String, LlmError>,
    /// Of each token, which is a word with the blank after it.
    logprob: f32,
}

impl Script {
    /// Steps of (prompt name, reply).
    pub fn new<const N: usize>(steps: [(&str, &str); N]) -> Arc<Self> {
        Self::with_failures(steps.into_iter().map(|(prompt, reply)| (prompt, Ok(reply))).collect())
    }

    /// Steps that may fail.
    pub fn with_failures(steps: Vec<(&str, Result<&str, LlmError>)>) -> Arc<Self> {
        let step = |(prompt, reply): (&str, Result<&str, LlmError>)| Step {
            prompt: prompt.to_owned(),
            reply: reply.map(str::to_owned),
            logprob: 0.0,
        };
        let steps = Mutex::new(steps.into_iter().map(step).collect());
        Arc::new(Self { steps, scored: false, shown: Mutex::default() })
    }

    /// Steps of (prompt name, reply, the log-probability of each of its tokens).
    pub fn scored(steps: &[(&str, &str, f32)]) -> Arc<Self> {
        let step = |(prompt, reply, logprob): &(&str, &str, f32)| Step {
            prompt: (*prompt).to_owned(),
            reply: Ok((*reply).to_owned()),
            logprob: *logprob,
        };
        let steps = Mutex::new(steps.iter().map(step).collect());
        Arc::new(Self { steps, scored: true, shown: Mutex::default() })
    }

    /// The last message of each call of a prompt, in order.
    pub fn shown(&self, prompt: &str) -> Vec<String> {
        let shown = self.shown.lock();
        shown.iter().filter(|(name, _)| name == prompt).map(|(_, text)| text.clone()).collect()
    }

    /// How many steps have not been asked for.
    pub fn left(&self) -> usize {
        self.steps.lock().len()
    }
}

#[async_trait]
impl Llm for Script {
    fn model(&self) -> &'static str {
        "script"
    }

    fn logprobs(&self) -> bool {
        self.scored
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        tokio::task::yield_now().await;
        let step = self.steps.lock().pop_front();
        let Step { prompt, reply, logprob } = step.ok_or_else(|| {
            LlmError::refused(format!("the script has no reply left for `{}`", request.prompt))
        })?;
        assert_eq!(prompt, request.prompt, "the script and the strategy part ways");
        let last = request.messages.last().map(|message| message.text.clone());
        self.shown.lock().push((prompt, last.unwrap_or_default()));
        let text = reply?;
        let token = |word: &str| (word.to_owned(), logprob);
        let with_logprobs = self.scored && request.logprobs;
        let logprobs = with_logprobs.then(|| text.split_inclusive(' ').map(token).collect());
        let usage = Usage { prompt_tokens: 10, completion_tokens: 2, ..Usage::default() };
        Ok(ChatReply { text, usage, logprobs, ..ChatReply::default() })
    }
}
