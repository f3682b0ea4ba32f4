//! A model that follows a script and checks that the strategy does too.
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use halma_core::{ChatReply, ChatRequest, Llm, LlmError, Usage};

/// Gives the scripted replies in order and asserts the name of each prompt, so that a wrong order
/// fails where it happens. Every call is billed 10 prompt and 2 completion tokens.
pub struct Script(Mutex<VecDeque<(String, Result<String, LlmError>)>>);

impl Script {
    /// Steps of (prompt name, reply).
    pub fn new<const N: usize>(steps: [(&str, &str); N]) -> Arc<Self> {
        let steps = steps.into_iter().map(|(prompt, reply)| (prompt.into(), Ok(reply.into())));
        Arc::new(Self(Mutex::new(steps.collect())))
    }

    /// Steps that may fail.
    pub fn with_failures(steps: Vec<(&str, Result<&str, LlmError>)>) -> Arc<Self> {
        let own = |(prompt, reply): (&str, Result<&str, LlmError>)| {
            (prompt.to_owned(), reply.map(str::to_owned))
        };
        Arc::new(Self(Mutex::new(steps.into_iter().map(own).collect())))
    }

    /// How many steps have not been asked for.
    pub fn left(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

#[async_trait]
impl Llm for Script {
    fn model(&self) -> &'static str {
        "script"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        tokio::task::yield_now().await;
        let step = self.0.lock().unwrap().pop_front();
        let (prompt, reply) = step.ok_or_else(|| {
            LlmError::refused(format!("the script has no reply left for `{}`", request.prompt))
        })?;
        assert_eq!(prompt, request.prompt, "the script and the strategy part ways");
        let usage = Usage { prompt_tokens: 10, completion_tokens: 2 };
        reply.map(|text| ChatReply { text, usage, ..ChatReply::default() })
    }
}
