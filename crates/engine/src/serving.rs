//! What only a server needs of an engine: other bases with the same parts, questions of a
//! conversation, budgets of whoever asks, vectors.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use halma_core::{
    Budget, ConfigError, Cx, EmbedRole, Error, LlmError, Meter, Prompt, Setup, Vector, Watcher,
};
use halma_kb::{Base, IndexOptions, IndexReport, Progress};
use halma_models::ping;
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use crate::assemble;
use crate::config::{CONFIG_FILE, Config};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::originals::Originals;
use crate::traces::Traces;

/// Exchanges of a conversation that are looked back at.
const LOOKED_BACK: usize = 8;

/// A question of a conversation with the answer it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    pub question: String,
    pub answer: String,
}

const RESOLVE: Prompt<Resolved> = Prompt::json("chat/resolve");

#[derive(Deserialize)]
struct Resolved {
    question: String,
}

impl Engine {
    /// Opens or makes another base with what this engine has open; only base, cache and traces are
    /// its own.
    pub fn beside(&self, dir: &Path) -> Result<Self, EngineError> {
        Self::of_parts(self.config.clone(), self.parts.clone(), dir, Base::create_or_open)
    }

    /// The same engine under another configuration of prompts, which are read anew.
    pub fn with_prompts_of(&self, config: &Config) -> Result<Self, EngineError> {
        let named = |e| config.named(e);
        let parts = self.parts.with_prompts(config).map_err(named)?;
        let setup = parts.setup(config, &self.base, self.cache.as_ref()).map_err(named)?;
        let (base, cache) = (Arc::clone(&self.base), self.cache.clone());
        let (traces, originals) = (Arc::clone(&self.traces), self.originals.clone());
        let setup = Arc::new(Setup { facts: self.setup.facts.clone(), ..setup });
        let (config, facts_apart) = (config.clone(), self.facts_apart.clone());
        Ok(Self { config, base, setup, cache, parts, facts_apart, traces, originals })
    }

    /// Traces of questions asked before.
    pub fn traces(&self) -> &Arc<Traces> {
        &self.traces
    }

    /// Files uploaded to the base.
    pub fn originals(&self) -> &Originals {
        &self.originals
    }

    /// A context under a budget of its own, inside that of `whole` where one is given.
    pub fn cx_under(
        &self,
        budget: Budget,
        whole: Option<&Arc<Meter>>,
        watcher: Option<Watcher>,
    ) -> Cx {
        let budget = least(self.config.budget.ask, budget);
        let meter = match whole {
            Some(whole) => Meter::within(budget, Arc::clone(whole)),
            None => Meter::new(budget),
        };
        Cx::new(Arc::clone(&self.setup), Arc::new(meter), watcher)
    }

    /// [`Engine::index`] inside the budget of `whole`.
    pub async fn index_within(
        &self,
        inputs: &[PathBuf],
        options: &IndexOptions,
        progress: Progress,
        whole: Arc<Meter>,
    ) -> Result<IndexReport, EngineError> {
        let meter = Arc::new(Meter::within(self.config.budget.index, whole));
        self.index_under(inputs, options, progress, &meter).await
    }

    /// A question of a conversation in words that need none of what was said before. Without
    /// anything said before it is left alone, and nobody is asked.
    pub async fn resolve(
        &self,
        question: &str,
        said: &[Exchange],
        cx: &Cx,
    ) -> Result<String, Error> {
        if said.is_empty() {
            return Ok(question.to_owned());
        }
        let history = &said[said.len().saturating_sub(LOOKED_BACK)..];
        let vars = context! { sub_question => question, history => Serde(history) };
        let resolved = cx.span("conversation").ask(&RESOLVE, vars).await?.question;
        let resolved = resolved.trim();
        Ok(if resolved.is_empty() { question } else { resolved }.to_owned())
    }

    /// Vectors of texts, by the embedder of the base.
    pub async fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EngineError> {
        let Some(embedder) = &self.parts.embedder else {
            return Err(EngineError::Config(ConfigError {
                file: CONFIG_FILE.into(),
                key: "embedder".into(),
                reason: "there is no embedder".into(),
                hint: "configure one under [embedder]".into(),
            }));
        };
        let model = embedder.model().to_owned();
        let vectors = embedder.embed(texts, EmbedRole::Query).await;
        vectors.map_err(|source| EngineError::Run(Error::Llm { model, source }))
    }

    /// Asks a configured model for a word; how long it took, in milliseconds.
    pub async fn try_model(&self, name: &str) -> Result<f64, EngineError> {
        let Some(model) = self.config.models.get(name) else {
            let known: Vec<&str> = self.config.models.keys().map(String::as_str).collect();
            return Err(EngineError::Config(ConfigError {
                file: self.config.file.clone(),
                key: format!("models.{name}"),
                reason: "there is no such model".into(),
                hint: format!("the models are: {}", known.join(", ")),
            }));
        };
        let endpoint = assemble::endpoint(model, &format!("models.{name}"));
        let took = ping(endpoint.map_err(|e| self.config.named(e))?).await;
        let failed =
            |e: LlmError| EngineError::Run(Error::Llm { model: model.model.clone(), source: e });
        Ok(took.map_err(failed)?.as_secs_f64() * 1e3)
    }
}

/// Of each limit the lower one.
fn least(a: Budget, b: Budget) -> Budget {
    fn lower<T: PartialOrd>(a: Option<T>, b: Option<T>) -> Option<T> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if b < a { b } else { a }),
            (a, b) => a.or(b),
        }
    }
    Budget {
        calls: lower(a.calls, b.calls),
        tokens: lower(a.tokens, b.tokens),
        usd: lower(a.usd, b.usd),
        seconds: lower(a.seconds, b.seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_can_lower_a_limit_and_not_raise_it() {
        let ours = Budget { calls: Some(5), usd: Some(0.1), ..Budget::default() };
        let asked = Budget { calls: Some(9), usd: Some(0.01), tokens: Some(7), seconds: None };
        let under = least(ours, asked);
        assert_eq!((under.calls, under.usd, under.tokens), (Some(5), Some(0.01), Some(7)));
        assert_eq!(under.seconds, None);
    }

    #[tokio::test]
    async fn what_points_back_is_named_and_a_first_question_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.embedder.kind = crate::EmbedderKind::None;
        let engine = Engine::create_or_open(config, dir.path()).unwrap();
        let cx = engine.cx_under(Budget::default(), None, None);
        let first = engine.resolve("Who wrote Low Tide?", &[], &cx).await.unwrap();
        assert_eq!((first.as_str(), cx.trace().0.len()), ("Who wrote Low Tide?", 0));
        let said = [Exchange { question: first, answer: "Ann Roe".into() }];
        let next = engine.resolve("Where was she born?", &said, &cx).await.unwrap();
        assert_eq!(next, "Where was Ann Roe born?");
    }
}
