//! A knowledge graph that is asked in SPARQL, wherever its endpoint is.
mod described;
mod description;
mod facts;
mod lookup;
mod query;
mod search;
mod statements;
mod vocabulary;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use halma_core::{BoxError, EntityId, Knowledge};
use oxigraph::model::{NamedNode, Term};
use parking_lot::Mutex;
use sparesults::QuerySolution;
use spargebra::algebra::GraphPattern;
use spargebra::term::GroundTerm;
use tokio::sync::OnceCell;

use self::query::{in_graph, select, values};
use self::vocabulary::Vocabulary;
use crate::kg::endpoint::{Endpoint, HttpEndpoint};
use crate::kg::graph::{Class, Ends, Property};
use crate::kg::settings::{KgProfile, KgSettings};

/// Entities in one query.
const BATCH: usize = 400;
/// Queries for one answer that are under way at once.
const AT_ONCE: usize = 4;

/// What a graph's facts are cited from.
pub(crate) struct CitedSource {
    /// The document of what the graph as a whole says.
    pub(crate) name: String,
    /// Of the base's own facts: where their chunks are.
    pub(crate) knowledge: Option<Arc<dyn Knowledge>>,
}

pub(crate) struct SparqlGraph {
    pub(super) endpoint: Endpoint,
    vocabulary: Vocabulary,
    language: String,
    source: CitedSource,
    /// All properties of a graph in this process.
    all_properties: OnceCell<Vec<Arc<Property>>>,
    properties: Mutex<HashMap<String, Arc<Property>>>,
    classes: Mutex<HashMap<String, Class>>,
    ends: Mutex<HashMap<String, Ends>>,
}

impl SparqlGraph {
    /// `language`: of the labels that are shown, `en` say.
    pub(crate) fn new(endpoint: Endpoint, language: &str, source: CitedSource) -> Self {
        Self {
            vocabulary: Vocabulary::generic(&endpoint),
            endpoint,
            language: language.to_owned(),
            source,
            all_properties: OnceCell::new(),
            properties: Mutex::default(),
            classes: Mutex::default(),
            ends: Mutex::default(),
        }
    }

    pub(crate) fn over_http(endpoint: HttpEndpoint, settings: &KgSettings) -> Self {
        let source = CitedSource { name: format!("kg:{}", endpoint.host()), knowledge: None };
        let graph = Self::new(Endpoint::Http(endpoint), &settings.language, source);
        match settings.profile {
            KgProfile::Wikidata => Self { vocabulary: Vocabulary::wikidata(), ..graph },
            KgProfile::Generic => graph,
        }
    }

    /// The document of what the graph as a whole says.
    pub(crate) fn name(&self) -> &str {
        &self.source.name
    }

    /// The IRI of an id; `None` for what cannot stand in a query.
    fn node(&self, id: &str) -> Option<NamedNode> {
        match self.endpoint.in_process() {
            Some(store) => store.iri(id),
            None => NamedNode::new(id).ok(),
        }
    }

    fn id(&self, iri: &str) -> String {
        self.endpoint.in_process().map_or_else(|| iri.to_owned(), |store| store.id(iri))
    }

    /// The id of the IRI that a solution has under a name.
    fn id_in(&self, solution: &QuerySolution, name: &str) -> Option<String> {
        iri(solution, name).map(|iri| self.id(iri))
    }

    fn ids_in(&self, solutions: &[QuerySolution], name: &str) -> BTreeSet<String> {
        solutions.iter().filter_map(|solution| self.id_in(solution, name)).collect()
    }

    fn terms(&self, ids: &[EntityId]) -> Vec<GroundTerm> {
        ids.iter().filter_map(|id| self.node(&id.0)).map(GroundTerm::NamedNode).collect()
    }

    async fn ask(&self, pattern: GraphPattern) -> Result<Vec<QuerySolution>, BoxError> {
        self.endpoint.solutions(select(pattern)).await
    }

    /// One query for each batch of entities, some concurrently, their solutions in order.
    async fn ask_in_batches(
        &self,
        ids: &[EntityId],
        pattern: impl Fn(GraphPattern) -> GraphPattern,
    ) -> Result<Vec<QuerySolution>, BoxError> {
        let batches = ids.chunks(BATCH).map(|ids| self.terms(ids));
        let batches = batches.filter(|terms| !terms.is_empty());
        let patterns: Vec<GraphPattern> =
            batches.map(|terms| pattern(values("e", terms))).collect();
        let queries = stream::iter(patterns.into_iter().map(|pattern| self.ask(pattern)));
        let solutions: Vec<Vec<QuerySolution>> = queries.buffered(AT_ONCE).try_collect().await?;
        Ok(solutions.into_iter().flatten().collect())
    }

    /// Facts with the named graph that states them, where that says more than the endpoint.
    fn stating(&self, facts: GraphPattern) -> GraphPattern {
        if self.endpoint.in_process().is_some() { in_graph(facts) } else { facts }
    }
}

/// The IRI that a solution has under a name.
fn iri<'s>(solution: &'s QuerySolution, name: &str) -> Option<&'s str> {
    match solution.get(name)? {
        Term::NamedNode(node) => Some(node.as_str()),
        _ => None,
    }
}

/// The text that a solution has under a name.
fn text<'s>(solution: &'s QuerySolution, name: &str) -> Option<&'s str> {
    match solution.get(name)? {
        Term::Literal(literal) => Some(literal.value()),
        _ => None,
    }
}
