//! A running engine: a knowledge base, models, prompts, and what can be done with them.
mod ask;
mod context;
mod conversation;
mod documents;
mod effort;
mod evaluation;
mod fingerprint;
mod knowledge_graph;
mod models;
mod off_runtime;
mod request;
mod run_knowledge;
mod search;
mod strategy;
mod view;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use halma_core::{Embedder, Facts, Layer, Prompts, Setup};
use halma_kb::{Base, BaseOptions};
use halma_models::Cache;

pub use self::ask::{AskResult, Asking};
pub use self::context::ContextOptions;
pub use self::documents::IndexRun;
pub use self::effort::Effort;
pub(crate) use self::effort::ExpectedUse;
pub use self::knowledge_graph::KgShown;
pub(crate) use self::off_runtime::OffRuntime;
pub use self::request::{AskRequest, DEFAULT_LIMIT, OnFinish, SearchRequest, Turn};
pub use self::strategy::configured_strategy;
pub(crate) use self::strategy::{build, check_tables};
use self::view::Views;
use crate::assemble;
use crate::assemble::previous_embedder;
use crate::assemble::resources::SharedResources;
use crate::config::Config;
use crate::error::EngineError;
use crate::shared::{self, OpenedBase, Opening, Place, SharedSpace};
use crate::storage::originals::Originals;
use crate::storage::state::BaseState;
use crate::storage::traces::{Retention, TraceStore};

/// How large a base is.
#[derive(Debug, Clone, Default)]
pub struct BaseSize {
    /// Nodes of every layer, also of empty ones.
    pub layers: BTreeMap<Layer, u64>,
    pub bytes_on_disk: u64,
    /// Replies of models in the cache; 0 without a model.
    pub cached_replies: u64,
}

pub struct Engine {
    config: Config,
    place: Place,
    base: Arc<Base>,
    state: BaseState,
    setup: Arc<Setup>,
    cache: Option<Arc<Cache>>,
    resources: SharedResources,
    /// The knowledge graph without the facts that were extracted from the documents.
    independent_facts: Option<Arc<dyn Facts>>,
    traces: Arc<TraceStore>,
    originals: Originals,
    views: Views,
}

impl Engine {
    /// Opens a base for questions: that in a folder, or that at an address
    /// (`postgres://user@host/db?workspace=NAME&keys=DIR`).
    pub fn open(config: Config, kb: &Path) -> Result<Self, EngineError> {
        Self::assemble(config, &Place::new(kb)?, Opening::Existing)
    }

    /// Opens a base as [`Engine::open`] does, or creates it.
    pub fn create_or_open(config: Config, kb: &Path) -> Result<Self, EngineError> {
        Self::create_or_open_at(config, &Place::new(kb)?)
    }

    /// Opens the base of a place as [`Engine::open`] does, or creates it.
    pub fn create_or_open_at(config: Config, place: &Place) -> Result<Self, EngineError> {
        Self::assemble(config, place, Opening::Any)
    }

    /// Opens or creates another base with this engine's configuration and shared resources: in
    /// `dir`, or, if this one is shared, in the same database as the workspace of that name.
    pub fn open_sibling(&self, dir: &Path) -> Result<Self, EngineError> {
        let (config, resources) = (self.config.clone(), self.resources.clone());
        Self::with_resources(config, resources, &self.place.sibling(dir), Opening::Any)
    }

    /// Removes what [`Engine::open_sibling`] of this folder has in the database, and overwrites its
    /// keys. Nothing if this base is not shared. Blocks the thread.
    pub fn erase_sibling(&self, dir: &Path) -> Result<(), EngineError> {
        self.place.sibling(dir).erase()
    }

    fn assemble(mut config: Config, place: &Place, opening: Opening) -> Result<Self, EngineError> {
        // Figures are described when a model is named for it.
        config.kb.describe_figures |= config.roles.contains_key("vision");
        check_tables(&config)?;
        let resources = SharedResources::open(&config).map_err(|e| config.named(e))?;
        Self::with_resources(config, resources, place, opening)
    }

    fn with_resources(
        config: Config,
        resources: SharedResources,
        place: &Place,
        opening: Opening,
    ) -> Result<Self, EngineError> {
        let embedder = resources.embedder.clone();
        let name = embedder.as_ref().map(|embedder| embedder.model().to_owned());
        let thresholds = assemble::thresholds(&config.embedder, name.as_deref());
        let (search, graph) = (config.kb.search, config.kb.graph);
        let dir = place.folder();
        let former = previous_embedder::open(place, name.as_deref())?;
        let origin = previous_embedder::origin(&config.embedder);
        let workers = resources.workers.clone();
        let feedback = config.feedback;
        let options =
            BaseOptions { embedder, origin, former, thresholds, search, graph, feedback, workers };
        let OpenedBase { base, shared } = shared::open(place, opening, options)?;
        let cache = if config.models.is_empty() {
            None
        } else {
            let cache = Cache::open_limited(&base.cache_dir(), config.cache.max_bytes);
            Some(cache.map_err(|e| EngineError::Cache(Box::new(e)))?)
        };
        documents::quotes::forget_what_others_remove(&base, cache.as_ref());
        let setup = resources.setup(&config, &base, cache.as_ref()).map_err(|e| config.named(e))?;
        let facts = knowledge_graph::facts(&config, &base)?;
        let setup = Arc::new(Setup { facts: facts.all, ..setup });
        let independent_facts = facts.apart;
        let retention = Retention::of(&config.serve);
        let state = shared.map_or_else(|| BaseState::of_folder(dir), BaseState::Shared);
        let traces = Arc::new(TraceStore::new(dir, &state, retention)?);
        // Every machine opens and builds what was uploaded to any of them.
        let files = state.space().and_then(SharedSpace::folder).unwrap_or(dir);
        let originals = Originals::new(files);
        let views = Views::default();
        Ok(Self {
            config,
            place: place.clone(),
            base,
            state,
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
        check_tables(config)?;
        let resources = self.resources.with_prompts(config).map_err(named)?;
        let setup = resources.setup(config, &self.base, self.cache.as_ref()).map_err(named)?;
        let setup = Setup { facts: self.setup.facts.clone(), ..setup };
        let (config, independent_facts) = (config.clone(), self.independent_facts.clone());
        let same = self.with(Arc::clone(&self.base), setup, Views::default());
        Ok(Self { config, resources, independent_facts, ..same })
    }

    /// What waits up to a time until nothing uses the files of the base any more, such as a call that
    /// was begun, and says whether that is so. It does not use them itself.
    pub fn closing(&self) -> impl Fn(Duration) -> bool + Send + Sync + use<> {
        let base = self.base.closing();
        let cache = self.cache.as_ref().map(|cache| cache.closing());
        move |within| base(within) && cache.as_ref().is_none_or(|cache| cache(within))
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

    /// The folder of the base, or of its replica on this machine.
    pub fn folder(&self) -> &Path {
        self.place.folder()
    }

    /// The workspace in a database that the base is shared in, if it is.
    pub fn shared(&self) -> Option<&SharedSpace> {
        self.state.space()
    }

    /// What the base keeps in addition to its documents.
    pub fn state(&self) -> &BaseState {
        &self.state
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

    /// How large the base is, in a time that does not grow with it.
    pub fn base_size(&self) -> Result<BaseSize, EngineError> {
        let sizes = self.base.inspector().sizes()?;
        let cached_replies = match &self.cache {
            Some(cache) => cache.entries().map_err(|e| EngineError::Cache(Box::new(e)))?,
            None => 0,
        };
        Ok(BaseSize { layers: sizes.layers, bytes_on_disk: sizes.bytes_on_disk, cached_replies })
    }
}
