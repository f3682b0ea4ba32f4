//! Graphs that are read again when what they are made of has changed.
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{BoxError, Entity, EntityId, Fact, Facts};

use super::operators::Operators;

/// What a graph is made of.
#[async_trait]
pub(crate) trait Current: Send + Sync {
    fn about(&self) -> &str;

    /// The graph as it is now.
    async fn graph(&self) -> Result<Arc<Operators>, BoxError>;
}

/// Such a graph, asked: each question goes to it as it is then.
pub(crate) struct Changing<C>(pub(crate) C);

#[async_trait]
impl<C: Current> Facts for Changing<C> {
    fn name(&self) -> &'static str {
        "kg"
    }

    fn about(&self) -> &str {
        self.0.about()
    }

    async fn find(
        &self,
        name: &str,
        descriptor: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Entity>, BoxError> {
        self.0.graph().await?.find(name, descriptor, limit).await
    }

    async fn relate(&self, entity: &EntityId, relation: &str) -> Result<Vec<Fact>, BoxError> {
        self.0.graph().await?.relate(entity, relation).await
    }

    async fn between(&self, head: &EntityId, tail: &EntityId) -> Result<Vec<Fact>, BoxError> {
        self.0.graph().await?.between(head, tail).await
    }

    async fn filter(
        &self,
        entities: &[EntityId],
        condition: &str,
    ) -> Result<Option<Vec<Fact>>, BoxError> {
        self.0.graph().await?.filter(entities, condition).await
    }

    async fn facts_of(&self, entity: &EntityId, limit: usize) -> Result<Vec<Fact>, BoxError> {
        self.0.graph().await?.facts_of(entity, limit).await
    }
}
