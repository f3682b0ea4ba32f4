//! A graph in memory: an RDF store, the names of its entities, what its properties are called.
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use halma_core::EntityId;
use oxigraph::io::{RdfFormat, RdfParser};
use oxigraph::model::{
    BlankNode, GraphName, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term, TermRef,
};
use oxigraph::store::Store;

use super::files::{Files, KgError};
use crate::graph::{Ends, Property};
use crate::names::{Names, Number};
use crate::rdf;
use crate::words::stems;

/// Facts that are handed on at once.
const BATCH: usize = 4_096;

/// What the graphs in the store are called, by number.
const GRAPH: &str = "urn:halma:kg:";

/// The loaded graphs as one.
pub(crate) struct Stored {
    pub(crate) store: Store,
    pub(crate) graphs: Vec<String>,
    pub(crate) language: String,
    pub(crate) names: Names,
    /// Entities by number.
    pub(crate) entities: Vec<EntityId>,
    /// Numbers of what is a class of others.
    pub(crate) classes: BTreeSet<Number>,
    /// The stems of the classes' names.
    pub(crate) class_names: BTreeSet<Vec<String>>,
    pub(crate) properties: Vec<Arc<Property>>,
    pub(crate) by_id: HashMap<String, Arc<Property>>,
    pub(crate) ends: Mutex<HashMap<String, Ends>>,
    pub(crate) facts: usize,
    /// Entities whose name is only the end of their IRI.
    pub(crate) unlabelled: usize,
}

impl Stored {
    /// Reads all graphs of a folder. Other processors take the parsing over where there are any.
    pub(crate) fn read(files: &Files, language: &str) -> Result<Self, KgError> {
        let store = Store::new().map_err(|e| KgError::Store(e.to_string()))?;
        let (mut graphs, mut seen, mut facts) = (vec![], Seen::default(), 0);
        for kept in files.list() {
            let unreadable = |source| KgError::Unreadable { path: kept.path.clone(), source };
            let bytes = std::fs::read(&kept.path).map_err(unreadable)?;
            let graph = graph_name(graphs.len());
            let failed = |e: String| KgError::Store(format!("`{}`: {e}", kept.path.display()));
            let parser = RdfParser::from_format(RdfFormat::NTriples).lenient();
            let parser = parser.with_default_graph(graph);
            let mut loader = store.bulk_loader().with_max_memory_size_in_megabytes(64);
            // Parsing takes about as long as storing, so that they go side by side.
            let read = std::thread::scope(|scope| {
                let (sender, receiver) = std::sync::mpsc::sync_channel::<Vec<Quad>>(4);
                let (seen, bytes) = (&mut seen, &bytes);
                let parsing = scope.spawn(move || {
                    let mut read = 0;
                    let mut batch = Vec::with_capacity(BATCH);
                    for quad in parser.for_slice(bytes) {
                        let quad = quad.map_err(|e| e.to_string())?;
                        seen.see(&quad);
                        read += 1;
                        batch.push(quad);
                        if batch.len() == BATCH {
                            let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
                            sender.send(full).map_err(|e| e.to_string())?;
                        }
                    }
                    sender.send(batch).map_err(|e| e.to_string())?;
                    Ok::<usize, String>(read)
                });
                let stored = loader.load_quads(receiver.into_iter().flatten());
                let read = parsing.join().map_err(|_| "reading it panicked".to_owned())?;
                stored.map_err(|e| e.to_string())?;
                read
            });
            facts += read.map_err(failed)?;
            loader.commit().map_err(|e| failed(e.to_string()))?;
            graphs.push(kept.graph);
        }
        Ok(Self::index(store, graphs, &seen, language, facts))
    }

    fn index(store: Store, graphs: Vec<String>, seen: &Seen, language: &str, facts: usize) -> Self {
        let mut stored = Self {
            store,
            graphs,
            language: language.to_owned(),
            names: Names::default(),
            entities: vec![],
            classes: BTreeSet::new(),
            class_names: BTreeSet::new(),
            properties: vec![],
            by_id: HashMap::new(),
            ends: Mutex::default(),
            facts,
            unlabelled: 0,
        };
        stored.properties = seen
            .predicates
            .iter()
            .filter(|id| !rdf::is_describing(id))
            .map(|id| stored.property(id))
            .collect();
        let by_id =
            stored.properties.iter().map(|property| (property.id.clone(), Arc::clone(property)));
        stored.by_id = by_id.collect();
        stored.name_all(seen);
        stored
    }

    fn name_all(&mut self, seen: &Seen) {
        let of_properties: BTreeSet<String> = rdf::OF_PROPERTIES
            .iter()
            .flat_map(|class| self.subjects(rdf::TYPE, class))
            .chain(seen.predicates.iter().cloned())
            .collect();
        let mut classes: BTreeSet<String> =
            rdf::OF_CLASSES.iter().flat_map(|class| self.subjects(rdf::TYPE, class)).collect();
        classes.extend(seen.types.iter().cloned());
        let of_classes =
            |id: &str| rdf::OF_CLASSES.contains(&id) || rdf::OF_PROPERTIES.contains(&id);
        let mut numbers: HashMap<&str, Number> = HashMap::new();
        let is_one = |id: &&String| !of_properties.contains(*id) && !of_classes(id);
        let mut entities: Vec<&String> = seen.entities.iter().filter(is_one).collect();
        entities.sort_unstable();
        for id in entities {
            let Ok(number) = Number::try_from(self.entities.len()) else { break };
            numbers.insert(id, number);
            self.entities.push(EntityId(id.clone()));
            if classes.contains(id) {
                self.classes.insert(number);
            }
        }
        let mut labelled = vec![false; self.entities.len()];
        let mut names = Names::default();
        for (list, is_label) in [(rdf::LABELS, true), (rdf::ALIASES, false)] {
            for property in list.iter().filter(|property| seen.predicates.contains(**property)) {
                let property = NamedNodeRef::new_unchecked(property);
                for quad in self.store.quads_for_pattern(None, Some(property), None, None).flatten()
                {
                    let Term::Literal(name) = &quad.object else { continue };
                    let Some(&number) = numbers.get(id_of(&quad.subject).as_str()) else {
                        continue;
                    };
                    names.add(number, name.value());
                    labelled[number as usize] |= is_label;
                    if self.classes.contains(&number) {
                        self.class_names.insert(stems(name.value()));
                    }
                }
            }
        }
        for (number, id) in (0..).zip(&self.entities) {
            if !labelled[number as usize] {
                let name = rdf::local_name(&id.0);
                names.add(number, &name);
                self.unlabelled += 1;
                if self.classes.contains(&number) {
                    self.class_names.insert(stems(&name));
                }
            }
        }
        self.names = names;
    }

    fn subjects(&self, property: &str, object: &str) -> Vec<String> {
        let property = NamedNodeRef::new_unchecked(property);
        let object = TermRef::from(NamedNodeRef::new_unchecked(object));
        let quads = self.store.quads_for_pattern(None, Some(property), Some(object), None);
        quads.flatten().map(|quad| id_of(&quad.subject)).collect()
    }

    fn property(&self, id: &str) -> Arc<Property> {
        let entity = EntityId(rdf::described_at(id));
        let mut labels: Vec<String> =
            self.texts(&entity, rdf::LABELS).into_iter().take(1).collect();
        labels.extend(self.texts(&entity, rdf::ALIASES));
        if id == rdf::TYPE {
            labels.extend(rdf::TYPE_NAMES.iter().map(|&name| name.to_owned()));
        }
        let local = rdf::local_name(id);
        if !labels.contains(&local) {
            labels.push(local);
        }
        Arc::new(Property::new(id.to_owned(), labels, self.unit(&entity)))
    }

    /// What one of [`rdf::UNITS`] says.
    pub(crate) fn unit(&self, of: &EntityId) -> String {
        for unit in rdf::UNITS {
            match self.objects(of, unit).into_iter().next() {
                Some(Term::Literal(text)) => return text.value().to_owned(),
                Some(Term::NamedNode(node)) => {
                    let named = EntityId(node.as_str().to_owned());
                    let labels = self.texts(&named, rdf::LABELS).into_iter().next();
                    return labels.unwrap_or_else(|| rdf::local_name(node.as_str()));
                }
                _ => {}
            }
        }
        String::new()
    }

    /// What stands behind a property, sorted, each once.
    pub(crate) fn objects(&self, of: &EntityId, property: &str) -> Vec<Term> {
        let found = self.quads(of, property).into_iter().map(|quad| quad.object);
        let mut found: Vec<(String, Term)> = found.map(|term| (term.to_string(), term)).collect();
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        found.dedup_by(|a, b| a.0 == b.0);
        found.into_iter().map(|(_, term)| term).collect()
    }

    pub(crate) fn quads(&self, of: &EntityId, property: &str) -> Vec<Quad> {
        let Some(subject) = node(of) else { return vec![] };
        let property = NamedNodeRef::new_unchecked(property);
        let quads =
            self.store.quads_for_pattern(Some(subject.as_ref()), Some(property), None, None);
        quads.flatten().collect()
    }

    /// Texts of the first property of a list that has some, those in our language first, then
    /// those in none; in others only where there is nothing else.
    pub(crate) fn texts(&self, of: &EntityId, properties: &[&str]) -> Vec<String> {
        for property in properties {
            let literals = self.objects(of, property).into_iter().filter_map(|term| match term {
                Term::Literal(literal) => Some(literal),
                _ => None,
            });
            let mut found: Vec<(u8, String)> = literals
                .map(|text| (self.strangeness(text.language()), text.value().to_owned()))
                .collect();
            if found.is_empty() {
                continue;
            }
            found.sort_unstable();
            let least = if found[0].0 < 2 { 1 } else { 2 };
            let own = found.into_iter().filter(|(strange, _)| *strange <= least);
            return own.map(|(_, text)| text).collect();
        }
        vec![]
    }

    /// 0 for our language, 1 for none, 2 for another.
    pub(crate) fn strangeness(&self, language: Option<&str>) -> u8 {
        match language {
            Some(of) if of.split('-').next() == Some(self.language.as_str()) => 0,
            None => 1,
            Some(_) => 2,
        }
    }

    /// The name of the graph that a fact stands in.
    pub(crate) fn source(&self, graph: &GraphName) -> String {
        let number = match graph {
            GraphName::NamedNode(name) => name.as_str().strip_prefix(GRAPH),
            _ => None,
        };
        let name = number.and_then(|number| self.graphs.get(number.parse::<usize>().ok()?));
        format!("kg:{}", name.map_or("graph", String::as_str))
    }

    pub(crate) fn ends_of(&self, property: &str, read: impl Fn() -> Ends) -> Ends {
        let known = self.ends.lock().unwrap_or_else(PoisonError::into_inner).get(property).cloned();
        known.unwrap_or_else(|| {
            let ends = read();
            let mut kept = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
            kept.insert(property.to_owned(), ends.clone());
            ends
        })
    }

    /// The classes with most members, by label, for whoever chooses among sources.
    pub(crate) fn commonest_classes(&self, most: usize) -> Vec<(String, usize)> {
        let property = NamedNodeRef::new_unchecked(rdf::TYPE);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for quad in self.store.quads_for_pattern(None, Some(property), None, None).flatten() {
            if let Term::NamedNode(class) = &quad.object {
                *counts.entry(class.as_str().to_owned()).or_default() += 1;
            }
        }
        let describing =
            |id: &str| rdf::OF_CLASSES.contains(&id) || rdf::OF_PROPERTIES.contains(&id);
        let mut counts: Vec<(String, usize)> =
            counts.into_iter().filter(|(id, _)| !describing(id)).collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let named = counts.into_iter().take(most).map(|(id, count)| {
            let label = self.texts(&EntityId(id.clone()), rdf::LABELS).into_iter().next();
            (label.unwrap_or_else(|| rdf::local_name(&id)), count)
        });
        named.collect()
    }
}

/// What was met while the files were read.
#[derive(Default)]
struct Seen {
    entities: HashSet<String>,
    /// The subject of the fact before: the files are sorted.
    subject: String,
    predicates: BTreeSet<String>,
    types: BTreeSet<String>,
}

impl Seen {
    fn see(&mut self, quad: &Quad) {
        if !self.predicates.contains(quad.predicate.as_str()) {
            self.predicates.insert(quad.predicate.as_str().to_owned());
        }
        if let NamedOrBlankNode::NamedNode(subject) = &quad.subject
            && subject.as_str() != self.subject
        {
            subject.as_str().clone_into(&mut self.subject);
            self.meet(subject.as_str());
        }
        if let Term::NamedNode(object) = &quad.object
            && !rdf::UNITS.contains(&quad.predicate.as_str())
        {
            self.meet(object.as_str());
            if rdf::TYPES.contains(&quad.predicate.as_str())
                && !self.types.contains(object.as_str())
            {
                self.types.insert(object.as_str().to_owned());
            }
        }
    }

    fn meet(&mut self, id: &str) {
        if !self.entities.contains(id) {
            self.entities.insert(id.to_owned());
        }
    }
}

fn graph_name(number: usize) -> NamedNode {
    NamedNode::new_unchecked(format!("{GRAPH}{number}"))
}

pub(crate) fn id_of(node: &NamedOrBlankNode) -> String {
    match node {
        NamedOrBlankNode::NamedNode(node) => node.as_str().to_owned(),
        NamedOrBlankNode::BlankNode(node) => node.to_string(),
    }
}

/// The node of an id; `None` for what can be none.
pub(crate) fn node(id: &EntityId) -> Option<NamedOrBlankNode> {
    match id.0.strip_prefix("_:") {
        Some(blank) => BlankNode::new(blank).ok().map(Into::into),
        None => NamedNode::new(id.0.as_str()).ok().map(Into::into),
    }
}
