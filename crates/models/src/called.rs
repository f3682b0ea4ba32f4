//! Models behind the call policy of their server.
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    ChatReply, ChatRequest, EmbedRole, Embedder, Llm, LlmError, Price, Reranker, Vector,
};
use halma_net::CallPolicy;

/// A model whose calls pass a gate and are retried.
pub(crate) struct Called<T: ?Sized> {
    pub(crate) policy: CallPolicy,
    pub(crate) inner: Arc<T>,
}

#[async_trait]
impl Llm for Called<dyn Llm> {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn price(&self) -> Price {
        self.inner.price()
    }

    fn logprobs(&self) -> bool {
        self.inner.logprobs()
    }

    fn thinking_tokens(&self) -> u32 {
        self.inner.thinking_tokens()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        self.policy.call(|| self.inner.chat(request)).await
    }

    fn discard(&self, request: &ChatRequest) {
        self.inner.discard(request);
    }
}

#[async_trait]
impl Embedder for Called<dyn Embedder> {
    fn model(&self) -> &str {
        self.inner.model()
    }

    async fn embed(&self, texts: &[&str], role: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        self.policy.call(|| self.inner.embed(texts, role)).await
    }
}

#[async_trait]
impl Reranker for Called<dyn Reranker> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, LlmError> {
        self.policy.call(|| self.inner.rerank(query, texts)).await
    }
}
