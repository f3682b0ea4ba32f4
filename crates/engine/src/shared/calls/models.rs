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

    fn discard(&self, request: &ChatRequest) {
        self.asker.discard(&Call::Chat(ChatCall::new(self.model(), request)), &request.about);
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
                let (received, expected) = (vectors.len(), texts.len());
                let reason =
                    format!("a worker has answered with {received} vectors for {expected} texts");
                Err(LlmError::transient(reason))
            }
            Output::Chat(_) => Err(LlmError::transient("a worker has answered with a text")),
        }
    }
}

#[cfg(test)]
mod tests {
    use halma_core::Message;
    use halma_store::pg::{Address, Done};
    use halma_testkit::{Postgres, Script};

    use super::*;
    use crate::shared::SharedSpace;
    use crate::shared::calls::Ledger;
    use crate::shared::calls::message::CallKind;

    fn request(text: &str) -> ChatRequest {
        ChatRequest {
            prompt: "test/ask".into(),
            task: "questions".into(),
            variables: minijinja::Value::UNDEFINED,
            messages: vec![Message { role: "user".into(), text: text.into() }],
            schema: None,
            stop: vec![],
            max_tokens: 100,
            temperature: 0.0,
            logprobs: false,
            about: vec!["a.md".into()],
            images: vec![],
            stream: None,
        }
    }

    /// Does all calls of a model, and counts its replies.
    async fn work(ledger: Ledger, kind: CallKind) {
        let mut number = 0;
        loop {
            let calls = ledger.calls();
            for call in calls.take("worker", &[kind.0], 1).await.unwrap() {
                number += 1;
                let text = format!("reply {number}");
                let reply = Output::Chat(ChatReply { text, ..ChatReply::default() });
                let output = ledger.seal_output(&call.about, &reply);
                let done = Done { id: call.id, fence: call.fence, output };
                calls.complete(&[done]).await.unwrap();
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }

    #[test]
    fn a_reply_that_was_discarded_is_asked_for_again_and_others_stay_in_the_ledger() {
        let Some(server) = Postgres::find() else { return };
        let keys = tempfile::tempdir().unwrap();
        let space = SharedSpace::connect(&Address::parse(&server.database()).unwrap()).unwrap();
        let ledger = Ledger::open(&space, keys.path()).unwrap();
        let local = Script::new([]) as Arc<dyn Llm>;
        space.start(work(ledger.clone(), CallKind::of_chat(local.model())));
        let model = SharedLlm { local, asker: Asker::start(&ledger) };
        let replies = space.wait(async move {
            let mut replies = vec![];
            for text in ["first", "second", "first", "discard", "first", "second"] {
                if text == "discard" {
                    model.discard(&request("first"));
                    model.asker.flush().await;
                    continue;
                }
                let reply = model.chat(&request(text)).await.unwrap();
                replies.push((reply.text, reply.cached));
            }
            replies
        });
        let replies: Vec<(&str, bool)> =
            replies.iter().map(|(text, cached)| (text.as_str(), *cached)).collect();
        assert_eq!(
            replies,
            [
                ("reply 1", false),
                ("reply 2", false),
                ("reply 1", true),
                ("reply 3", false),
                ("reply 2", true)
            ]
        );
    }
}
