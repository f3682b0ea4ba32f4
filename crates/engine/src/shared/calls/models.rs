//! A model and an embedder whose calls any worker may do.
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{ChatReply, ChatRequest, EmbedRole, Embedder, Llm, LlmError, Price, Vector};

use super::asker::Asker;
use super::message::{Call, ChatCall, EmbedCall, Output};

/// A model as it is configured here, asked wherever a worker has it.
pub(crate) struct SharedLlm {
    pub(crate) local: Arc<dyn Llm>,
    pub(crate) asker: Asker,
}

#[async_trait]
impl Llm for SharedLlm {
    fn model(&self) -> &str {
        self.local.model()
    }

    fn price(&self) -> Price {
        self.local.price()
    }

    fn logprobs(&self) -> bool {
        self.local.logprobs()
    }

    fn thinking_tokens(&self) -> u32 {
        self.local.thinking_tokens()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let call = Call::Chat(ChatCall::new(self.model(), request));
        let answer = self.asker.ask(&call, &request.about).await?;
        match answer.output {
            Output::Chat(reply) if answer.was_there => Ok(ChatReply { cached: true, ..reply }),
            Output::Chat(reply) => Ok(reply),
            Output::Vectors(_) => Err(LlmError::transient("a worker has answered with vectors")),
        }
    }
}

/// An embedder as it is configured here, asked wherever a worker has it.
pub(crate) struct SharedEmbedder {
    pub(crate) local: Arc<dyn Embedder>,
    pub(crate) asker: Asker,
}

#[async_trait]
impl Embedder for SharedEmbedder {
    fn model(&self) -> &str {
        self.local.model()
    }

    async fn embed(&self, texts: &[&str], role: EmbedRole) -> Result<Vec<Vector>, LlmError> {
        self.embed_about(texts, role, &[]).await
    }

    async fn embed_about(
        &self,
        texts: &[&str],
        role: EmbedRole,
        about: &[String],
    ) -> Result<Vec<Vector>, LlmError> {
        let call = Call::Embed(EmbedCall::new(self.model(), texts, role));
        match self.asker.ask(&call, about).await?.output {
            Output::Vectors(vectors) if vectors.len() == texts.len() => Ok(vectors),
            Output::Vectors(vectors) => {
                let (found, texts) = (vectors.len(), texts.len());
                let reason =
                    format!("a worker has answered with {found} vectors for {texts} texts");
                Err(LlmError::transient(reason))
            }
            Output::Chat(_) => Err(LlmError::transient("a worker has answered with a text")),
        }
    }
}
