//! What a store in this process knows of its loaded files: which things are entities, what they are
//! called, how many there are of each class.
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use halma_core::EntityId;
use oxigraph::model::{NamedNodeRef, NamedOrBlankNode, Quad, Term, TermRef};

use super::in_process::{InProcess, is_blank};
use crate::kg::names::{Names, Number};
use crate::kg::rdf;
use crate::kg::words::stems;

impl InProcess {
    pub(super) fn index(&mut self, visited: Visited) {
        self.members = visited.members;
        self.predicates = visited.predicates;
        // A Wikibase's statements are read through their direct properties.
        let of_wikibase = self.predicates.iter().any(|id| rdf::wikibase(id).is_some());
        let is_property =
            |id: &&String| !rdf::is_describing(id) && (!of_wikibase || !rdf::is_of_statements(id));
        self.properties = self.predicates.iter().filter(is_property).cloned().collect();
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
pub(super) struct Visited {
    entities: HashSet<String>,
    /// The subject of the fact before: the files are sorted.
    subject: String,
    predicates: BTreeSet<String>,
    types: BTreeSet<String>,
    /// By the class of `rdf:type`.
    members: BTreeMap<String, usize>,
}

impl Visited {
    pub(super) fn visit(&mut self, quad: &Quad) {
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

fn id_of(node: &NamedOrBlankNode) -> String {
    match node {
        NamedOrBlankNode::NamedNode(node) => node.as_str().to_owned(),
        NamedOrBlankNode::BlankNode(node) => node.to_string(),
    }
}
