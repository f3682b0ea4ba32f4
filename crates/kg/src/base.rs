//! The base's own entities and facts as a graph: what a model extracted from the documents, each
//! fact with the chunk it was extracted from.
use std::sync::Arc;

use halma_core::{BoxError, ExtractedGraph, Facts, Knowledge};

use crate::endpoint::{Endpoint, InProcess};
use crate::reloading::{Reloading, Versioned};
use crate::sparql::{CitedSource, SparqlGraph};

/// Reads the entities and facts of a base, which may block; `None` when they still are those of
/// that generation.
pub type GraphLoader =
    Arc<dyn Fn(Option<u64>) -> Result<Option<ExtractedGraph>, BoxError> + Send + Sync>;

/// The base's facts, read again when they have changed.
pub fn kb_facts(knowledge: Arc<dyn Knowledge>, load: GraphLoader) -> Arc<dyn Facts> {
    let about = "facts extracted from the documents: the people, places and things they name, and \
                 how these are related";
    let read = move |version: Option<&str>| {
        let known = version.and_then(|version| version.parse().ok());
        let Some(graph) = load(known)? else { return Ok(None) };
        let endpoint = Endpoint::InProcess(InProcess::of_base(&graph)?);
        let source = CitedSource { name: "kg".to_owned(), knowledge: Some(Arc::clone(&knowledge)) };
        let version = graph.generation.to_string();
        Ok(Some(Versioned { version, graph: SparqlGraph::new(endpoint, "en", source) }))
    };
    Arc::new(Reloading::new(about.to_owned(), Box::new(|| None), Arc::new(read)))
}
