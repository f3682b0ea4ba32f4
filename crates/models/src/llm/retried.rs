//! Passing failures are tried again, with waits that grow; the others are not.
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    ChatReply, ChatRequest, EmbedRole, Embedder, Llm, LlmError, Price, Reranker, Vector,
};
use halma_net::{Patience, persist};

pub(crate) struct Retried<T: ?Sized> {
    patience: Patience,
    inner: Arc<T>,
}

impl<T: ?Sized> Retried<T> {
    pub(crate) fn new(inner: Arc<T>, patience: Patience) -> Self {
        Self { patience, inner }
    }
}

#[async_trait]
impl Llm for Retried<dyn Llm> {
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
        persist(self.patience, || self.inner.chat(request)).await
    }
}

#[async_trait]
impl Embedder for Retried<dyn Embedder> {
    fn model(&self) -> &str {
        self.inner.model()
    }

    async fn embed(&self, texts: &[&str], role: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        persist(self.patience, || self.inner.embed(texts, role)).await
    }
}

#[async_trait]
impl Reranker for Retried<dyn Reranker> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, LlmError> {
        persist(self.patience, || self.inner.rerank(query, texts)).await
    }
}
