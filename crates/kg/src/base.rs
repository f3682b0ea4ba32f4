//! The base's own entities and facts as a graph: what a model read out of the documents, each with
//! the chunk it was read from.
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use halma_core::{BoxError, EntityId, Hit, Knowledge, NodeId};

use super::changing::Current;
use super::graph::{Class, Ends, Graph, Near, Node, Profile, Property, Stated};
use super::names::{Names, Number};
use super::operators::Operators;
use super::words::stems;

/// An entity of the base.
#[derive(Debug, Clone)]
pub struct ToldEntity {
    pub id: NodeId,
    pub name: String,
    pub aliases: Vec<String>,
    /// `person`, `place` …; empty where nobody said.
    pub kind: String,
    pub description: String,
}

/// A fact of the base between two of its entities.
#[derive(Debug, Clone)]
pub struct ToldFact {
    pub id: NodeId,
    pub head: NodeId,
    pub relation: String,
    pub tail: NodeId,
}

/// All that a base has been told.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// Changes with what is told.
    pub version: String,
    pub entities: Vec<ToldEntity>,
    pub facts: Vec<ToldFact>,
}

/// Reads what a base has been told; `None` when it still is what it was at that version.
pub type Telling = Arc<dyn Fn(Option<&str>) -> Result<Option<Told>, BoxError> + Send + Sync>;

/// The base's facts, read again when they have changed.
pub struct BaseFacts {
    knowledge: Arc<dyn Knowledge>,
    telling: Telling,
    about: String,
    held: Mutex<Option<(String, Arc<Operators>)>>,
}

impl BaseFacts {
    pub fn new(knowledge: Arc<dyn Knowledge>, telling: Telling) -> Self {
        let about = "what was read out of the documents: who and what they name, and how it is \
                     related"
            .to_owned();
        Self { knowledge, telling, about, held: Mutex::default() }
    }
}

#[async_trait]
impl Current for BaseFacts {
    fn about(&self) -> &str {
        &self.about
    }

    async fn graph(&self) -> Result<Arc<Operators>, BoxError> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let version = held.as_ref().map(|(version, _)| version.clone());
        let telling = Arc::clone(&self.telling);
        let told = tokio::task::spawn_blocking(move || telling(version.as_deref())).await??;
        let (told, held) = match (told, held) {
            (None, Some((_, graph))) => return Ok(graph),
            (told, held) => (told.unwrap_or_default(), held),
        };
        drop(held);
        let version = told.version.clone();
        let graph = ToldGraph::new(told, Arc::clone(&self.knowledge));
        let graph = Arc::new(Operators::new(Arc::new(graph), self.about.clone()));
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        *held = Some((version, Arc::clone(&graph)));
        Ok(graph)
    }
}

/// The facts by their ends.
struct ToldGraph {
    knowledge: Arc<dyn Knowledge>,
    entities: Vec<ToldEntity>,
    facts: Vec<ToldFact>,
    numbers: HashMap<NodeId, usize>,
    names: Names,
    properties: BTreeMap<String, Arc<Property>>,
    leaving: HashMap<NodeId, Vec<usize>>,
    arriving: HashMap<NodeId, Vec<usize>>,
}

impl ToldGraph {
    fn new(told: Told, knowledge: Arc<dyn Knowledge>) -> Self {
        let Told { entities, facts, .. } = told;
        let mut names = Names::default();
        for (number, entity) in (0..).zip(&entities) {
            let number: Number = number;
            names.add(number, &entity.name);
            entity.aliases.iter().for_each(|alias| names.add(number, alias));
        }
        let numbers =
            entities.iter().enumerate().map(|(at, entity)| (entity.id.clone(), at)).collect();
        let mut properties = BTreeMap::new();
        let mut leaving: HashMap<NodeId, Vec<usize>> = HashMap::new();
        let mut arriving: HashMap<NodeId, Vec<usize>> = HashMap::new();
        for (at, fact) in facts.iter().enumerate() {
            properties.entry(fact.relation.clone()).or_insert_with(|| {
                let labels = vec![fact.relation.clone()];
                Arc::new(Property::new(fact.relation.clone(), labels, String::new()))
            });
            leaving.entry(fact.head.clone()).or_default().push(at);
            arriving.entry(fact.tail.clone()).or_default().push(at);
        }
        Self { knowledge, entities, facts, numbers, names, properties, leaving, arriving }
    }

    fn entity(&self, id: &EntityId) -> Option<&ToldEntity> {
        self.numbers.get(&NodeId(id.0.clone())).map(|at| &self.entities[*at])
    }

    /// Facts at one end of an entity, in the base's order.
    fn at<'s>(
        &'s self,
        ends: &'s HashMap<NodeId, Vec<usize>>,
        entity: &EntityId,
    ) -> impl Iterator<Item = &'s ToldFact> {
        ends.get(&NodeId(entity.0.clone())).into_iter().flatten().map(|at| &self.facts[*at])
    }

    fn stated(&self, fact: &ToldFact) -> Stated {
        Stated {
            head: EntityId(fact.head.0.clone()),
            property: Arc::clone(&self.properties[&fact.relation]),
            tail: Node::Entity(EntityId(fact.tail.0.clone())),
            source: fact.id.0.clone(),
        }
    }

    fn kind(&self, id: &EntityId) -> Vec<Class> {
        let kind =
            self.entity(id).map(|entity| entity.kind.clone()).filter(|kind| !kind.is_empty());
        kind.map(|kind| Class { id: kind.clone(), names: vec![kind] }).into_iter().collect()
    }
}

#[async_trait]
impl Graph for ToldGraph {
    async fn named(&self, name: &str, near: Near, limit: usize) -> Result<Vec<EntityId>, BoxError> {
        let found = self.names.named(name, near, limit).into_iter();
        Ok(found.map(|number| EntityId(self.entities[number as usize].id.0.clone())).collect())
    }

    async fn profiles(&self, entities: &[EntityId]) -> Result<Vec<Profile>, BoxError> {
        let profile = |id: &EntityId| {
            let told = self.entity(id);
            Profile {
                id: id.clone(),
                label: told.map_or_else(|| id.0.clone(), |entity| entity.name.clone()),
                aliases: told.map(|entity| entity.aliases.clone()).unwrap_or_default(),
                description: told.map(|entity| entity.description.clone()).unwrap_or_default(),
                classes: self.kind(id),
            }
        };
        Ok(entities.iter().map(profile).collect())
    }

    async fn around(&self, entity: &EntityId, limit: usize) -> Result<Vec<String>, BoxError> {
        let tails = self.at(&self.leaving, entity).take(limit).map(|fact| &fact.tail);
        let heads = self.at(&self.arriving, entity).take(limit).map(|fact| &fact.head);
        let near = tails.chain(heads).filter_map(|id| self.numbers.get(id));
        Ok(near.map(|at| self.entities[*at].name.clone()).collect())
    }

    async fn properties(
        &self,
        _entities: &[EntityId],
        _words: &str,
    ) -> Result<Vec<Arc<Property>>, BoxError> {
        Ok(self.properties.values().cloned().collect())
    }

    async fn of_heads(
        &self,
        heads: &[EntityId],
        property: &Arc<Property>,
    ) -> Result<Vec<Stated>, BoxError> {
        let facts = heads.iter().flat_map(|head| self.at(&self.leaving, head));
        let of_it = facts.filter(|fact| fact.relation == property.id);
        Ok(of_it.map(|fact| self.stated(fact)).collect())
    }

    async fn of_tail(
        &self,
        tail: &EntityId,
        property: &Arc<Property>,
        limit: usize,
    ) -> Result<Vec<Stated>, BoxError> {
        let of_it = self.at(&self.arriving, tail).filter(|fact| fact.relation == property.id);
        Ok(of_it.take(limit).map(|fact| self.stated(fact)).collect())
    }

    async fn between(&self, head: &EntityId, tail: &EntityId) -> Result<Vec<Stated>, BoxError> {
        let facts = self.at(&self.leaving, head).filter(|fact| fact.tail.0 == tail.0);
        Ok(facts.map(|fact| self.stated(fact)).collect())
    }

    async fn ends(&self, property: &Property) -> Result<Ends, BoxError> {
        let of_it = self.facts.iter().filter(|fact| fact.relation == property.id);
        let (mut heads, mut tails) = (HashSet::new(), HashSet::new());
        for fact in of_it {
            heads.extend(self.kind(&EntityId(fact.head.0.clone())).into_iter().map(|kind| kind.id));
            tails.extend(self.kind(&EntityId(fact.tail.0.clone())).into_iter().map(|kind| kind.id));
        }
        Ok(Ends { heads, tails })
    }

    async fn classes(&self, entities: &[EntityId]) -> Result<Vec<Vec<Class>>, BoxError> {
        Ok(entities.iter().map(|id| self.kind(id)).collect())
    }

    async fn has_class(&self, name: &str) -> Result<bool, BoxError> {
        let wanted = stems(name);
        Ok(self.entities.iter().any(|one| !one.kind.is_empty() && stems(&one.kind) == wanted))
    }

    fn own_name(&self) -> String {
        "kg".to_owned()
    }

    /// The chunk that the fact was read from; of what an entity is, that of one of its facts.
    async fn cited(&self, stated: &Stated) -> Result<Option<Hit>, BoxError> {
        let told = if stated.source == self.own_name() {
            let mut about = self.at(&self.leaving, &stated.head);
            let first = about.next().or_else(|| self.at(&self.arriving, &stated.head).next());
            first.map(|fact| fact.id.clone())
        } else {
            Some(NodeId(stated.source.clone()))
        };
        let Some(told) = told else { return Ok(None) };
        let fact = self.knowledge.get(&told).await?;
        match &fact.parent {
            Some(chunk) => Ok(Some(self.knowledge.get(chunk).await?)),
            None => Ok(Some(fact)),
        }
    }
}

#[cfg(test)]
#[path = "base_tests.rs"]
mod tests;
