//! The base's own entities and facts as a graph: what a model extracted from the documents, each
//! fact with the chunk it was extracted from.
use std::sync::Arc;

use halma_core::{BoxError, Facts, Knowledge, NodeId};

use crate::endpoint::{Endpoint, InProcess};
use crate::reloading::{Reloading, Versioned};
use crate::sparql::{CitedSource, SparqlGraph};

/// An entity of the base.
#[derive(Debug, Clone)]
pub struct KbEntity {
    pub id: NodeId,
    pub name: String,
    pub aliases: Vec<String>,
    /// `person`, `place` …; empty where it is not known.
    pub kind: String,
    pub description: String,
}

/// A fact of the base between two of its entities.
#[derive(Debug, Clone)]
pub struct KbFact {
    pub id: NodeId,
    pub head: NodeId,
    pub relation: String,
    pub tail: NodeId,
}

/// All entities and facts of a base.
#[derive(Debug, Clone, Default)]
pub struct KbGraph {
    /// Changes with the content.
    pub version: String,
    pub entities: Vec<KbEntity>,
    pub facts: Vec<KbFact>,
}

/// Reads the entities and facts of a base, which may block; `None` when they still are those of
/// that version.
pub type KbGraphLoader =
    Arc<dyn Fn(Option<&str>) -> Result<Option<KbGraph>, BoxError> + Send + Sync>;

/// The base's facts, read again when they have changed.
pub fn kb_facts(knowledge: Arc<dyn Knowledge>, load: KbGraphLoader) -> Arc<dyn Facts> {
    let about = "facts extracted from the documents: the people, places and things they name, and \
                 how these are related";
    let read = move |version: Option<&str>| {
        let Some(graph) = load(version)? else { return Ok(None) };
        let endpoint = Endpoint::InProcess(InProcess::of_base(&graph)?);
        let source = CitedSource { name: "kg".to_owned(), knowledge: Some(Arc::clone(&knowledge)) };
        let version = graph.version;
        Ok(Some(Versioned { version, graph: SparqlGraph::new(endpoint, "en", source) }))
    };
    Arc::new(Reloading::new(about.to_owned(), Box::new(|| None), Arc::new(read)))
}
