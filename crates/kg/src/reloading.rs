//! A graph that is read again when what it is made of has changed.
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{BoxError, Entity, EntityId, Fact, Facts};
use parking_lot::Mutex;

use crate::operators::Operators;
use crate::sparql::SparqlGraph;

/// A graph and the version of what it was made of.
pub(crate) struct Versioned {
    pub(crate) version: String,
    pub(crate) graph: SparqlGraph,
}

/// Reads a graph, which may block; `None` when it still is the one of that version.
pub(crate) type Read =
    Arc<dyn Fn(Option<&str>) -> Result<Option<Versioned>, BoxError> + Send + Sync>;

/// The version that would be read now, where that is known at little cost.
pub(crate) type CurrentVersion = Box<dyn Fn() -> Option<String> + Send + Sync>;

/// Each question goes to the graph as it is at that moment.
pub(crate) struct Reloading {
    about: String,
    version: CurrentVersion,
    read: Read,
    current: Mutex<Option<(String, Arc<Operators>)>>,
}

impl Reloading {
    pub(crate) fn new(about: String, version: CurrentVersion, read: Read) -> Self {
        Self { about, version, read, current: Mutex::default() }
    }

    async fn graph(&self) -> Result<Arc<Operators>, BoxError> {
        let current = self.current.lock().clone();
        if let (Some((version, graph)), Some(now)) = (&current, (self.version)())
            && *version == now
        {
            return Ok(Arc::clone(graph));
        }
        let version = current.as_ref().map(|(version, _)| version.clone());
        let read = Arc::clone(&self.read);
        let new = tokio::task::spawn_blocking(move || read(version.as_deref())).await??;
        let Some(Versioned { version, graph }) = new else {
            let (_, graph) = current.ok_or("a graph that was never read cannot be unchanged")?;
            return Ok(graph);
        };
        let graph = Arc::new(Operators::new(graph, self.about.clone()));
        let mut current = self.current.lock();
        *current = Some((version, Arc::clone(&graph)));
        Ok(graph)
    }
}

#[async_trait]
impl Facts for Reloading {
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
        self.graph().await?.find(name, descriptor, limit).await
    }

    async fn relate(&self, entity: &EntityId, relation: &str) -> Result<Vec<Fact>, BoxError> {
        self.graph().await?.relate(entity, relation).await
    }

    async fn between(&self, head: &EntityId, tail: &EntityId) -> Result<Vec<Fact>, BoxError> {
        self.graph().await?.between(head, tail).await
    }

    async fn filter(
        &self,
        entities: &[EntityId],
        condition: &str,
    ) -> Result<Option<Vec<Fact>>, BoxError> {
        self.graph().await?.filter(entities, condition).await
    }

    async fn facts_of(&self, entity: &EntityId, limit: usize) -> Result<Vec<Fact>, BoxError> {
        self.graph().await?.facts_of(entity, limit).await
    }
}
