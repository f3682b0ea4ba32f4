//! The offline model: answers by task from the structured variables of a request, with general
//! linguistics and no network. An honest baseline, deterministic, for 0 tokens.
mod check;
mod classify;
mod compare;
mod decompose;
mod explain;
mod forecast;
mod gather;
mod input;
mod lexicon;
mod links;
mod lists;
mod operators;
mod queries;
mod questions;
mod read;
mod references;
mod rewrite;
mod select;
mod spans;
mod sql;
mod verbs;
mod weights;
mod words;

use std::sync::Arc;

use async_trait::async_trait;
use halma_core::text::support::TitledText;
use halma_core::{ChatReply, ChatRequest, Llm, LlmError, PassageReader};
use tokio::sync::Semaphore;

use self::input::variables;
use self::lexicon::Lexicon;
use self::read::Reader;
pub use self::read::confidence::AnswerEvidence;

/// A model that needs no network. It knows a fixed list of tasks and refuses all others. Cheap to
/// clone.
#[derive(Clone)]
pub struct Extractive {
    lexicon: Arc<Lexicon>,
    trained: Option<Arc<dyn PassageReader>>,
    /// Replies at a time: more would only take the processor from each other, and from all else.
    at_once: Arc<Semaphore>,
}

impl Extractive {
    /// A model of rules alone.
    pub fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let at_once = Arc::new(Semaphore::new(cores.max(2)));
        Self { lexicon: Arc::new(Lexicon::new()), trained: None, at_once }
    }

    /// The same with a trained reader, by whose scores rules are joined or replaced.
    #[must_use]
    pub fn with(self, reader: Arc<dyn PassageReader>) -> Self {
        Self { trained: Some(reader), ..self }
    }

    /// What supports a short answer in the passages that it rests on. It computes for some tens of
    /// milliseconds and blocks.
    pub fn evidence(
        &self,
        question: &str,
        answer: &str,
        passages: &[TitledText<'_>],
    ) -> AnswerEvidence {
        read::confidence::evidence(
            &self.lexicon,
            self.trained.as_deref(),
            (question, answer),
            passages,
        )
    }

    /// The reply by task; `None` for a task that rules cannot do.
    fn run(&self, request: &ChatRequest) -> Result<Option<String>, LlmError> {
        let words = &*self.lexicon;
        let reader = &Reader { lexicon: words, trained: self.trained.as_deref() };
        Ok(Some(match request.task.as_str() {
            "questions" => questions::reply(&variables(request)?),
            "propose" => queries::propose::reply(words, &variables(request)?),
            "select" => select::reply(words, &variables(request)?),
            "read" => reader.reply(&variables(request)?),
            "decompose" => decompose::reply(words, &variables(request)?),
            "follow_up" => decompose::follow_up::reply(words, &variables(request)?),
            "next_question" => decompose::follow_up::tagged(words, &variables(request)?),
            "rewrite" => rewrite::reply(words, &variables(request)?),
            "keywords" => queries::keywords::reply(reader, &variables(request)?),
            "support" => check::support::reply(reader, &variables(request)?),
            "judge" => return Ok(check::judge::reply(&variables(request)?)),
            "classify" => classify::reply(words, &variables(request)?),
            "compare" => compare::reply(words, &variables(request)?),
            "summarise" => gather::reply(words, &variables(request)?),
            "explain" => explain::reply(&variables(request)?),
            "combine" => gather::combined(words, &variables(request)?),
            "plan" => operators::plan::reply(words, &variables(request)?),
            "sources" => operators::sources::reply(&variables(request)?),
            "operate" => operators::operate::reply(reader, &variables(request)?),
            "conclude" => operators::conclude::reply(words, &variables(request)?),
            "forecast_plan" => forecast::plan::reply(words, &variables(request)?),
            "forecast_sql" => forecast::rows::reply(words, &variables(request)?),
            "forecast_answer" => forecast::plan::answer_reply(&variables(request)?),
            "sql" => sql::reply(words, &variables(request)?),
            _ => return Ok(None),
        }))
    }
}

impl Default for Extractive {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Llm for Extractive {
    fn model(&self) -> &'static str {
        "extractive"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        let stopped = |e: String| LlmError::refused(format!("the offline model stopped: {e}"));
        let permit = Arc::clone(&self.at_once).acquire_owned().await;
        let permit = permit.map_err(|e| stopped(e.to_string()))?;
        // It computes for longer than a thread of the runtime should be held.
        let (model, run) = (self.clone(), request.clone());
        let run = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            model.run(&run)
        });
        let text = run.await.map_err(|e| stopped(e.to_string()))??;
        let text = text.ok_or_else(|| {
            LlmError::refused(format!(
                "the offline model cannot do `{}`, which `{}` asks for; configure a model under \
                 [models] in halma.toml and name it for this prompt's role in [roles]",
                request.task, request.prompt
            ))
        })?;
        Ok(ChatReply { text, ..ChatReply::default() })
    }
}

#[cfg(test)]
mod tests;
