//! What the operators need to know of a graph, whatever keeps it: an embedded store, an endpoint,
//! the base's own facts.
use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{BoxError, EntityId, FactValue, Hit};

use super::words::Phrase;

/// A relation or attribute of a graph.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Property {
    /// What the graph calls it: an IRI, or the words themselves.
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

/// What stands at the end of a fact.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Entity(EntityId),
    Value(FactValue),
}

/// A fact before its ends are described.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stated {
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

/// The classes of what stands at the two ends of a property's facts, of some of them.
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

/// A knowledge graph, as far as the operators look into it. Lists are in a fixed order.
#[async_trait]
pub(crate) trait Graph: Send + Sync {
    /// Whether names can be looked up by their words without much ado.
    fn looks_by_words(&self) -> bool {
        true
    }

    /// Entities with such a label or alias, at most so many.
    async fn named(&self, name: &str, near: Near, limit: usize) -> Result<Vec<EntityId>, BoxError>;

    /// One profile for each entity, in their order; one that is unknown has its id for a label.
    async fn profiles(&self, entities: &[EntityId]) -> Result<Vec<Profile>, BoxError>;

    /// The labels of what some facts tie an entity to, at most so many.
    async fn around(&self, entity: &EntityId, limit: usize) -> Result<Vec<String>, BoxError>;

    /// The properties that these words may mean where they are said of these entities.
    async fn properties(
        &self,
        entities: &[EntityId],
        words: &str,
    ) -> Result<Vec<Arc<Property>>, BoxError>;

    /// The facts that begin in one of these entities.
    async fn of_heads(
        &self,
        heads: &[EntityId],
        property: &Arc<Property>,
    ) -> Result<Vec<Stated>, BoxError>;

    /// The facts that end in an entity, at most so many.
    async fn of_tail(
        &self,
        tail: &EntityId,
        property: &Arc<Property>,
        limit: usize,
    ) -> Result<Vec<Stated>, BoxError>;

    /// The facts from one entity to another.
    async fn between(&self, head: &EntityId, tail: &EntityId) -> Result<Vec<Stated>, BoxError>;

    async fn ends(&self, property: &Property) -> Result<Ends, BoxError>;

    /// The classes of each entity with those above them, in the entities' order.
    async fn classes(&self, entities: &[EntityId]) -> Result<Vec<Vec<Class>>, BoxError>;

    /// Whether the graph knows a class of this name at all.
    async fn has_class(&self, name: &str) -> Result<bool, BoxError>;

    /// What stands as the document of what the graph as a whole says.
    fn own_name(&self) -> String;

    /// What can be cited for a fact; `None` where the fact itself is all there is.
    async fn cited(&self, stated: &Stated) -> Result<Option<Hit>, BoxError>;
}
