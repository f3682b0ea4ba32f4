//! A knowledge graph that is asked in SPARQL, wherever its endpoint is.
mod described;
mod facts;
mod quantity;
mod query;
mod search;
mod solutions;
mod vocabulary;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use halma_core::{BoxError, EntityId, Knowledge};
use oxigraph::model::NamedNode;
use sparesults::QuerySolution;
use spargebra::algebra::GraphPattern;
use spargebra::term::GroundTerm;
use tokio::sync::OnceCell;

use self::query::{in_graph, in_language, own, select, triple, union, values, var};
use self::solutions::Columns;
use self::vocabulary::Vocabulary;
use crate::endpoint::{Endpoint, HttpEndpoint};
use crate::graph::{Class, Ends, Property};
use crate::settings::{KgProfile, KgSettings};

/// Entities in one query.
const BATCH: usize = 400;
/// Queries for one answer that are under way at once.
const AT_ONCE: usize = 4;

/// What a graph's facts are cited from.
pub(crate) struct Source {
    /// The document of what the graph as a whole says.
    pub(crate) name: String,
    /// Of the base's own facts: where their chunks are.
    pub(crate) knowledge: Option<Arc<dyn Knowledge>>,
}

pub(crate) struct SparqlGraph {
    pub(super) endpoint: Endpoint,
    vocabulary: Vocabulary,
    columns: Columns,
    language: String,
    source: Source,
    /// All properties of a graph in this process.
    all_properties: OnceCell<Vec<Arc<Property>>>,
    properties: Mutex<HashMap<String, Arc<Property>>>,
    classes: Mutex<HashMap<String, Class>>,
    ends: Mutex<HashMap<String, Ends>>,
}

impl SparqlGraph {
    /// `language`: of the labels that are shown, `en` say.
    pub(crate) fn new(endpoint: Endpoint, language: &str, source: Source) -> Self {
        let vocabulary = Vocabulary::generic(&endpoint);
        Self::with_vocabulary(endpoint, language, source, vocabulary)
    }

    pub(crate) fn over_http(endpoint: HttpEndpoint, settings: &KgSettings) -> Self {
        let source = Source { name: format!("kg:{}", endpoint.host()), knowledge: None };
        let endpoint = Endpoint::Http(endpoint);
        let vocabulary = match settings.profile {
            KgProfile::Wikidata => Vocabulary::wikidata(),
            KgProfile::Generic => Vocabulary::generic(&endpoint),
        };
        Self::with_vocabulary(endpoint, &settings.language, source, vocabulary)
    }

    fn with_vocabulary(
        endpoint: Endpoint,
        language: &str,
        source: Source,
        vocabulary: Vocabulary,
    ) -> Self {
        let numbered = |list: &[&str], name: &str| -> Vec<String> {
            (0..list.len()).map(|number| format!("{name}{number}")).collect()
        };
        let columns = Columns {
            labels: numbered(&vocabulary.labels, "label"),
            aliases: numbered(&vocabulary.aliases, "alias"),
            descriptions: numbered(&vocabulary.descriptions, "description"),
        };
        Self {
            endpoint,
            vocabulary,
            columns,
            language: language.to_owned(),
            source,
            all_properties: OnceCell::new(),
            properties: Mutex::default(),
            classes: Mutex::default(),
            ends: Mutex::default(),
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
        solutions::iri(solution, name).map(|iri| self.id(iri))
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

    /// The texts of some properties, each property's under a name of its own. Far graphs have
    /// texts in hundreds of languages, of which only ours are sent.
    fn texts(&self, of: &str, properties: &[&str], names: &[String]) -> Vec<GraphPattern> {
        let text = |(property, name): (&&str, &String)| {
            let texts = triple(var(of), own(property), var(name));
            match &self.endpoint {
                Endpoint::Http(_) => in_language(texts, name, &self.language),
                Endpoint::InProcess(_) => texts,
            }
        };
        properties.iter().zip(names).map(text).collect()
    }

    /// Facts with the named graph that states them, where that says more than the endpoint.
    fn stating(&self, facts: GraphPattern) -> GraphPattern {
        if self.endpoint.in_process().is_some() { in_graph(facts) } else { facts }
    }

    fn labels(&self, of: &str) -> GraphPattern {
        union(self.texts(of, &self.vocabulary.labels, &self.columns.labels))
    }
}

/// What is known already of the things that were asked for before.
fn cache<T>(cached: &Mutex<HashMap<String, T>>) -> MutexGuard<'_, HashMap<String, T>> {
    cached.lock().unwrap_or_else(PoisonError::into_inner)
}
