//! From the solutions of an endpoint to properties, entities and the ends of facts.
use std::collections::BTreeMap;

use halma_core::EntityId;
use oxigraph::model::{Literal, Term};
use sparesults::QuerySolution;
use spargebra::algebra::GraphPattern;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use super::client::{iri, text};
use super::query::{any_of, bgp, in_language, join, optional, own, triple, var};
use crate::graph::{Class, Node, Profile, Property};
use crate::rdf;

/// What was told of a property.
#[derive(Default)]
pub(crate) struct Described {
    labels: Vec<String>,
    aliases: Vec<String>,
    unit: String,
}

impl Described {
    pub(crate) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.aliases.is_empty()
    }

    pub(crate) fn take(&mut self, solution: &QuerySolution) {
        self.labels.extend(text(solution, "label"));
        self.aliases.extend(text(solution, "alias"));
        let unit = text(solution, "unit");
        let unit = unit.or_else(|| iri(solution, "unit").map(|unit| rdf::local_name(&unit)));
        self.unit = unit.unwrap_or_else(|| std::mem::take(&mut self.unit));
    }

    pub(crate) fn property(mut self, id: String) -> Property {
        self.labels.sort_unstable();
        self.aliases.sort_unstable();
        let mut labels = self.labels;
        labels.extend(self.aliases);
        if id == rdf::TYPE {
            labels.extend(rdf::TYPE_NAMES.iter().map(|&name| name.to_owned()));
        }
        labels.push(rdf::local_name(&id));
        let mut seen = std::collections::HashSet::new();
        labels.retain(|label| seen.insert(label.clone()));
        Property::new(id, labels, self.unit)
    }
}

/// What was told of an entity.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    labels: Vec<String>,
    aliases: Vec<String>,
    descriptions: Vec<String>,
    classes: BTreeMap<String, Option<String>>,
}

impl Told {
    pub(crate) fn take(&mut self, solution: &QuerySolution) {
        self.labels.extend(text(solution, "label"));
        self.aliases.extend(text(solution, "alias"));
        self.descriptions.extend(text(solution, "description"));
        if let Some(class) = iri(solution, "class") {
            let label = text(solution, "classLabel");
            let known = self.classes.entry(class).or_default();
            // Of several labels the first by letters, whatever the endpoint's order.
            *known = match (known.take(), label) {
                (Some(known), Some(label)) => Some(known.min(label)),
                (known, label) => known.or(label),
            };
        }
    }

    pub(crate) fn profile(mut self, id: &EntityId) -> Profile {
        self.labels.sort_unstable();
        self.descriptions.sort_unstable();
        let mut names = self.labels;
        self.aliases.sort_unstable();
        names.extend(self.aliases);
        if names.is_empty() {
            names.push(rdf::local_name(&id.0));
        }
        let label = names.remove(0);
        names.retain(|name| *name != label);
        let classes = self.classes.into_iter().map(|(id, label)| {
            let label = label.unwrap_or_else(|| rdf::local_name(&id));
            Class { id, names: vec![label] }
        });
        Profile {
            id: id.clone(),
            label,
            aliases: names,
            description: self.descriptions.into_iter().next().unwrap_or_default(),
            classes: classes.collect(),
        }
    }
}

/// The ends of one entity's facts, sorted, each once; texts in our language where there are some.
pub(crate) fn ends(found: &[QuerySolution], property: &Property, language: &str) -> Vec<Node> {
    let strange = |solution: &QuerySolution| match solution.get("v") {
        Some(Term::Literal(text)) => text
            .language()
            .is_some_and(|tag| tag != "mul" && tag.split('-').next() != Some(language)),
        _ => false,
    };
    let own = found.iter().any(|solution| !strange(solution));
    let mut ends: BTreeMap<String, Node> = BTreeMap::new();
    for solution in found.iter().filter(|solution| !own || !strange(solution)) {
        if let (Some(term), Some(end)) = (solution.get("v"), end(solution, property)) {
            ends.insert(term.to_string(), end);
        }
    }
    ends.into_values().collect()
}

fn end(solution: &QuerySolution, property: &Property) -> Option<Node> {
    let unit = text(solution, "unit");
    let unit = unit.or_else(|| iri(solution, "unit").map(|unit| rdf::local_name(&unit)));
    let unit = unit.unwrap_or_else(|| property.unit.clone());
    // Wikidata counts what has no unit in ones.
    let unit = if unit == "1" || unit == "Q199" { String::new() } else { unit };
    let value = |literal: &Literal| Node::Value(rdf::value(literal.as_ref(), &unit));
    if let Some(Term::Literal(number)) = solution.get("number") {
        return Some(value(number));
    }
    match solution.get("v")? {
        Term::Literal(literal) => Some(value(literal)),
        Term::NamedNode(node) => Some(Node::Entity(EntityId(node.as_str().to_owned()))),
        Term::BlankNode(_) => None,
    }
}

/// The unit where a value has one of its own: at a node that holds number and unit, or, in
/// Wikidata, at the statement that the direct property shortens.
pub(crate) fn with_quantity(facts: GraphPattern, property: &str, language: &str) -> GraphPattern {
    const DIRECT: &str = "http://www.wikidata.org/prop/direct/";
    if let Some(number) = property.strip_prefix(DIRECT) {
        let of = |kind: &str| own(&format!("http://www.wikidata.org/prop/{kind}{number}"));
        let ontology = |name: &str| own(&format!("http://wikiba.se/ontology#{name}"));
        let chain = |subject: &str, predicate, object: &str| TriplePattern {
            subject: TermPattern::Variable(var(subject)),
            predicate: NamedNodePattern::NamedNode(predicate),
            object: TermPattern::Variable(var(object)),
        };
        let quantity = bgp(vec![
            chain("e", of(""), "statement"),
            chain("statement", of("statement/value/"), "node"),
            chain("node", ontology("quantityAmount"), "v"),
            chain("node", ontology("quantityUnit"), "unitNode"),
        ]);
        let label = own("http://www.w3.org/2000/01/rdf-schema#label");
        let label = in_language(triple(var("unitNode"), label, var("unit")), "unit", language);
        return optional(facts, join(quantity, label));
    }
    let number = any_of(var("v"), rdf::QUANTITIES, var("number"));
    let unit = any_of(var("v"), rdf::UNITS, var("unit"));
    optional(facts, optional(number, unit))
}

/// Wikidata's own search for names, which knows aliases and forgives case.
pub(crate) fn entity_search(name: &str, language: &str) -> GraphPattern {
    let service = |setting: &str, value: &str| TriplePattern {
        subject: TermPattern::NamedNode(own("http://www.bigdata.com/rdf#serviceParam")),
        predicate: NamedNodePattern::NamedNode(own(setting)),
        object: TermPattern::Literal(Literal::new_simple_literal(value)),
    };
    let inner = bgp(vec![
        service("http://wikiba.se/ontology#api", "EntitySearch"),
        service("http://wikiba.se/ontology#endpoint", "www.wikidata.org"),
        service("https://www.mediawiki.org/ontology#API/search", name),
        service("https://www.mediawiki.org/ontology#API/language", language),
        TriplePattern {
            subject: TermPattern::Variable(var("e")),
            predicate: NamedNodePattern::NamedNode(own("http://wikiba.se/ontology#apiOutputItem")),
            object: TermPattern::NamedNode(own("https://www.mediawiki.org/ontology#API/item")),
        },
    ]);
    let name = NamedNodePattern::NamedNode(own("http://wikiba.se/ontology#mwapi"));
    GraphPattern::Service { name, inner: Box::new(inner), silent: false }
}
