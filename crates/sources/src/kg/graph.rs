//! What the operators work on: properties, classes and facts of a graph.
use std::collections::HashSet;
use std::sync::Arc;

use halma_core::{EntityId, FactValue};
use oxigraph::model::Term;

use crate::kg::words::Phrase;

/// A relation or attribute of a graph.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Property {
    /// Its id in the graph: an IRI, or the words themselves.
    pub(crate) id: String,
    /// Its label first, then other words for it; never empty.
    pub(crate) labels: Vec<String>,
    /// What its numbers count; empty where the graph does not say.
    pub(crate) unit: String,
    /// The labels as they are compared.
    pub(crate) phrases: Vec<Phrase>,
}

impl Property {
    pub(crate) fn new(id: String, labels: Vec<String>, unit: String) -> Self {
        let phrases = labels.iter().map(|label| Phrase::new(label)).collect();
        Self { id, labels, unit, phrases }
    }

    pub(crate) fn label(&self) -> &str {
        self.labels.first().map_or(&self.id, String::as_str)
    }
}

/// The end of a fact.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Entity(EntityId),
    Value(FactValue),
}

/// A fact before its ends are described.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    pub(crate) head: EntityId,
    pub(crate) property: Arc<Property>,
    pub(crate) tail: Node,
    /// Who states it: the name of a graph, or a node of the base.
    pub(crate) source: String,
    /// What the graph adds to it, `start time: 2014` say.
    pub(crate) qualifiers: Vec<String>,
    /// Whether the graph has a more recent or a preferred value in its place.
    pub(crate) former: bool,
}

impl Statement {
    /// A fact that holds now, without more to it.
    pub(crate) fn plain(
        head: EntityId,
        property: &Arc<Property>,
        tail: Node,
        source: String,
    ) -> Self {
        let property = Arc::clone(property);
        Self { head, property, tail, source, qualifiers: vec![], former: false }
    }
}

/// What is looked up about things: the values of properties, by their IRIs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lookup<'a> {
    /// The property that leads from a thing to the nodes that have the values; `None` where the
    /// thing itself has them.
    pub(crate) over: Option<&'a str>,
    pub(crate) properties: &'a [&'a str],
}

/// One value that was looked up.
#[derive(Debug)]
pub(crate) struct Stated {
    /// The id of the thing that was asked about.
    pub(crate) subject: String,
    /// The id of the node that has the value: with `over` another than the subject.
    pub(crate) node: String,
    /// The place of its property among those of the look-up.
    pub(crate) property: usize,
    pub(crate) value: Term,
    /// The named graph; `None` where the endpoint is not asked for it.
    pub(crate) graph: Option<String>,
}

/// A class of entities.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Class {
    pub(crate) id: String,
    /// Its label first, then other names.
    pub(crate) names: Vec<String>,
}

/// What a graph says of an entity.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Profile {
    pub(crate) id: EntityId,
    pub(crate) label: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) description: String,
    /// The classes it is stated to be of.
    pub(crate) classes: Vec<Class>,
    /// How widely it is known, as far as the graph says: 0 where it does not.
    pub(crate) fame: f32,
}

/// An order of ids in which numbers count as numbers: `Q90` before `Q1018504`.
pub(crate) fn order(id: &EntityId) -> (&str, u64) {
    let name = id.0.trim_end_matches(|c: char| c.is_ascii_digit());
    (name, id.0[name.len()..].parse().unwrap_or(u64::MAX))
}

/// The classes of what is at the two ends of a sample of a property's facts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) heads: HashSet<String>,
    pub(crate) tails: HashSet<String>,
}

/// How near a name must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Near {
    /// The same but for case, accents, punctuation and a leading article.
    Same,
    /// It has all words, perhaps among others.
    AllWords,
    /// It has more than half of the words.
    MostWords,
}
