//! Several graphs asked as one: what was loaded, and what was extracted from the documents.
use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::try_join_all;
use halma_core::{BoxError, Entity, EntityId, Fact, Facts};

/// Each entity belongs to one of the graphs, and is unknown to the others.
pub(crate) struct Combined {
    graphs: Vec<Arc<dyn Facts>>,
    about: String,
}

impl Combined {
    pub(crate) fn new(graphs: Vec<Arc<dyn Facts>>) -> Self {
        let about: Vec<&str> = graphs.iter().map(|graph| graph.about()).collect();
        Self { about: about.join("; and "), graphs }
    }

    /// A graph under a description of its own.
    pub(crate) fn described(graph: Arc<dyn Facts>, about: &str) -> Arc<dyn Facts> {
        if about.trim().is_empty() {
            return graph;
        }
        Arc::new(Self { about: about.trim().to_owned(), graphs: vec![graph] })
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
        let answers = self.graphs.iter().map(|graph| graph.find(name, descriptor, limit));
        let mut found = try_join_all(answers).await?.concat();
        // Equal scores keep the order of the graphs.
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.truncate(limit);
        Ok(found)
    }

    async fn relate(&self, entity: &EntityId, relation: &str) -> Result<Vec<Fact>, BoxError> {
        let answers = self.graphs.iter().map(|graph| graph.relate(entity, relation));
        Ok(try_join_all(answers).await?.concat())
    }

    async fn between(&self, head: &EntityId, tail: &EntityId) -> Result<Vec<Fact>, BoxError> {
        let answers = self.graphs.iter().map(|graph| graph.between(head, tail));
        Ok(try_join_all(answers).await?.concat())
    }

    async fn filter(
        &self,
        entities: &[EntityId],
        condition: &str,
    ) -> Result<Option<Vec<Fact>>, BoxError> {
        let answers = self.graphs.iter().map(|graph| graph.filter(entities, condition));
        let decided: Vec<Vec<Fact>> = try_join_all(answers).await?.into_iter().flatten().collect();
        if decided.is_empty() {
            return Ok(None);
        }
        let mut shown: HashMap<EntityId, Fact> = HashMap::new();
        for fact in decided.into_iter().flatten() {
            shown.entry(fact.head.id.clone()).or_insert(fact);
        }
        Ok(Some(entities.iter().filter_map(|id| shown.get(id).cloned()).collect()))
    }

    async fn facts_of(&self, entity: &EntityId, limit: usize) -> Result<Vec<Fact>, BoxError> {
        let answers = self.graphs.iter().map(|graph| graph.facts_of(entity, limit));
        let mut facts = try_join_all(answers).await?.concat();
        facts.truncate(limit);
        Ok(facts)
    }
}
