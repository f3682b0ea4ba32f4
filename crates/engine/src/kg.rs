//! The knowledge graph of a base: what was loaded beside its documents, what was read out of them,
//! or an endpoint.
use std::path::Path;
use std::sync::Arc;

use halma_core::{ConfigError, Entity, Fact, Facts, Knowledge};
use halma_kb::{Base, FactSnapshot};
use halma_kg::{
    KbEntity, KbFact, KbGraph, KbGraphLoader, KgFacts, KgFigures, KgGraph, KgGraphs, KgKind,
    KgLoad, KgLoaded, KgParts, kb_facts,
};
use serde::Serialize;

use crate::assemble;
use crate::config::Config;
use crate::engine::Engine;
use crate::error::EngineError;

/// What `halma kg show` tells.
#[derive(Debug, Serialize)]
pub struct KgShown {
    /// What questions are answered from, in one line; `None` where there is no graph.
    pub asked: Option<String>,
    pub graphs: Vec<KgGraph>,
    /// `None` where nothing is loaded.
    pub loaded: Option<KgFigures>,
    /// Facts that were read out of the documents.
    pub base_facts: u64,
}

/// Names the graph that questions are answered from; empty where there is none.
pub(crate) fn fingerprint(engine: &Engine) -> Result<String, EngineError> {
    if engine.facts().is_none() {
        return Ok(String::new());
    }
    let settings = &engine.config().kg;
    let loaded = graphs(engine.config(), engine.base()).fingerprint()?;
    let told = engine.base().inspector().count_facts()?;
    Ok(serde_json::json!([settings.kind, settings.url, settings.profile, loaded, told]).to_string())
}

pub(crate) fn graphs(config: &Config, base: &Base) -> KgGraphs {
    KgGraphs::at(base.kg_dir(), &config.kg.language)
}

/// The graph as configured.
pub(crate) fn facts(config: &Config, base: &Arc<Base>) -> Result<KgFacts, EngineError> {
    let settings = &config.kg;
    let key = match settings.kind {
        KgKind::Sparql => assemble::key_of(&settings.key_env, "kg").map_err(|e| config.named(e))?,
        _ => None,
    };
    let base_has_facts = base.inspector().count_facts()? > 0;
    let knowledge: Arc<dyn Knowledge> = Arc::clone(base) as Arc<dyn Knowledge>;
    let graphs = graphs(config, base);
    let own = kb_facts(knowledge, loader(Arc::clone(base)));
    let parts = KgParts { key, graphs: &graphs, base: own, base_has_facts };
    let made = halma_kg::facts(settings, parts);
    made.map_err(|e| config.named(assemble::at(e, "kg")).into())
}

fn loader(base: Arc<Base>) -> KbGraphLoader {
    Arc::new(move |known| {
        let known = known.and_then(|version| version.parse().ok());
        Ok(base.inspector().facts(known)?.map(kb_graph))
    })
}

fn kb_graph(facts: FactSnapshot) -> KbGraph {
    let FactSnapshot { generation, entities, facts } = facts;
    let entity = |line: halma_kb::EntityLine| {
        let halma_kb::EntityLine { id, name, aliases, kind, description } = line;
        KbEntity { id, name, aliases, kind, description }
    };
    let fact = |line: halma_kb::FactLine| {
        let halma_kb::FactLine { id, head, relation, tail } = line;
        KbFact { id, head, relation, tail }
    };
    KbGraph {
        version: generation.to_string(),
        entities: entities.into_iter().map(entity).collect(),
        facts: facts.into_iter().map(fact).collect(),
    }
}

impl Engine {
    /// Loads a file of RDF beside the base's documents.
    pub fn load_kg(&self, file: &Path, how: &KgLoad) -> Result<KgLoaded, EngineError> {
        let loaded = graphs(self.config(), self.base()).load(file, how)?;
        if loaded.removed > 0 {
            self.forget(&[format!("kg:{}", loaded.graph)])?;
        }
        Ok(loaded)
    }

    /// Removes one loaded graph, or all, with the kept replies that may quote them. Says which.
    pub fn unload_kg(&self, graph: Option<&str>) -> Result<Vec<String>, EngineError> {
        let gone = graphs(self.config(), self.base()).unload(graph)?;
        let documents: Vec<String> = gone.iter().map(|graph| format!("kg:{graph}")).collect();
        self.forget(&documents)?;
        Ok(gone)
    }

    pub fn show_kg(&self) -> Result<KgShown, EngineError> {
        let graphs = graphs(self.config(), self.base());
        let loaded = if graphs.is_empty() { None } else { Some(graphs.figures()?) };
        Ok(KgShown {
            asked: self.facts().map(|facts| facts.about().to_owned()),
            graphs: graphs.list(),
            loaded,
            base_facts: self.base().inspector().count_facts()?,
        })
    }

    /// The graph's entities of a name, best first.
    pub async fn find_in_kg(
        &self,
        name: &str,
        descriptor: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Entity>, EngineError> {
        Ok(failed(self.graph()?.find(name, descriptor, limit).await)?)
    }

    /// Facts about what is called by a name: of a relation, or of what ties it to another name.
    pub async fn relate_in_kg(
        &self,
        entity: &Entity,
        relation: &str,
    ) -> Result<Vec<Fact>, EngineError> {
        Ok(failed(self.graph()?.relate(&entity.id, relation).await)?)
    }

    pub async fn between_in_kg(
        &self,
        head: &Entity,
        tail: &Entity,
    ) -> Result<Vec<Fact>, EngineError> {
        Ok(failed(self.graph()?.between(&head.id, &tail.id).await)?)
    }

    /// For each entity that meets the condition the fact that shows it; `None` when the condition
    /// is no comparison that the graph can decide.
    pub async fn filter_in_kg(
        &self,
        entities: &[Entity],
        condition: &str,
    ) -> Result<Option<Vec<Fact>>, EngineError> {
        let ids: Vec<_> = entities.iter().map(|entity| entity.id.clone()).collect();
        Ok(failed(self.graph()?.filter(&ids, condition).await)?)
    }

    fn graph(&self) -> Result<&dyn Facts, ConfigError> {
        self.facts().ok_or_else(|| {
            self.config().named(ConfigError {
                file: crate::config::CONFIG_FILE.into(),
                key: "kg".into(),
                reason: "there is no knowledge graph".into(),
                hint: "load one with `halma kg load FILE`, or name an endpoint under [kg]".into(),
            })
        })
    }
}

fn failed<T>(asked: Result<T, halma_core::BoxError>) -> Result<T, halma_core::Error> {
    asked.map_err(|source| halma_core::Error::Source { name: "kg".into(), source })
}
