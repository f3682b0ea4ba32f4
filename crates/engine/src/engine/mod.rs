//! A running engine: a knowledge base, models, prompts, and what can be done with them.
mod ask;
mod context;
mod conversation;
mod documents;
mod evaluation;
mod fingerprint;
mod knowledge_graph;
mod models;
mod off_runtime;
mod search;
mod size;
mod strategy;
mod view;

use std::path::Path;
use std::sync::Arc;

use halma_core::{Embedder, Facts, Prompts, Setup};
use halma_kb::{Base, BaseOptions};
use halma_models::Cache;

pub use self::ask::{AskRequest, AskResult, Asking, OnFinish};
pub use self::context::ContextOptions;
pub use self::conversation::Exchange;
pub use self::knowledge_graph::KgShown;
pub(crate) use self::off_runtime::OffRuntime;
pub use self::search::SearchQuery;
pub use self::size::BaseSize;
pub(crate) use self::strategy::build;
use self::view::Views;
use crate::assemble;
use crate::assemble::previous_embedder;
use crate::assemble::resources::SharedResources;
use crate::config::Config;
use crate::error::EngineError;
use crate::storage::originals::Originals;
use crate::storage::traces::TraceStore;

pub struct Engine {
    config: Config,
    base: Arc<Base>,
    setup: Arc<Setup>,
    cache: Option<Arc<Cache>>,
    resources: SharedResources,
    /// The knowledge graph without the facts that were extracted from the documents.
    independent_facts: Option<Arc<dyn Facts>>,
    traces: Arc<TraceStore>,
    originals: Originals,
    views: Views,
}

type OpenBase = fn(&Path, BaseOptions) -> Result<Arc<Base>, halma_kb::KbError>;

impl Engine {
    /// Opens the base in `dir` for questions.
    pub fn open(config: Config, dir: &Path) -> Result<Self, EngineError> {
        Self::assemble(config, dir, Base::open)
    }

    /// Opens the base in `dir`, or creates one there.
    pub fn create_or_open(config: Config, dir: &Path) -> Result<Self, EngineError> {
        Self::assemble(config, dir, Base::create_or_open)
    }

    /// Opens or creates another base with this engine's configuration and shared resources.
    pub fn open_sibling(&self, dir: &Path) -> Result<Self, EngineError> {
        let (config, resources) = (self.config.clone(), self.resources.clone());
        Self::with_resources(config, resources, dir, Base::create_or_open)
    }

    fn assemble(mut config: Config, dir: &Path, open: OpenBase) -> Result<Self, EngineError> {
        // Figures are described when a model is named for it.
        config.kb.describe_figures |= config.roles.contains_key("vision");
        strategy::check_tables(&config)?;
        let resources = SharedResources::open(&config).map_err(|e| config.named(e))?;
        Self::with_resources(config, resources, dir, open)
    }

    fn with_resources(
        config: Config,
        resources: SharedResources,
        dir: &Path,
        open: OpenBase,
    ) -> Result<Self, EngineError> {
        let embedder = resources.embedder.clone();
        let name = embedder.as_ref().map(|embedder| embedder.model().to_owned());
        let thresholds = assemble::thresholds(&config.embedder, name.as_deref());
        let (search, graph) = (config.kb.search, config.kb.graph);
        let former = previous_embedder::open(dir, name.as_deref())?;
        let origin = previous_embedder::origin(&config.embedder);
        let workers = resources.workers.clone();
        let feedback = config.feedback;
        let options =
            BaseOptions { embedder, origin, former, thresholds, search, graph, feedback, workers };
        let base = open(dir, options)?;
        let cache = if config.models.is_empty() {
            None
        } else {
            let cache = Cache::open(&base.cache_dir());
            Some(cache.map_err(|e| EngineError::Cache(Box::new(e)))?)
        };
        let setup = resources.setup(&config, &base, cache.as_ref()).map_err(|e| config.named(e))?;
        let facts = knowledge_graph::facts(&config, &base)?;
        let setup = Arc::new(Setup { facts: facts.all, ..setup });
        let independent_facts = facts.apart;
        let traces = Arc::new(TraceStore::new(dir, config.serve.keep_traces));
        let originals = Originals::new(dir);
        let views = Views::default();
        Ok(Self {
            config,
            base,
            setup,
            cache,
            resources,
            independent_facts,
            traces,
            originals,
            views,
        })
    }

    /// The same engine with another configuration of prompts, which are read again.
    pub fn with_prompts(&self, config: &Config) -> Result<Self, EngineError> {
        let named = |e| config.named(e);
        strategy::check_tables(config)?;
        let resources = self.resources.with_prompts(config).map_err(named)?;
        let setup = resources.setup(config, &self.base, self.cache.as_ref()).map_err(named)?;
        Ok(Self {
            config: config.clone(),
            base: Arc::clone(&self.base),
            setup: Arc::new(Setup { facts: self.setup.facts.clone(), ..setup }),
            cache: self.cache.clone(),
            resources,
            independent_facts: self.independent_facts.clone(),
            traces: Arc::clone(&self.traces),
            originals: self.originals.clone(),
            views: Views::default(),
        })
    }

    /// What the user should know first, such as that there is no embedder.
    pub fn warnings(&self) -> &[String] {
        &self.resources.warnings
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The knowledge base itself, for inspection.
    pub fn base(&self) -> &Arc<Base> {
        &self.base
    }

    pub fn embedder(&self) -> Option<&Arc<dyn Embedder>> {
        self.resources.embedder.as_ref()
    }

    /// The knowledge graph, if there is one.
    pub fn facts(&self) -> Option<&dyn Facts> {
        self.setup.facts.as_deref()
    }

    pub fn prompts(&self) -> &Prompts {
        &self.setup.prompts
    }

    /// Traces of answered questions.
    pub fn traces(&self) -> &Arc<TraceStore> {
        &self.traces
    }

    /// Files uploaded to the base.
    pub fn originals(&self) -> &Originals {
        &self.originals
    }
}
