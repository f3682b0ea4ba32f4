//! The knowledge graph of a base: graphs that were loaded, facts that were extracted from its
//! documents, or a SPARQL endpoint.
use std::path::Path;
use std::sync::Arc;

use halma_core::{ConfigError, Facts, Knowledge};
use halma_kb::Base;
use halma_sources::kg::{
    GraphLoader, KgAccess, KgFacts, KgFigures, KgGraph, KgGraphs, KgKind, KgLoad, KgLoaded,
    KgParts, KgSettings, kb_facts,
};
use serde::Serialize;

use super::Engine;
use crate::assemble;
use crate::config::{Config, key_error};
use crate::error::EngineError;

/// What `halma kg show` prints.
#[derive(Debug, Serialize)]
pub struct KgShown {
    /// What questions are answered from, in one line; `None` without a graph.
    pub source: Option<String>,
    pub graphs: Vec<KgGraph>,
    /// `None` when nothing is loaded.
    pub loaded: Option<KgFigures>,
    /// Facts that were extracted from the documents.
    pub base_facts: u64,
}

/// Names the graph that questions are answered from; empty without a graph.
pub(super) fn fingerprint(engine: &Engine) -> Result<String, EngineError> {
    if engine.facts().is_none() {
        return Ok(String::new());
    }
    let settings = &engine.config().kg;
    let loaded = graphs(engine.config(), engine.base()).fingerprint()?;
    let extracted = engine.base().inspector().count_facts()?;
    let KgSettings { kind, url, profile, about, .. } = settings;
    Ok(serde_json::json!([kind, url, profile, about, loaded, extracted]).to_string())
}

fn graphs(config: &Config, base: &Base) -> KgGraphs {
    KgGraphs::at(base.kg_dir(), &config.kg.language)
}

/// The graph as configured.
pub(super) fn facts(config: &Config, base: &Arc<Base>) -> Result<KgFacts, EngineError> {
    let settings = &config.kg;
    let key = match settings.kind {
        KgKind::Sparql => assemble::key_of(&settings.key_env, "kg").map_err(|e| config.named(e))?,
        _ => None,
    };
    let base_has_facts = base.inspector().count_facts()? > 0;
    let knowledge: Arc<dyn Knowledge> = Arc::clone(base) as Arc<dyn Knowledge>;
    let graphs = graphs(config, base);
    let extracted = kb_facts(knowledge, loader(Arc::clone(base)));
    let contact = config.sources.contact.clone();
    let folder = assemble::kg_folder(&base.cache_dir());
    let access = KgAccess { key, contact, folder };
    let parts = KgParts { access, graphs: &graphs, base: extracted, base_has_facts };
    let made = halma_sources::kg::facts(settings, parts);
    made.map_err(|e| config.named(assemble::at(e, "kg")).into())
}

/// The graph for a view of some documents: their facts, and an endpoint, which has nothing of any
/// document. Graphs that were loaded belong to no document and are not there.
pub(super) fn facts_of_documents(
    engine: &Engine,
    base: &Arc<Base>,
) -> Result<Option<Arc<dyn Facts>>, EngineError> {
    match engine.config().kg.kind {
        KgKind::None | KgKind::Loaded => Ok(None),
        KgKind::Sparql => Ok(facts(engine.config(), base)?.all),
        KgKind::Auto if engine.facts().is_none() => Ok(None),
        KgKind::Base | KgKind::Auto => {
            let knowledge: Arc<dyn Knowledge> = Arc::clone(base) as Arc<dyn Knowledge>;
            Ok(Some(kb_facts(knowledge, loader(Arc::clone(base)))))
        }
    }
}

fn loader(base: Arc<Base>) -> GraphLoader {
    Arc::new(move |version| Ok(base.inspector().facts(version)?))
}

impl Engine {
    /// Loads a file of facts in addition to the documents of the base.
    pub fn load_kg(&self, file: &Path, how: &KgLoad) -> Result<KgLoaded, EngineError> {
        let loaded = graphs(self.config(), self.base()).load(file, how)?;
        if loaded.removed > 0 {
            self.forget(&[format!("kg:{}", loaded.graph)])?;
        }
        Ok(loaded)
    }

    /// Removes one loaded graph, or all, with the cached replies that may quote them. Returns their
    /// names.
    pub fn unload_kg(&self, graph: Option<&str>) -> Result<Vec<String>, EngineError> {
        let removed = graphs(self.config(), self.base()).unload(graph)?;
        let documents: Vec<String> = removed.iter().map(|graph| format!("kg:{graph}")).collect();
        self.forget(&documents)?;
        Ok(removed)
    }

    pub fn show_kg(&self) -> Result<KgShown, EngineError> {
        let graphs = graphs(self.config(), self.base());
        let loaded = if graphs.is_empty() { None } else { Some(graphs.figures()?) };
        Ok(KgShown {
            source: self.facts().map(|facts| facts.about().to_owned()),
            graphs: graphs.list(),
            loaded,
            base_facts: self.base().inspector().count_facts()?,
        })
    }

    /// The knowledge graph, or what to do to get one.
    pub fn knowledge_graph(&self) -> Result<&dyn Facts, ConfigError> {
        self.facts().ok_or_else(|| {
            let hint = "load one with `halma kg load FILE`, or name an endpoint under [kg]";
            self.config().named(key_error("kg", "there is no knowledge graph", hint))
        })
    }
}
