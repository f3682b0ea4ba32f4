//! The base as strategies and searches see it: everything that computes or reads the disk runs on
//! the blocking threads, a few at a time, so that the runtime's own threads always have time for
//! requests. A search goes there by itself, after a few looks into the store.
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    BoxError, Catalog, Edge, Hit, Knowledge, NodeId, PassageQuery, Passages, Query, SqlResult,
    TagMatch,
};
use halma_kb::Base;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

/// A base whose work is done elsewhere than where it is awaited.
pub(crate) struct OffRuntime {
    base: Arc<Base>,
    /// Searches at a time: more would only take the processor from each other.
    searches: Arc<Semaphore>,
}

impl OffRuntime {
    pub(crate) fn new(base: &Arc<Base>) -> Self {
        let searches = Arc::new(Semaphore::new(halma_kb::cores().max(2)));
        Self { base: Arc::clone(base), searches }
    }

    /// Runs work that goes to a blocking thread by itself for all but a few looks into the store, so
    /// that another thread would only wait for that. A view looks at its documents first.
    pub(crate) async fn run_split<T, F>(
        &self,
        work: impl FnOnce(Arc<Base>) -> F + Send + 'static,
    ) -> T
    where
        T: Send + 'static,
        F: Future<Output = T> + Send,
    {
        if self.base.is_restricted() {
            return self.run(work).await;
        }
        work(Arc::clone(&self.base)).await
    }

    /// Runs work to its end on a blocking thread. It counts until then, when no one waits any more.
    pub(crate) async fn run<T, F>(&self, work: impl FnOnce(Arc<Base>) -> F + Send + 'static) -> T
    where
        T: Send + 'static,
        F: Future<Output = T>,
    {
        let permit = Arc::clone(&self.searches).acquire_owned().await;
        let (base, runtime) = (Arc::clone(&self.base), Handle::current());
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            runtime.block_on(work(base))
        });
        match done.await {
            Ok(done) => done,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime shuts down and drops this future as well.
                Err(_) => std::future::pending().await,
            },
        }
    }
}

#[async_trait]
impl Knowledge for OffRuntime {
    async fn search(&self, query: &Query) -> Result<Vec<Vec<Hit>>, BoxError> {
        let query = query.clone();
        self.run_split(|base| async move { Knowledge::search(&*base, &query).await }).await
    }

    async fn get(&self, id: &NodeId) -> Result<Hit, BoxError> {
        let id = id.clone();
        self.run(|base| async move { Knowledge::get(&*base, &id).await }).await
    }

    async fn neighbours(
        &self,
        id: &NodeId,
        edge: Option<Edge>,
    ) -> Result<Vec<(Edge, Hit)>, BoxError> {
        let id = id.clone();
        self.run(move |base| async move { Knowledge::neighbours(&*base, &id, edge).await }).await
    }

    async fn passages(&self, query: &PassageQuery) -> Result<Passages, BoxError> {
        let query = query.clone();
        self.run(|base| async move { Knowledge::passages(&*base, &query).await }).await
    }

    async fn tags(&self, text: &str, near: f32) -> Result<Vec<TagMatch>, BoxError> {
        let text = text.to_owned();
        self.run(move |base| async move { Knowledge::tags(&*base, &text, near).await }).await
    }

    /// Has threads, processes and a queue of its own, so that a slow query holds up no search.
    async fn run_sql(&self, sql: &str) -> Result<SqlResult, BoxError> {
        Knowledge::run_sql(&*self.base, sql).await
    }

    async fn catalog(&self) -> Result<Catalog, BoxError> {
        self.run(|base| async move { Knowledge::catalog(&*base).await }).await
    }
}
