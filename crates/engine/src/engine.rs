//! A running engine: a base, models, prompts, and what can be done with them.
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use halma_core::{
    ConfigError, Cx, Embedder, Entry, Facts, Filter, Hit, Layer, Meter, MinScore, Mode, Outcome,
    PromptInfo, Prompts, Query, Question, Setup, Strategy, Watcher,
};
use halma_kb::{Base, BaseOptions, Deleted, Estimate, IndexOptions, IndexReport, Progress, Stats};
use halma_models::Cache;
use halma_web::{WebSettings, forget_web_searches};
use toml::Table;

use crate::config::Config;
use crate::error::EngineError;
use crate::load::flag_value;
use crate::originals::Originals;
use crate::parts::Parts;
use crate::traces::Traces;
use crate::within::Within;
use crate::{assemble, former, kg, needs};

pub struct Engine {
    pub(crate) config: Config,
    pub(crate) base: Arc<Base>,
    pub(crate) setup: Arc<Setup>,
    pub(crate) cache: Option<Arc<Cache>>,
    pub(crate) parts: Parts,
    /// The graph without what was read out of the documents.
    pub(crate) facts_apart: Option<Arc<dyn Facts>>,
    pub(crate) traces: Arc<Traces>,
    pub(crate) originals: Originals,
}

pub(crate) type OpenBase = fn(&Path, BaseOptions) -> Result<Arc<Base>, halma_kb::KbError>;

/// One answered question.
pub struct Asked {
    pub outcome: Outcome,
    pub elapsed_ms: f64,
}

/// A search as a user asks for it.
pub struct SearchQuery {
    pub text: String,
    pub layer: Layer,
    pub mode: Mode,
    pub limit: usize,
    pub filter: Filter,
}

impl Engine {
    /// Opens the base in `dir` for questions.
    pub fn open(config: Config, dir: &Path) -> Result<Self, EngineError> {
        Self::put_together(config, dir, Base::open)
    }

    /// Opens the base in `dir`, or makes one there.
    pub fn create_or_open(config: Config, dir: &Path) -> Result<Self, EngineError> {
        Self::put_together(config, dir, Base::create_or_open)
    }

    fn put_together(config: Config, dir: &Path, open: OpenBase) -> Result<Self, EngineError> {
        // Figures are described when a model is named for it.
        let mut config = config;
        config.kb.describe_figures |= config.roles.contains_key("vision");
        let parts = Parts::new(&config).map_err(|e| config.named(e))?;
        Self::of_parts(config, parts, dir, open)
    }

    pub(crate) fn of_parts(
        config: Config,
        parts: Parts,
        dir: &Path,
        open: OpenBase,
    ) -> Result<Self, EngineError> {
        let embedder = parts.embedder.clone();
        let name = embedder.as_ref().map(|embedder| embedder.model().to_owned());
        let thresholds = assemble::thresholds(&config.embedder, name.as_deref());
        let (search, graph) = (config.kb.search, config.kb.graph);
        let former = former::former(dir, name.as_deref())?;
        let origin = former::origin(&config.embedder);
        let base = open(dir, BaseOptions { embedder, origin, former, thresholds, search, graph })?;
        let cache = if config.models.is_empty() {
            None
        } else {
            let cache = Cache::open(&base.cache_dir());
            Some(cache.map_err(|e| EngineError::Cache(Box::new(e)))?)
        };
        let setup = parts.setup(&config, &base, cache.as_ref()).map_err(|e| config.named(e))?;
        let facts = kg::facts(&config, &base)?;
        let setup = Arc::new(Setup { facts: facts.all, ..setup });
        let facts_apart = facts.apart;
        let traces = Arc::new(Traces::of(dir, config.serve.keep_traces));
        let originals = Originals::of(dir);
        Ok(Self { config, base, setup, cache, parts, facts_apart, traces, originals })
    }

    /// What the user should know before anything else: a missing embedder.
    pub fn warnings(&self) -> &[String] {
        &self.parts.warnings
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The embedder in use, by name.
    pub fn embedder(&self) -> Option<&str> {
        self.parts.embedder.as_ref().map(|embedder| embedder.model())
    }

    /// The embedder itself, for whoever compares other texts than the base's.
    pub fn embedding(&self) -> Option<Arc<dyn Embedder>> {
        self.parts.embedder.clone()
    }

    pub fn stats(&self) -> Result<Stats, EngineError> {
        Ok(self.base.inspector().stats()?)
    }

    /// The base itself, to look into.
    pub fn base(&self) -> &Arc<Base> {
        &self.base
    }

    /// The knowledge graph, where there is one.
    pub fn facts(&self) -> Option<&dyn Facts> {
        self.setup.facts.as_deref()
    }

    /// Brings the base up to what the inputs hold, under the budget for indexing.
    pub async fn index(
        &self,
        inputs: &[PathBuf],
        options: &IndexOptions,
        progress: Progress,
    ) -> Result<IndexReport, EngineError> {
        let meter = Arc::new(Meter::new(self.config.budget.index));
        self.index_under(inputs, options, progress, &meter).await
    }

    pub(crate) async fn index_under(
        &self,
        inputs: &[PathBuf],
        options: &IndexOptions,
        progress: Progress,
        meter: &Arc<Meter>,
    ) -> Result<IndexReport, EngineError> {
        let kb = &self.config.kb;
        let report =
            halma_kb::index(&self.base, inputs, options, kb, &self.setup, meter, progress).await?;
        self.forget(&report.documents_removed)?;
        Ok(report)
    }

    /// What [`Engine::index`] would come to; nothing is spent and nothing stored.
    pub async fn estimate(
        &self,
        inputs: &[PathBuf],
        options: &IndexOptions,
    ) -> Result<Estimate, EngineError> {
        let kb = &self.config.kb;
        Ok(halma_kb::estimate(&self.base, inputs, options, kb, &self.setup).await?)
    }

    /// Removes documents (by name, id or glob) with every trace of them: kept replies, traces of
    /// questions and uploaded originals included.
    pub fn delete(&self, documents: &[String]) -> Result<Deleted, EngineError> {
        let deleted = self.base.delete(documents)?;
        self.forget(&deleted.names)?;
        let dir = self.originals.dir();
        self.originals.remove(&deleted.names).map_err(|e| EngineError::file(dir, e))?;
        Ok(deleted)
    }

    /// Forgets the kept replies and traces that may quote these documents, also where no model is
    /// configured any more that could have given them; and all searches of the web, since it is
    /// not known which of their queries were made from a document.
    pub(crate) fn forget(&self, documents: &[String]) -> Result<(), EngineError> {
        if documents.is_empty() {
            return Ok(());
        }
        let dir = self.originals.dir().with_file_name("traces");
        self.traces.forget(documents).map_err(|e| EngineError::file(&dir, e))?;
        let dir = self.base.cache_dir();
        forget_web_searches(&assemble::web_folder(&dir))?;
        let failed = |e| EngineError::Cache(Box::new(e));
        let cache = match &self.cache {
            Some(cache) => Arc::clone(cache),
            None if dir.join("data.mdb").exists() || dir.join("replies").exists() => {
                Cache::open(&dir).map_err(failed)?
            }
            None => return Ok(()),
        };
        cache.forget(documents).map_err(failed)?;
        Ok(())
    }

    /// A fresh context under the budget for one question.
    pub fn cx(&self, watcher: Option<Watcher>) -> Cx {
        let meter = Arc::new(Meter::new(self.config.budget.ask));
        Cx::new(Arc::clone(&self.setup), meter, watcher)
    }

    /// The same inside the budget of a whole evaluation; over some documents only, where names
    /// are given.
    pub fn cx_within(&self, whole: &Arc<Meter>, documents: Option<BTreeSet<String>>) -> Cx {
        let meter = Arc::new(Meter::within(self.config.budget.ask, Arc::clone(whole)));
        let Some(documents) = documents else {
            return Cx::new(Arc::clone(&self.setup), meter, None);
        };
        let base = Arc::clone(&self.setup.knowledge);
        let knowledge = Arc::new(Within::new(base, documents));
        // What was read out of the other documents must not be seen through the graph.
        let facts = self.facts_apart.clone();
        Cx::new(Arc::new(Setup { knowledge, facts, ..Setup::clone(&self.setup) }), meter, None)
    }

    /// The model that plays a role, by name.
    pub fn model(&self, role: &str) -> &str {
        self.setup.models.for_role(role).model()
    }

    /// A strategy with its table of the configuration. One that needs what is not configured is
    /// refused.
    pub fn strategy(&self, name: &str) -> Result<Arc<dyn Strategy>, ConfigError> {
        let entry = entry(name)?;
        needs::check(entry, &self.setup, &self.config).map_err(|e| self.config.named(e))?;
        let table = self.config.strategy.get(name).cloned().unwrap_or_default();
        build(entry, table)
    }

    /// The same with some of its settings changed, as `--set` would.
    pub fn strategy_with(
        &self,
        name: &str,
        settings: &BTreeMap<String, String>,
    ) -> Result<Arc<dyn Strategy>, ConfigError> {
        let entry = entry(name)?;
        needs::check(entry, &self.setup, &self.config).map_err(|e| self.config.named(e))?;
        let mut table = self.config.strategy.get(name).cloned().unwrap_or_default();
        for (key, value) in settings {
            table.insert(key.clone(), flag_value(value));
        }
        build(entry, table)
    }

    /// Runs one question to its end. A question that is empty or far too long is refused.
    pub async fn ask(
        &self,
        question: &Question,
        strategy: &dyn Strategy,
        watcher: Option<Watcher>,
    ) -> Result<Asked, EngineError> {
        self.accept(&question.text)?;
        let began = Instant::now();
        let outcome = Outcome::run(strategy, question, &self.cx(watcher)).await;
        Ok(Asked { outcome, elapsed_ms: began.elapsed().as_secs_f64() * 1e3 })
    }

    /// Refuses a question that is empty or far too long.
    pub fn accept(&self, question: &str) -> Result<(), ConfigError> {
        let fail = |reason: String, hint: &str| {
            Err(ConfigError {
                file: "the question".into(),
                key: "question".into(),
                reason,
                hint: hint.into(),
            })
        };
        let most = self.config.ask.max_question_chars;
        if question.trim().is_empty() {
            return fail("it is empty".into(), "write what you want to know");
        }
        match question.chars().count() {
            long if long > most => fail(
                format!("it is {long} characters long; the limit is {most}"),
                "index long texts with `halma index` and ask about them, or raise \
                 `ask.max_question_chars`",
            ),
            _ => Ok(()),
        }
    }

    pub async fn search(&self, query: SearchQuery) -> Result<Vec<Hit>, EngineError> {
        let query = Query {
            texts: vec![query.text],
            layer: query.layer,
            mode: query.mode,
            limit: query.limit,
            min_score: MinScore::Any,
            exclude: vec![],
            filter: query.filter,
        };
        let lists = self.setup.knowledge.search(&query).await;
        let lists = lists.map_err(halma_core::Error::Knowledge)?;
        Ok(lists.into_iter().flatten().collect())
    }

    /// Names the base's content and how it is searched.
    pub fn base_fingerprint(&self) -> Result<String, EngineError> {
        let embedder = self.embedder().unwrap_or("none");
        Ok(format!("{} {embedder}", self.base.inspector().stats()?.fingerprint))
    }

    pub fn prompts(&self) -> &Prompts {
        &self.setup.prompts
    }

    /// Names everything that an answer depends on: settings, words, models, base. Results under
    /// different fingerprints are not to be mixed.
    pub fn fingerprint(&self, strategy: &dyn Strategy) -> Result<String, EngineError> {
        let words = self.words(|name| !name.starts_with(JUDGES));
        let roles = crate::ROLES.iter().filter(|role| **role != "judge");
        let models: Vec<&str> = roles.map(|role| self.model(role)).collect();
        Ok(serde_json::json!({
            "strategy": strategy.name(),
            "settings": strategy.settings(),
            "prompts": words,
            "models": models,
            "reranker": self.setup.reranker.as_ref().map(|reranker| reranker.name()),
            "tagger": self.setup.tagger_name(),
            "thresholds": [self.config.embedder.chunk_threshold, self.config.embedder.atom_threshold],
            "search": self.config.kb.search,
            "graph": self.config.kb.graph,
            "web": self.config.sources.web.as_ref().map(WebSettings::identity),
            "kg": kg::fingerprint(self)?,
            "budget": self.config.budget.ask,
            "base": self.base_fingerprint()?,
        })
        .to_string())
    }

    /// Names everything that a judge's ruling depends on: its words and its model.
    pub fn judge_fingerprint(&self) -> String {
        let words = self.words(|name| name.starts_with(JUDGES));
        serde_json::json!({ "prompts": words, "model": self.model("judge") }).to_string()
    }

    fn words(&self, of: impl Fn(&str) -> bool) -> Vec<String> {
        let all = self.prompts().list().into_iter();
        all.filter(|info| of(&info.name)).map(|info| info.hash).collect()
    }
}

/// What the names of the prompts begin with that judge answers, and give none.
const JUDGES: &str = "judge/";

/// The prompts as configured, without a base.
pub fn list_prompts(config: &Config) -> Result<Vec<PromptInfo>, ConfigError> {
    Ok(assemble::prompts(config).map_err(|e| config.named(e))?.list())
}

pub(crate) fn entry(name: &str) -> Result<&'static Entry, ConfigError> {
    crate::strategies().iter().find(|entry| entry.name == name).ok_or_else(|| {
        let known: Vec<&str> = crate::strategies().iter().map(|entry| entry.name).collect();
        ConfigError {
            file: "--strategy".into(),
            key: name.into(),
            reason: "there is no such strategy".into(),
            hint: format!("use one of: {}", known.join(", ")),
        }
    })
}

pub(crate) fn build(entry: &Entry, table: Table) -> Result<Arc<dyn Strategy>, ConfigError> {
    (entry.build)(table).map_err(|reason| ConfigError {
        file: "halma.toml or --set".into(),
        key: format!("strategy.{}", entry.name),
        reason,
        hint: format!("docs/strategies/{}.md lists its settings", entry.name),
    })
}
