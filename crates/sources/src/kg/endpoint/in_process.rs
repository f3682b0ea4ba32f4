//! A store in this process that answers SPARQL, with an index of its entities' names: SPARQL alone
//! would look at every name.
use std::collections::{BTreeMap, BTreeSet};

use halma_core::{BoxError, EntityId, ExtractedGraph};
use oxigraph::io::{RdfFormat, RdfParser};
use oxigraph::model::{
    GraphName, Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term, TermRef,
};
use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxigraph::store::{StorageError, Store};
use sparesults::QuerySolution;
use spargebra::Query;

use super::index::Visited;
use crate::kg::graph::{Lookup, Near, Stated};
use crate::kg::loaded::{Files, KgError};
use crate::kg::names::{Names, Number};
use crate::kg::rdf::{self, escaped, unescaped};
use crate::kg::words::stems;

/// Quads that are handed on at once.
const BATCH: usize = 4_096;

/// The named graph of a loaded file, by number; that of the base's entities.
const LOADED: &str = "urn:halma:kg:";
const BASE: &str = "urn:halma:kg:base";
/// Each fact of the base is in a named graph of its own, so that it can be cited.
const BASE_FACT: &str = "urn:halma:fact:";
/// Ids of the base as IRIs.
const BASE_NODE: &str = "urn:halma:node:";
/// Blank nodes of loaded files as IRIs, since a query cannot name a blank node.
const BLANK: &str = "urn:halma:blank:";

/// Whether an id stands for a blank node of a file.
pub(crate) fn is_blank(id: &str) -> bool {
    id.starts_with(BLANK)
}

/// Named graphs in one store, with the names of their entities.
pub(crate) struct InProcess {
    pub(super) store: Store,
    /// What turns an id into an IRI; empty where ids are IRIs.
    namespace: &'static str,
    /// Names of the loaded graphs, by number.
    pub(crate) graphs: Vec<String>,
    pub(crate) facts: usize,
    /// Every predicate, as an IRI.
    pub(super) predicates: BTreeSet<String>,
    /// Ids of what can be asked for: predicates that do not only name or describe.
    pub(crate) properties: BTreeSet<String>,
    /// Members of each class, by its IRI.
    pub(crate) members: BTreeMap<String, usize>,
    pub(crate) entities: Vec<EntityId>,
    /// Entities whose name is only the end of their IRI.
    pub(crate) unlabelled: usize,
    pub(super) names: Names,
    /// Numbers of what is a class of others.
    pub(super) classes: BTreeSet<Number>,
    /// The stems of the classes' names.
    pub(super) class_names: BTreeSet<Vec<String>>,
}

impl InProcess {
    fn empty(namespace: &'static str) -> Result<Self, StorageError> {
        Ok(Self {
            store: Store::new()?,
            namespace,
            graphs: vec![],
            facts: 0,
            predicates: BTreeSet::new(),
            properties: BTreeSet::new(),
            members: BTreeMap::new(),
            entities: vec![],
            unlabelled: 0,
            names: Names::default(),
            classes: BTreeSet::new(),
            class_names: BTreeSet::new(),
        })
    }

    /// Reads all graphs of a folder, each as a named graph.
    pub(crate) fn read(files: &Files) -> Result<Self, KgError> {
        let mut graph = Self::empty("").map_err(|e| KgError::Store(e.to_string()))?;
        let mut visited = Visited::default();
        for file in files.list() {
            let unreadable = |source| KgError::Unreadable { path: file.path.clone(), source };
            let bytes = std::fs::read(&file.path).map_err(unreadable)?;
            let name = NamedNode::new_unchecked(format!("{LOADED}{}", graph.graphs.len()));
            let read = graph.read_file(&bytes, name, &mut visited);
            let failed = |e: BoxError| KgError::Store(format!("`{}`: {e}", file.path.display()));
            graph.facts += read.map_err(failed)?;
            graph.graphs.push(file.graph);
        }
        graph.index(visited);
        Ok(graph)
    }

    /// The number of facts in a file of N-Triples. Parsing takes about as long as storing, so that
    /// they run concurrently.
    fn read_file(
        &self,
        bytes: &[u8],
        graph: NamedNode,
        visited: &mut Visited,
    ) -> Result<usize, BoxError> {
        let parser = RdfParser::from_format(RdfFormat::NTriples).lenient();
        let parser = parser.with_default_graph(graph);
        let mut loader = self.store.bulk_loader().with_max_memory_size_in_megabytes(64);
        let read = std::thread::scope(|scope| {
            let (sender, receiver) = std::sync::mpsc::sync_channel::<Vec<Quad>>(4);
            let parsing = scope.spawn(move || {
                let mut read = 0;
                let mut batch = Vec::with_capacity(BATCH);
                for quad in parser.for_slice(bytes) {
                    let quad = without_blanks(quad?);
                    visited.visit(&quad);
                    read += 1;
                    batch.push(quad);
                    if batch.len() == BATCH {
                        sender.send(std::mem::replace(&mut batch, Vec::with_capacity(BATCH)))?;
                    }
                }
                sender.send(batch)?;
                Ok::<usize, BoxError>(read)
            });
            let stored = loader.load_quads(receiver.into_iter().flatten());
            let read = parsing.join().map_err(|_| "reading it panicked")??;
            stored?;
            Ok::<usize, BoxError>(read)
        })?;
        loader.commit()?;
        Ok(read)
    }

    /// The base's entities as one named graph, and each of its facts as another.
    pub(crate) fn of_base(base: &ExtractedGraph) -> Result<Self, BoxError> {
        let mut graph = Self::empty(BASE_NODE)?;
        let mut quads = vec![];
        let mut state = |subject: &str, predicate: &str, object: Term, source: String| {
            let predicate = NamedNode::new_unchecked(predicate);
            graph.predicates.insert(predicate.as_str().to_owned());
            let source = GraphName::NamedNode(NamedNode::new_unchecked(source));
            quads.push(Quad::new(base_node(subject), predicate, object, source));
        };
        let text = |text: &str| Term::Literal(Literal::new_simple_literal(text));
        for (number, entity) in (0..).zip(&base.entities) {
            let mut describe = |predicate: &str, object| {
                state(&entity.id.0, predicate, object, BASE.to_owned());
            };
            describe(rdf::LABELS[0], text(&entity.name));
            graph.names.add(number, &entity.name);
            for alias in &entity.aliases {
                describe(rdf::ALIASES[0], text(alias));
                graph.names.add(number, alias);
            }
            if !entity.description.is_empty() {
                describe(rdf::DESCRIPTIONS[0], text(&entity.description));
            }
            if !entity.kind.is_empty() {
                describe(rdf::TYPE, base_node(&entity.kind).into());
                state(&entity.kind, rdf::LABELS[0], text(&entity.kind), BASE.to_owned());
                graph.class_names.insert(stems(&entity.kind));
            }
            graph.entities.push(EntityId(entity.id.0.clone()));
        }
        for fact in &base.facts {
            let source = format!("{BASE_FACT}{}", escaped(&fact.id.0));
            let relation = base_node(&fact.relation);
            state(&fact.head.0, relation.as_str(), base_node(&fact.tail.0).into(), source);
            if graph.properties.insert(fact.relation.clone()) {
                state(&fact.relation, rdf::LABELS[0], text(&fact.relation), BASE.to_owned());
            }
        }
        graph.facts = base.facts.len();
        let mut loader = graph.store.bulk_loader();
        loader.load_quads(quads)?;
        loader.commit()?;
        Ok(graph)
    }

    /// The solutions of a `SELECT` over all named graphs together.
    pub(crate) fn solutions(&self, query: Query) -> Result<Vec<QuerySolution>, BoxError> {
        let mut prepared = SparqlEvaluator::new().for_query(query);
        prepared.dataset_mut().set_default_graph_as_union();
        match prepared.on_store(&self.store).execute()? {
            QueryResults::Solutions(solutions) => Ok(solutions.collect::<Result<_, _>>()?),
            _ => Err("a query that is not a SELECT".into()),
        }
    }

    /// The values of some properties, thing by thing.
    pub(crate) fn look_up(
        &self,
        ids: &[EntityId],
        lookup: Lookup<'_>,
    ) -> Result<Vec<Stated>, BoxError> {
        let mut values = vec![];
        for id in ids {
            let Some(thing) = self.iri(&id.0) else { continue };
            for node in self.nodes(thing, lookup.over)? {
                for (property, iri) in lookup.properties.iter().enumerate() {
                    for quad in self.at(&node, iri) {
                        let Quad { object: value, graph_name, .. } = quad?;
                        let (subject, node) = (id.0.clone(), self.id(node.as_str()));
                        let graph = name_of(graph_name);
                        values.push(Stated { subject, node, property, value, graph });
                    }
                }
            }
        }
        Ok(values)
    }

    fn at<'s>(
        &'s self,
        node: &NamedNode,
        property: &str,
    ) -> impl Iterator<Item = Result<Quad, StorageError>> + use<'s> {
        let property = NamedNodeRef::new_unchecked(property);
        self.store.quads_for_pattern(Some(node.as_ref().into()), Some(property), None, None)
    }

    /// The thing itself, or what it has under a property.
    fn nodes(&self, thing: NamedNode, over: Option<&str>) -> Result<Vec<NamedNode>, BoxError> {
        let Some(step) = over else { return Ok(vec![thing]) };
        let mut nodes = vec![];
        for quad in self.at(&thing, step) {
            if let Term::NamedNode(node) = quad?.object {
                nodes.push(node);
            }
        }
        Ok(nodes)
    }

    /// What has a thing under a property, at most `limit`, with the graphs that state it.
    pub(crate) fn leading_to(
        &self,
        thing: &NamedNode,
        property: &NamedNode,
        limit: usize,
    ) -> Result<Vec<(String, Option<String>)>, BoxError> {
        let (property, thing) = (Some(property.as_ref()), Some(TermRef::from(thing.as_ref())));
        let quads = self.store.quads_for_pattern(None, property, thing, None);
        let mut subjects = vec![];
        for quad in quads.take(limit) {
            let quad = quad?;
            if let NamedOrBlankNode::NamedNode(subject) = quad.subject {
                subjects.push((self.id(subject.as_str()), name_of(quad.graph_name)));
            }
        }
        Ok(subjects)
    }

    /// Predicates whose IRIs begin with some text.
    pub(crate) fn predicates_beginning(&self, text: &str) -> Vec<String> {
        self.predicates.iter().filter(|iri| iri.starts_with(text)).cloned().collect()
    }

    /// Entities with such a label or alias, at most `limit`.
    pub(crate) fn named(&self, name: &str, near: Near, limit: usize) -> Vec<EntityId> {
        let mut numbers = self.names.named(name, near, limit);
        // A class is meant only where nothing else has the name: the Moon, not moons.
        if numbers.iter().any(|number| !self.classes.contains(number)) {
            numbers.retain(|number| !self.classes.contains(number));
        }
        numbers.into_iter().map(|number| self.entities[number as usize].clone()).collect()
    }

    pub(crate) fn has_class(&self, name: &str) -> bool {
        self.class_names.contains(&stems(name))
    }

    pub(crate) fn has_predicate(&self, iri: &str) -> bool {
        self.predicates.contains(iri)
    }

    /// The IRI of an id; `None` for what cannot be one.
    pub(crate) fn iri(&self, id: &str) -> Option<NamedNode> {
        if self.namespace.is_empty() { NamedNode::new(id).ok() } else { Some(base_node(id)) }
    }

    /// The id of an IRI.
    pub(crate) fn id(&self, iri: &str) -> String {
        let id = iri.strip_prefix(self.namespace).filter(|_| !self.namespace.is_empty());
        id.map_or_else(|| iri.to_owned(), unescaped)
    }

    /// Where a fact of a named graph is from: a loaded graph, or a node of the base.
    pub(crate) fn source(&self, graph: &str) -> Option<String> {
        if let Some(fact) = graph.strip_prefix(BASE_FACT) {
            return Some(unescaped(fact));
        }
        let number = graph.strip_prefix(LOADED)?.parse::<usize>().ok()?;
        Some(format!("kg:{}", self.graphs.get(number)?))
    }
}

fn name_of(graph: GraphName) -> Option<String> {
    match graph {
        GraphName::NamedNode(name) => Some(name.into_string()),
        _ => None,
    }
}

fn base_node(id: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("{BASE_NODE}{}", escaped(id)))
}

fn without_blanks(mut quad: Quad) -> Quad {
    if let NamedOrBlankNode::BlankNode(node) = &quad.subject {
        quad.subject = blank(node.as_str()).into();
    }
    if let Term::BlankNode(node) = &quad.object {
        quad.object = blank(node.as_str()).into();
    }
    quad
}

fn blank(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("{BLANK}{name}"))
}
