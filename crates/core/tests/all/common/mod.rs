//! What the integration tests of core share: a prompt, a counting model, a context around them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use halma_core::{
    Budget, ChatReply, ChatRequest, Cx, Llm, LlmError, Meter, Models, Price, Prompt, PromptFile,
    PromptSet, Prompts, Setup, Usage, Watcher,
};
use halma_testkit::Toy;
use serde::Deserialize;

/// One prompt with a nested variable, at most 50 tokens to reply with.
pub(crate) const FILES: PromptSet = PromptSet::Files(&[PromptFile { name: "demo/ask", text: ASK }]);

pub(crate) const ASK: &str = "---
task: read
role: reader
variables: [\"question\"]
max_tokens: 50
schema: {\"answer\": \"string\"}
---
## system
Answer.
## user
{{ question.text }}
";

#[derive(Debug, Deserialize)]
pub(crate) struct DemoReply {
    pub(crate) answer: String,
}

pub(crate) const PROMPT: Prompt<DemoReply> = Prompt::json("demo/ask");

pub(crate) const FITS: &str = r#"{"answer": "yes"}"#;

pub(crate) fn question(text: &str) -> minijinja::Value {
    minijinja::context! { question => minijinja::context! { text } }
}

/// A context with this model, budget and watcher over an empty base.
pub(crate) fn cx(
    model: Arc<dyn Llm>,
    budget: Budget,
    watcher: Option<Watcher>,
) -> (Cx, Arc<Meter>) {
    let prompts = Arc::new(Prompts::shipped(&[FILES]).unwrap());
    with_prompts(prompts, model, budget, watcher)
}

pub(crate) fn with_prompts(
    prompts: Arc<Prompts>,
    model: Arc<dyn Llm>,
    budget: Budget,
    watcher: Option<Watcher>,
) -> (Cx, Arc<Meter>) {
    let setup = Arc::new(Setup::new(Models::new(model), Toy::empty(), prompts));
    let meter = Arc::new(Meter::new(budget));
    (Cx::new(setup, Arc::clone(&meter), watcher), meter)
}

/// A model that bills what it is told to, yields as often as it is told to, and counts.
pub(crate) struct Counting {
    /// For each call in turn: yields before the reply, completion tokens, whether it fails.
    pub(crate) plan: Vec<(u8, u64, bool)>,
    pub(crate) price: Price,
    pub(crate) calls: AtomicU64,
    pub(crate) tokens: AtomicU64,
    /// Calls that were answered.
    pub(crate) answered: AtomicU64,
}

impl Counting {
    pub(crate) fn new(plan: Vec<(u8, u64, bool)>, price: Price) -> Arc<Self> {
        let (calls, tokens, answered) = Default::default();
        Arc::new(Self { plan, price, calls, tokens, answered })
    }
}

#[async_trait]
impl Llm for Counting {
    fn model(&self) -> &'static str {
        "counting"
    }

    fn price(&self) -> Price {
        self.price
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let turn = self.calls.fetch_add(1, Ordering::SeqCst);
        let (yields, completion_tokens, fails) =
            self.plan[usize::try_from(turn).unwrap() % self.plan.len()];
        for _ in 0..yields {
            tokio::task::yield_now().await;
        }
        if fails {
            return Err(LlmError::transient("down"));
        }
        let letters: usize = request.messages.iter().map(|message| message.text.len()).sum();
        let usage =
            Usage { prompt_tokens: letters as u64 / 4, completion_tokens, ..Usage::default() };
        self.tokens.fetch_add(usage.prompt_tokens + completion_tokens, Ordering::SeqCst);
        self.answered.fetch_add(1, Ordering::SeqCst);
        Ok(ChatReply { text: FITS.into(), usage, ..ChatReply::default() })
    }
}
