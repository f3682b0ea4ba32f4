//! A store in this process that answers SPARQL, with an index of its entities' names: SPARQL alone
//! would look at every name.
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use halma_core::{BoxError, EntityId};
use oxigraph::io::{RdfFormat, RdfParser};
use oxigraph::model::{
    GraphName, Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term, TermRef,
};
use oxigraph::sparql::{QueryResults, SparqlEvaluator};
use oxigraph::store::{StorageError, Store};
use sparesults::QuerySolution;
use spargebra::Query;

use crate::base::KbGraph;
use crate::graph::Near;
use crate::loaded::{Files, KgError, escaped, unescaped};
use crate::names::{Names, Number};
use crate::rdf;
use crate::words::stems;

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
    store: Store,
    /// What turns an id into an IRI; empty where ids are IRIs.
    namespace: &'static str,
    /// Names of the loaded graphs, by number.
    pub(crate) graphs: Vec<String>,
    pub(crate) facts: usize,
    /// Every predicate, as an IRI.
    predicates: BTreeSet<String>,
    /// Ids of what can be asked for: predicates that do not only name or describe.
    pub(crate) properties: BTreeSet<String>,
    /// Members of each class, by its IRI.
    pub(crate) members: BTreeMap<String, usize>,
    pub(crate) entities: Vec<EntityId>,
    /// Entities whose name is only the end of their IRI.
    pub(crate) unlabelled: usize,
    names: Names,
    /// Numbers of what is a class of others.
    classes: BTreeSet<Number>,
    /// The stems of the classes' names.
    class_names: BTreeSet<Vec<String>>,
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
    pub(crate) fn of_base(base: &KbGraph) -> Result<Self, BoxError> {
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

    /// Entities with such a label or alias, at most `limit`.
    pub(crate) fn named(&self, name: &str, near: Near, limit: usize) -> Vec<EntityId> {
        let mut found = self.names.named(name, near, limit);
        // A class is meant only where nothing else has the name: the Moon, not moons.
        if found.iter().any(|number| !self.classes.contains(number)) {
            found.retain(|number| !self.classes.contains(number));
        }
        found.into_iter().map(|number| self.entities[number as usize].clone()).collect()
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
        let own = iri.strip_prefix(self.namespace).filter(|_| !self.namespace.is_empty());
        own.map_or_else(|| iri.to_owned(), unescaped)
    }

    /// Where a fact of a named graph is from: a loaded graph, or a node of the base.
    pub(crate) fn source(&self, graph: &str) -> Option<String> {
        if let Some(fact) = graph.strip_prefix(BASE_FACT) {
            return Some(unescaped(fact));
        }
        let number = graph.strip_prefix(LOADED)?.parse::<usize>().ok()?;
        Some(format!("kg:{}", self.graphs.get(number)?))
    }

    fn index(&mut self, visited: Visited) {
        self.members = visited.members;
        self.predicates = visited.predicates;
        let properties = self.predicates.iter().filter(|id| !rdf::is_describing(id));
        self.properties = properties.cloned().collect();
        self.number_entities(&visited.entities, visited.types);
        self.name_entities();
    }

    /// Entities are what has an IRI and is neither a property nor a word of the schema.
    fn number_entities(&mut self, all: &HashSet<String>, mut classes: BTreeSet<String>) {
        let stated = rdf::OF_PROPERTIES.iter().flat_map(|class| self.subjects(rdf::TYPE, class));
        let properties: BTreeSet<String> = stated.chain(self.predicates.iter().cloned()).collect();
        classes.extend(rdf::OF_CLASSES.iter().flat_map(|class| self.subjects(rdf::TYPE, class)));
        let is_schema =
            |id: &str| rdf::OF_CLASSES.contains(&id) || rdf::OF_PROPERTIES.contains(&id);
        let is_entity = |id: &&String| !properties.contains(*id) && !is_schema(id);
        let mut entities: Vec<&String> = all.iter().filter(is_entity).collect();
        entities.sort_unstable();
        for id in entities {
            let Ok(number) = Number::try_from(self.entities.len()) else { break };
            self.entities.push(EntityId(id.clone()));
            if classes.contains(id) {
                self.classes.insert(number);
            }
        }
    }

    /// Names the entities by their labels and aliases, those without a label by the end of their
    /// IRI.
    fn name_entities(&mut self) {
        let numbered = (0..).zip(&self.entities).map(|(number, id)| (id.0.as_str(), number));
        let numbers: HashMap<&str, Number> = numbered.collect();
        let mut labelled = vec![false; self.entities.len()];
        let (mut names, mut class_names) = (Names::default(), BTreeSet::new());
        let mut add = |number: Number, name: &str| {
            names.add(number, name);
            if self.classes.contains(&number) {
                class_names.insert(stems(name));
            }
        };
        for (list, is_label) in [(rdf::LABELS, true), (rdf::ALIASES, false)] {
            for property in list.iter().filter(|property| self.has_predicate(property)) {
                let property = NamedNodeRef::new_unchecked(property);
                let quads = self.store.quads_for_pattern(None, Some(property), None, None);
                for quad in quads.flatten() {
                    if let (NamedOrBlankNode::NamedNode(id), Term::Literal(name)) =
                        (&quad.subject, &quad.object)
                        && let Some(&number) = numbers.get(id.as_str())
                    {
                        add(number, name.value());
                        labelled[number as usize] |= is_label;
                    }
                }
            }
        }
        for (number, id) in (0..).zip(&self.entities) {
            if !labelled[number as usize] {
                add(number, &rdf::local_name(&id.0));
            }
        }
        self.unlabelled = labelled.iter().filter(|labelled| !**labelled).count();
        (self.names, self.class_names) = (names, class_names);
    }

    fn subjects(&self, property: &str, object: &str) -> Vec<String> {
        let property = NamedNodeRef::new_unchecked(property);
        let object = TermRef::from(NamedNodeRef::new_unchecked(object));
        let quads = self.store.quads_for_pattern(None, Some(property), Some(object), None);
        quads.flatten().map(|quad| id_of(&quad.subject)).collect()
    }
}

/// What the files hold, gathered while they are read.
#[derive(Default)]
struct Visited {
    entities: HashSet<String>,
    /// The subject of the fact before: the files are sorted.
    subject: String,
    predicates: BTreeSet<String>,
    types: BTreeSet<String>,
    /// By the class of `rdf:type`.
    members: BTreeMap<String, usize>,
}

impl Visited {
    fn visit(&mut self, quad: &Quad) {
        if !self.predicates.contains(quad.predicate.as_str()) {
            self.predicates.insert(quad.predicate.as_str().to_owned());
        }
        if let NamedOrBlankNode::NamedNode(subject) = &quad.subject
            && subject.as_str() != self.subject
            && !is_blank(subject.as_str())
        {
            subject.as_str().clone_into(&mut self.subject);
            self.insert(subject.as_str());
        }
        if let Term::NamedNode(object) = &quad.object
            && !is_blank(object.as_str())
            && !rdf::UNITS.contains(&quad.predicate.as_str())
        {
            if quad.predicate.as_str() == rdf::TYPE {
                match self.members.get_mut(object.as_str()) {
                    Some(count) => *count += 1,
                    None => {
                        self.members.insert(object.as_str().to_owned(), 1);
                    }
                }
            }
            self.insert(object.as_str());
            if rdf::TYPES.contains(&quad.predicate.as_str())
                && !self.types.contains(object.as_str())
            {
                self.types.insert(object.as_str().to_owned());
            }
        }
    }

    fn insert(&mut self, id: &str) {
        if !self.entities.contains(id) {
            self.entities.insert(id.to_owned());
        }
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

fn id_of(node: &NamedOrBlankNode) -> String {
    match node {
        NamedOrBlankNode::NamedNode(node) => node.as_str().to_owned(),
        NamedOrBlankNode::BlankNode(node) => node.to_string(),
    }
}
