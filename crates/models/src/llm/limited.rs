//! One call at a time through the gate of its server.
//!
//! Every single attempt passes, so that a call that waits for its retry keeps no place, a retry
//! meets the lowered limit, and the minute counts what the server counts.
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    ChatReply, ChatRequest, EmbedRole, Embedder, Llm, LlmError, Price, Reranker, Vector,
};

use halma_net::Gate;

pub(crate) struct Limited<T: ?Sized> {
    gate: Gate,
    inner: Arc<T>,
}

impl<T: ?Sized> Limited<T> {
    pub(crate) fn new(inner: Arc<T>, gate: Gate) -> Self {
        Self { gate, inner }
    }
}

#[async_trait]
impl Llm for Limited<dyn Llm> {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn price(&self) -> Price {
        self.inner.price()
    }

    fn logprobs(&self) -> bool {
        self.inner.logprobs()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let pass = self.gate.enter().await;
        let outcome = self.inner.chat(request).await;
        pass.leave(&outcome);
        outcome
    }
}

#[async_trait]
impl Embedder for Limited<dyn Embedder> {
    fn model(&self) -> &str {
        self.inner.model()
    }

    async fn embed(&self, texts: &[&str], role: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        let pass = self.gate.enter().await;
        let outcome = self.inner.embed(texts, role).await;
        pass.leave(&outcome);
        outcome
    }
}

#[async_trait]
impl Reranker for Limited<dyn Reranker> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, LlmError> {
        let pass = self.gate.enter().await;
        let outcome = self.inner.rerank(query, texts).await;
        pass.leave(&outcome);
        outcome
    }
}
