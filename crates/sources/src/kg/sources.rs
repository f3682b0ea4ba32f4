//! From the settings to the graphs that questions are answered from.
use std::sync::Arc;

use halma_core::{BoxError, ConfigError, ExtractedGraph, Facts, Knowledge};

use crate::kg::combined::Combined;
use crate::kg::endpoint::{Endpoint, HttpEndpoint, InProcess, KgAccess};
use crate::kg::loaded::KgGraphs;
use crate::kg::operators::Operators;
use crate::kg::reloading::{Reloading, Versioned};
use crate::kg::settings::{KgKind, KgProfile, KgSettings};
use crate::kg::sparql::{CitedSource, SparqlGraph};

/// What a graph can be made of.
pub struct KgParts<'a> {
    pub access: KgAccess,
    pub graphs: &'a KgGraphs,
    /// The base's own facts, and whether there are any.
    pub base: Arc<dyn Facts>,
    pub base_has_facts: bool,
}

/// The graph as configured; none for `none`, and for `auto` where there is nothing.
#[derive(Clone, Default)]
pub struct KgFacts {
    pub all: Option<Arc<dyn Facts>>,
    /// Without what was extracted from the documents, for questions that may see some of them
    /// only.
    pub apart: Option<Arc<dyn Facts>>,
}

/// The graph that the settings ask for. The error's `file` is left empty for the caller that read
/// the configuration.
pub fn facts(settings: &KgSettings, parts: KgParts<'_>) -> Result<KgFacts, ConfigError> {
    let KgParts { access, graphs, base, base_has_facts } = parts;
    let same =
        |facts: Arc<dyn Facts>| KgFacts { all: Some(Arc::clone(&facts)), apart: Some(facts) };
    let made = match settings.kind {
        KgKind::None => KgFacts::default(),
        KgKind::Loaded => same(graphs.facts()),
        KgKind::Sparql => same(over_http(settings, &access)?),
        KgKind::Base => KgFacts { all: Some(base), apart: None },
        KgKind::Auto => {
            let loaded = (!graphs.is_empty()).then(|| graphs.facts());
            let all = match (loaded.clone(), base_has_facts.then_some(base)) {
                (Some(loaded), Some(base)) => {
                    Some(Arc::new(Combined::new(vec![loaded, base])) as Arc<dyn Facts>)
                }
                (loaded, base) => loaded.or(base),
            };
            KgFacts { all, apart: loaded }
        }
    };
    let described = |facts: Arc<dyn Facts>| Combined::described(facts, &settings.about);
    Ok(KgFacts { all: made.all.map(described), apart: made.apart.map(described) })
}

/// A SPARQL endpoint. Connects to nothing yet.
pub(crate) fn over_http(
    settings: &KgSettings,
    access: &KgAccess,
) -> Result<Arc<dyn Facts>, ConfigError> {
    let endpoint = HttpEndpoint::new(settings, access)?;
    let about = match settings.profile {
        KgProfile::Wikidata => format!(
            "Wikidata at {}: entities of all kinds with dates, places, people, figures and how \
             they are related",
            endpoint.host()
        ),
        KgProfile::Generic => format!("knowledge graph at {}", endpoint.host()),
    };
    Ok(Arc::new(Operators::new(SparqlGraph::over_http(endpoint, settings), about)))
}

/// Reads the entities and facts of a base, which may block; `None` when they still are those of
/// that generation.
pub type GraphLoader =
    Arc<dyn Fn(Option<u64>) -> Result<Option<ExtractedGraph>, BoxError> + Send + Sync>;

/// The base's facts, read again when they have changed.
pub fn kb_facts(knowledge: Arc<dyn Knowledge>, load: GraphLoader) -> Arc<dyn Facts> {
    let about = "facts extracted from the documents: the people, places and things they name, and \
                 how these are related";
    let read = move |version: Option<&str>| {
        let generation = version.and_then(|version| version.parse().ok());
        let Some(graph) = load(generation)? else { return Ok(None) };
        let endpoint = Endpoint::InProcess(InProcess::of_base(&graph)?);
        let source = CitedSource { name: "kg".to_owned(), knowledge: Some(Arc::clone(&knowledge)) };
        let version = graph.generation.to_string();
        Ok(Some(Versioned { version, graph: SparqlGraph::new(endpoint, "en", source) }))
    };
    let graph = Reloading::new(Box::new(|| None), Arc::new(read));
    Arc::new(Combined::reloading(graph, about.to_owned()))
}
