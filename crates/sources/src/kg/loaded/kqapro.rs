//! The knowledge base of KQA Pro, `kb.json`, as RDF: entities with classes, attributes, relations
//! and qualifiers. Cao et al., ACL 2022, Section 3; <https://github.com/shijx12/KQAPro_Baselines>.
//!
//! Facts take the form of a Wikibase: `prop/direct/KEY` for the value, and statements where one
//! of a key has qualifiers. A unit is the type of its number.
use std::collections::{BTreeMap, BTreeSet};

use oxigraph::model::{BlankNode, Literal, NamedNode, Term, vocab::xsd};
use serde::Deserialize;
use serde_json::Value;

use crate::kg::rdf::{self, escaped};

const BASE: &str = "urn:kqapro";

#[derive(Deserialize)]
pub(super) struct KqaPro {
    concepts: BTreeMap<String, Concept>,
    entities: BTreeMap<String, KqaEntity>,
}

#[derive(Deserialize)]
struct Concept {
    name: String,
    #[serde(default, rename = "instanceOf", alias = "subclassOf")]
    above: Vec<String>,
}

#[derive(Deserialize)]
struct KqaEntity {
    name: String,
    #[serde(default, rename = "instanceOf")]
    classes: Vec<String>,
    #[serde(default)]
    attributes: Vec<Attribute>,
    #[serde(default)]
    relations: Vec<Relation>,
}

type Qualifiers = BTreeMap<String, Vec<KqaValue>>;

#[derive(Deserialize)]
struct Attribute {
    key: String,
    value: KqaValue,
    #[serde(default)]
    qualifiers: Qualifiers,
}

#[derive(Deserialize)]
struct Relation {
    #[serde(alias = "relation")]
    predicate: String,
    object: String,
    /// `backward` where the entity is the object.
    #[serde(default)]
    direction: String,
    #[serde(default)]
    qualifiers: Qualifiers,
}

#[derive(Deserialize)]
struct KqaValue {
    #[serde(rename = "type")]
    kind: String,
    value: Value,
    #[serde(default)]
    unit: String,
}

impl KqaValue {
    fn term(&self) -> Term {
        let text = match &self.value {
            Value::String(text) => text.clone(),
            // `12.0` is how Python writes 12.
            other => other.to_string().trim_end_matches(".0").to_owned(),
        };
        let typed = |text: String, kind: NamedNode| Literal::new_typed_literal(text, kind).into();
        match self.kind.as_str() {
            "quantity" if self.unit.is_empty() || self.unit == "1" => {
                typed(text, xsd::DECIMAL.into_owned())
            }
            "quantity" => typed(text, node("unit", &self.unit)),
            "date" => typed(text.replace('/', "-"), xsd::DATE.into_owned()),
            "year" => typed(format!("{text:0>4}"), xsd::G_YEAR.into_owned()),
            _ => Literal::new_simple_literal(text).into(),
        }
    }
}

/// A fact before it is written.
struct KqaFact {
    value: Term,
    qualifiers: Vec<(NamedNode, Term)>,
}

/// The facts of one thing and key.
type ByKey<'a> = BTreeMap<(String, &'a str), Vec<KqaFact>>;

/// Every fact as a line of N-Triples.
pub(super) fn lines(kb: &KqaPro) -> Vec<String> {
    let mut lines = vec![];
    let mut keys: BTreeSet<&str> = BTreeSet::new();
    for (id, Concept { name, above }) in &kb.concepts {
        describe(&mut lines, id, name);
        lines.push(line(&node("entity", id), rdf::TYPE, &iri_term(rdf::OF_CLASSES[0])));
        let above = above.iter().map(|id| node("entity", id).into());
        lines.extend(above.map(|above| line(&node("entity", id), rdf::SUBCLASSES[0], &above)));
    }
    let mut facts: ByKey<'_> = BTreeMap::new();
    for (id, entity) in &kb.entities {
        describe(&mut lines, id, &entity.name);
        let classes = entity.classes.iter().map(|class| node("entity", class).into());
        lines.extend(classes.map(|class| line(&node("entity", id), rdf::TYPE, &class)));
        for Attribute { key, value, qualifiers } in &entity.attributes {
            keys.extend(qualifiers.keys().map(String::as_str).chain([key.as_str()]));
            let fact = KqaFact { value: value.term(), qualifiers: terms(qualifiers) };
            facts.entry((id.clone(), key)).or_default().push(fact);
        }
        for Relation { predicate, object, direction, qualifiers } in &entity.relations {
            keys.extend(qualifiers.keys().map(String::as_str).chain([predicate.as_str()]));
            let back = direction == "backward";
            let (head, tail) = if back { (object, id) } else { (id, object) };
            let value = node("entity", tail).into();
            let fact = KqaFact { value, qualifiers: terms(qualifiers) };
            facts.entry((head.clone(), predicate)).or_default().push(fact);
        }
    }
    for key in keys {
        lines.push(line(&node("entity", key), rdf::TYPE, &iri_term(rdf::OF_PROPERTIES[0])));
        describe(&mut lines, key, key);
    }
    for ((id, key), facts) in facts {
        state(&mut lines, &id, key, &facts);
    }
    lines
}

/// The facts of one thing and key: if one has qualifiers all have statements.
fn state(lines: &mut Vec<String>, id: &str, key: &str, facts: &[KqaFact]) {
    let thing = node("entity", id);
    let qualified = facts.iter().any(|fact| !fact.qualifiers.is_empty());
    for KqaFact { value, qualifiers } in facts {
        lines.push(line(&thing, node("prop/direct", key).as_str(), value));
        if !qualified {
            continue;
        }
        let said = format!("{thing} {key} {value} {qualifiers:?}");
        let name = format!("s{}", &blake3::hash(said.as_bytes()).to_hex()[..24]);
        let statement = BlankNode::new_unchecked(name);
        lines.push(line(&thing, node("prop", key).as_str(), &statement.clone().into()));
        lines.push(line(&statement, node("prop/statement", key).as_str(), value));
        lines.extend(qualifiers.iter().map(|(key, value)| line(&statement, key.as_str(), value)));
    }
}

fn terms(qualifiers: &Qualifiers) -> Vec<(NamedNode, Term)> {
    let each = qualifiers.iter().flat_map(|(key, values)| {
        values.iter().map(move |value| (node("prop/qualifier", key), value.term()))
    });
    each.collect()
}

fn describe(lines: &mut Vec<String>, id: &str, name: &str) {
    let name = Literal::new_simple_literal(name).into();
    lines.push(line(&node("entity", id), rdf::LABELS[0], &name));
}

fn node(kind: &str, id: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("{BASE}/{kind}/{}", escaped(id)))
}

fn iri_term(iri: &str) -> Term {
    NamedNode::new_unchecked(iri).into()
}

fn line(subject: &impl std::fmt::Display, predicate: &str, object: &Term) -> String {
    format!("{subject} <{predicate}> {object} .")
}
