//! Several graphs asked as one: what was loaded, and what was extracted from the documents.
use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::try_join_all;
use halma_core::{BoxError, Entity, EntityId, Fact, Facts};

use crate::kg::reloading::Reloading;

/// Each entity belongs to one of the graphs, and is unknown to the others.
pub(crate) struct Combined {
    graphs: Graphs,
    about: String,
}

enum Graphs {
    Fixed(Vec<Arc<dyn Facts>>),
    /// One, each question goes to it as it is at that moment.
    Reloading(Reloading),
}

impl Combined {
    pub(crate) fn new(graphs: Vec<Arc<dyn Facts>>) -> Self {
        let about: Vec<&str> = graphs.iter().map(|graph| graph.about()).collect();
        Self { about: about.join("; and "), graphs: Graphs::Fixed(graphs) }
    }

    /// A graph under a description of its own.
    pub(crate) fn described(graph: Arc<dyn Facts>, about: &str) -> Arc<dyn Facts> {
        if about.trim().is_empty() {
            return graph;
        }
        Arc::new(Self { about: about.trim().to_owned(), graphs: Graphs::Fixed(vec![graph]) })
    }

    pub(crate) fn reloading(graph: Reloading, about: String) -> Self {
        Self { about, graphs: Graphs::Reloading(graph) }
    }

    async fn graphs(&self) -> Result<Vec<Arc<dyn Facts>>, BoxError> {
        match &self.graphs {
            Graphs::Fixed(graphs) => Ok(graphs.clone()),
            Graphs::Reloading(graph) => Ok(vec![graph.current().await?]),
        }
    }
}

#[async_trait]
impl Facts for Combined {
    fn name(&self) -> &'static str {
        "kg"
    }

    fn about(&self) -> &str {
        &self.about
    }

    async fn find(
        &self,
        name: &str,
        descriptor: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Entity>, BoxError> {
        let graphs = self.graphs().await?;
        let answers = graphs.iter().map(|graph| graph.find(name, descriptor, limit));
        let mut entities = try_join_all(answers).await?.concat();
        // Equal scores keep the order of the graphs.
        entities.sort_by(|a, b| b.score.total_cmp(&a.score));
        entities.truncate(limit);
        Ok(entities)
    }

    async fn relate(&self, entity: &EntityId, relation: &str) -> Result<Vec<Fact>, BoxError> {
        let graphs = self.graphs().await?;
        let answers = graphs.iter().map(|graph| graph.relate(entity, relation));
        Ok(try_join_all(answers).await?.concat())
    }

    async fn between(&self, head: &EntityId, tail: &EntityId) -> Result<Vec<Fact>, BoxError> {
        let graphs = self.graphs().await?;
        let answers = graphs.iter().map(|graph| graph.between(head, tail));
        Ok(try_join_all(answers).await?.concat())
    }

    async fn filter(
        &self,
        entities: &[EntityId],
        condition: &str,
    ) -> Result<Option<Vec<Fact>>, BoxError> {
        let graphs = self.graphs().await?;
        let answers = graphs.iter().map(|graph| graph.filter(entities, condition));
        let decided: Vec<Vec<Fact>> = try_join_all(answers).await?.into_iter().flatten().collect();
        if decided.is_empty() {
            return Ok(None);
        }
        Ok(Some(in_order(entities, decided.into_iter().flatten())))
    }

    async fn facts_of(&self, entity: &EntityId, limit: usize) -> Result<Vec<Fact>, BoxError> {
        let graphs = self.graphs().await?;
        let answers = graphs.iter().map(|graph| graph.facts_of(entity, limit));
        let mut facts = try_join_all(answers).await?.concat();
        facts.truncate(limit);
        Ok(facts)
    }
}

/// The first fact about each entity, in the entities' order. An entity that occurs twice gets its
/// fact twice.
pub(crate) fn in_order(entities: &[EntityId], facts: impl IntoIterator<Item = Fact>) -> Vec<Fact> {
    let mut first: HashMap<EntityId, Fact> = HashMap::new();
    for fact in facts {
        first.entry(fact.head.id.clone()).or_insert(fact);
    }
    entities.iter().filter_map(|id| first.get(id).cloned()).collect()
}
