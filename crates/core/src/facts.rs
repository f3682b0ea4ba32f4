//! Knowledge graphs (KG): entities found by name, related to others, filtered by
//! a condition (the operators of `AtomR`, Section 3.1); and what was extracted from the documents of
//! a base, as a graph.
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{BoxError, Hit, NodeId};

/// The name a graph gives an entity: an IRI, or a node of the base.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntityId(pub String);

impl From<&str> for EntityId {
    fn from(id: &str) -> Self {
        Self(id.to_owned())
    }
}

impl std::fmt::Display for EntityId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// An entity of a knowledge graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    pub id: EntityId,
    pub label: String,
    /// What it is, in a few words; empty where the graph does not say.
    pub description: String,
    /// The labels of its types.
    pub types: Vec<String>,
    /// How well it fits what was looked for, between 0 and 1; 1 where nothing was compared.
    pub score: f32,
}

/// What a fact ends in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tail {
    Entity(Entity),
    Value(FactValue),
}

impl Tail {
    /// As a reader is to see it: the entity's label, the value with its unit.
    pub fn shown(&self) -> String {
        match self {
            Self::Entity(entity) => entity.label.clone(),
            Self::Value(FactValue { text, unit, .. }) if unit.is_empty() => text.clone(),
            Self::Value(FactValue { text, unit, .. }) => format!("{text} {unit}"),
        }
    }
}

/// A value that is not an entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactValue {
    /// Dates as `2023-01-31`, `2023-01` or `2023`; numbers with a point; the rest as it stands.
    pub text: String,
    pub kind: ValueKind,
    /// What a number counts, `km` say; empty where the graph does not say.
    pub unit: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueKind {
    Number,
    Date,
    Truth,
    Text,
}

/// Entity – relation – entity or value.
#[derive(Debug, Clone, Serialize)]
pub struct Fact {
    pub head: Entity,
    /// The relation's label, read from head to tail.
    pub relation: String,
    pub tail: Tail,
    /// What the graph adds to the fact, `start time: 2014` say; empty where it adds nothing.
    pub qualifiers: Vec<String>,
    /// How well relation (or condition) fits what was asked for, between 0 and 1.
    pub score: f32,
    /// The fact as evidence that can be cited: its graph, or the chunk it was extracted from.
    pub evidence: Hit,
}

impl Fact {
    /// As a reader is to see it: head, relation, tail, and what the graph adds.
    pub fn line(&self) -> String {
        let line = format!("{} – {} – {}", self.head.label, self.relation, self.tail.shown());
        if self.qualifiers.is_empty() {
            return line;
        }
        format!("{line} ({})", self.qualifiers.join(", "))
    }
}

/// A knowledge graph, read. Names and relations are a user's or a model's words, never part of a
/// query's syntax.
#[async_trait]
pub trait Facts: Send + Sync {
    /// Its name, as settings, prompts and the trace call it: `kg`.
    fn name(&self) -> &str;

    /// What it holds, in one line, for the model that chooses among sources.
    fn about(&self) -> &str;

    /// Search: the entities of this name or alias, those first that fit the descriptor best.
    async fn find(
        &self,
        name: &str,
        descriptor: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Entity>, BoxError>;

    /// Relate, Equations 1 and 2: the facts about an entity whose relation fits these words best,
    /// in both directions; empty when none fits.
    async fn relate(&self, entity: &EntityId, relation: &str) -> Result<Vec<Fact>, BoxError>;

    /// What the graph says about an entity, in both directions, at most `limit` facts: for callers that
    /// have no relation to ask for. A graph that cannot list says so.
    async fn facts_of(&self, entity: &EntityId, limit: usize) -> Result<Vec<Fact>, BoxError> {
        Err(format!("this graph cannot list {limit} facts about `{entity}`").into())
    }

    /// Relate, Equation 3: the facts that hold between two entities, either way round.
    async fn between(&self, head: &EntityId, tail: &EntityId) -> Result<Vec<Fact>, BoxError>;

    /// Filter: for each entity that meets the condition the fact that shows it, in the entities'
    /// order; `None` when the condition is not a comparison that the graph can decide.
    async fn filter(
        &self,
        entities: &[EntityId],
        condition: &str,
    ) -> Result<Option<Vec<Fact>>, BoxError>;
}

/// All facts of a base and the entities between which they hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ExtractedGraph {
    /// Changes whenever the base does.
    pub generation: u64,
    pub entities: Vec<ExtractedEntity>,
    pub facts: Vec<ExtractedFact>,
}

/// An entity that a fact is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExtractedEntity {
    pub id: NodeId,
    pub name: String,
    /// Other names, normalised.
    pub aliases: Vec<String>,
    /// `person`, `place` …; empty where it is not known.
    pub kind: String,
    pub description: String,
}

/// A fact between two of the entities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExtractedFact {
    pub id: NodeId,
    pub head: NodeId,
    pub relation: String,
    pub tail: NodeId,
}
