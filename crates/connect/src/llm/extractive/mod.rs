//! The offline model: answers by task from the structured variables of a request, with general
//! linguistics and no network. An honest baseline, deterministic, for 0 tokens.
mod input;
mod lexicon;
mod links;
mod propose;
mod questions;
mod read;
mod select;
mod spans;
mod values;
mod weights;
mod words;

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{ChatReply, ChatRequest, Embedder, Llm, LlmError};

use self::input::variables;
use self::lexicon::Lexicon;

/// A model that needs no network. It knows the tasks `questions`, `propose`, `select` and `read`
/// and refuses all others.
pub struct Extractive {
    lexicon: Lexicon,
    embedder: Option<Arc<dyn Embedder>>,
}

impl Extractive {
    /// With an embedder the choice between candidates also uses their cosine with the question.
    pub fn new(embedder: Option<Arc<dyn Embedder>>) -> Self {
        Self { lexicon: Lexicon::new(), embedder }
    }
}

#[async_trait]
impl Llm for Extractive {
    fn model(&self) -> &'static str {
        "extractive"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let text = match request.task.as_str() {
            "questions" => questions::reply(&variables(request)?),
            "propose" => propose::reply(&self.lexicon, &variables(request)?),
            "select" => {
                let asked: select::Asked = variables(request)?;
                let near = select::nearness(self.embedder.as_deref(), &asked).await?;
                select::reply(&self.lexicon, &asked, &near)
            }
            "read" => read::reply(&self.lexicon, &variables(request)?),
            task => {
                return Err(LlmError::refused(format!(
                    "the offline model cannot do `{task}`, which `{}` asks for; configure a model \
                     under [models] in halma.toml and name it for this prompt's role in [roles]",
                    request.prompt
                )));
            }
        };
        Ok(ChatReply { text, ..ChatReply::default() })
    }
}
