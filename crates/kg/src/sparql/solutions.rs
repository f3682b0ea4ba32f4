//! From the solutions of queries to descriptions, properties and the ends of facts.
use std::collections::{BTreeMap, BTreeSet, HashSet};

use halma_core::EntityId;
use oxigraph::model::{Literal, Term};
use sparesults::QuerySolution;

use crate::graph::{Class, Node, Profile, Property};
use crate::rdf;

/// The IRI that a solution has under a name.
pub(crate) fn iri<'s>(solution: &'s QuerySolution, name: &str) -> Option<&'s str> {
    match solution.get(name)? {
        Term::NamedNode(node) => Some(node.as_str()),
        _ => None,
    }
}

/// The text that a solution has under a name.
pub(crate) fn text<'s>(solution: &'s QuerySolution, name: &str) -> Option<&'s str> {
    Some(literal(solution, name)?.value())
}

fn literal<'s>(solution: &'s QuerySolution, name: &str) -> Option<&'s Literal> {
    match solution.get(name)? {
        Term::Literal(literal) => Some(literal),
        _ => None,
    }
}

/// 0 for a language of ours, 1 for none and `mul`, 2 for another one.
fn foreignness(text: &Literal, language: &str) -> u8 {
    match text.language() {
        Some(tag) if tag.split('-').next() == Some(language) => 0,
        None | Some("mul") => 1,
        Some(_) => 2,
    }
}

/// The texts of several properties, of which the first that has some counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts(BTreeSet<(usize, u8, String)>);

impl Texts {
    /// Takes what a solution has under `name0`, `name1` …
    fn take(&mut self, solution: &QuerySolution, names: &[String], language: &str) {
        for (rank, name) in names.iter().enumerate() {
            if let Some(text) = literal(solution, name) {
                self.0.insert((rank, foreignness(text, language), text.value().to_owned()));
            }
        }
    }

    /// Those in our language first, then those in none; others only where there is nothing else.
    fn preferred(self) -> Vec<String> {
        let Some((first, foreign)) = self.0.first().map(|(rank, foreign, _)| (*rank, *foreign))
        else {
            return vec![];
        };
        let most = if foreign < 2 { 1 } else { 2 };
        let kept =
            self.0.into_iter().filter(|(rank, foreign, _)| *rank == first && *foreign <= most);
        let mut seen = HashSet::new();
        kept.map(|(_, _, text)| text).filter(|text| seen.insert(text.clone())).collect()
    }
}

/// The names of the variables under which a query gives the texts of a description.
pub(crate) struct Columns {
    pub(crate) labels: Vec<String>,
    pub(crate) aliases: Vec<String>,
    pub(crate) descriptions: Vec<String>,
}

/// What a graph says of an entity, a class or a property.
#[derive(Debug, Clone, Default)]
pub(crate) struct Description {
    labels: Texts,
    aliases: Texts,
    descriptions: Texts,
    pub(crate) classes: BTreeSet<String>,
    unit: Option<String>,
}

impl Description {
    pub(crate) fn take(&mut self, solution: &QuerySolution, columns: &Columns, language: &str) {
        self.labels.take(solution, &columns.labels, language);
        self.aliases.take(solution, &columns.aliases, language);
        self.descriptions.take(solution, &columns.descriptions, language);
        self.classes.extend(iri(solution, "class").map(str::to_owned));
        self.unit = unit(solution).or(self.unit.take());
    }

    pub(crate) fn has_label(&self) -> bool {
        !self.labels.0.is_empty()
    }

    pub(crate) fn has_name(&self) -> bool {
        self.has_label() || !self.aliases.0.is_empty()
    }

    /// Labels, then aliases, each once.
    fn names(labels: Texts, aliases: Texts) -> Vec<String> {
        let mut names = labels.preferred();
        names.extend(aliases.preferred());
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    pub(crate) fn class(self, id: String) -> Class {
        let mut names = Self::names(self.labels, self.aliases);
        if names.is_empty() {
            names.push(rdf::local_name(&id));
        }
        Class { id, names }
    }

    pub(crate) fn profile(self, id: &EntityId, classes: Vec<Class>) -> Profile {
        let description = self.descriptions.preferred().into_iter().next().unwrap_or_default();
        let mut aliases = Self::names(self.labels, self.aliases);
        if aliases.is_empty() {
            aliases.push(rdf::local_name(&id.0));
        }
        let label = aliases.remove(0);
        Profile { id: id.clone(), label, aliases, description, classes }
    }

    pub(crate) fn property(self, id: String) -> Property {
        let mut labels = Self::names(self.labels, self.aliases);
        if id == rdf::TYPE {
            labels.extend(rdf::TYPE_NAMES.iter().map(|&name| name.to_owned()));
        }
        let local = rdf::local_name(&id);
        if !labels.contains(&local) {
            labels.push(local);
        }
        Property::new(id, labels, self.unit.unwrap_or_default())
    }
}

/// The end of a fact with where it is stated.
pub(crate) struct End {
    pub(crate) node: Node,
    /// The named graph; `None` where the endpoint is not asked for it.
    pub(crate) graph: Option<String>,
}

/// The ends of one entity's facts, sorted, each once; texts in our language where there are some.
pub(crate) fn ends(
    solutions: &[QuerySolution],
    property: &Property,
    language: &str,
    id: impl Fn(&str) -> String,
) -> Vec<End> {
    let foreign = |solution: &QuerySolution| {
        literal(solution, "v").is_some_and(|text| foreignness(text, language) == 2)
    };
    let own = solutions.iter().any(|solution| !foreign(solution));
    let mut ends: BTreeMap<String, End> = BTreeMap::new();
    for solution in solutions.iter().filter(|solution| !own || !foreign(solution)) {
        if let (Some(term), Some(node)) = (solution.get("v"), end(solution, property, &id)) {
            let graph = iri(solution, "graph").map(str::to_owned);
            let known = ends.entry(term.to_string()).or_insert_with(|| End { node, graph: None });
            // Of several graphs that state it the first by name is cited.
            known.graph = match (known.graph.take(), graph) {
                (Some(known), Some(graph)) => Some(known.min(graph)),
                (known, graph) => known.or(graph),
            };
        }
    }
    ends.into_values().collect()
}

/// The label of a unit, or the end of its IRI.
fn unit(solution: &QuerySolution) -> Option<String> {
    let label = text(solution, "unitLabel").or_else(|| text(solution, "unit"));
    label.map(str::to_owned).or_else(|| iri(solution, "unit").map(rdf::local_name))
}

fn end(solution: &QuerySolution, property: &Property, id: impl Fn(&str) -> String) -> Option<Node> {
    let unit = unit(solution).unwrap_or_else(|| property.unit.clone());
    // Wikidata counts what has no unit in ones.
    let unit = if unit == "1" || unit == "Q199" { String::new() } else { unit };
    let value = |literal: &Literal| Node::Value(rdf::value(literal.as_ref(), &unit));
    if let Some(number) = literal(solution, "number") {
        return Some(value(number));
    }
    match solution.get("v")? {
        Term::Literal(literal) => Some(value(literal)),
        Term::NamedNode(node) => Some(Node::Entity(EntityId(id(node.as_str())))),
        Term::BlankNode(_) => None,
    }
}
