//! What the operators work on: properties, classes and facts of a graph.
use std::collections::HashSet;
use std::sync::Arc;

use halma_core::{EntityId, FactValue};

use crate::words::Phrase;

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
