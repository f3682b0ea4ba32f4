//! A graph that is read again when what it is made of has changed.
use std::sync::Arc;

use halma_core::{BoxError, Facts};
use parking_lot::Mutex;

use crate::kg::operators::Operators;
use crate::kg::sparql::SparqlGraph;

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

pub(crate) struct Reloading {
    version: CurrentVersion,
    read: Read,
    current: Mutex<Option<(String, Arc<Operators>)>>,
}

impl Reloading {
    pub(crate) fn new(version: CurrentVersion, read: Read) -> Self {
        Self { version, read, current: Mutex::default() }
    }

    /// The graph as it is at this moment.
    pub(crate) async fn current(&self) -> Result<Arc<dyn Facts>, BoxError> {
        let current = self.current.lock().clone();
        if let (Some((version, graph)), Some(now)) = (&current, (self.version)())
            && *version == now
        {
            return Ok(Arc::clone(graph) as Arc<dyn Facts>);
        }
        let version = current.as_ref().map(|(version, _)| version.clone());
        let read = Arc::clone(&self.read);
        let new = tokio::task::spawn_blocking(move || read(version.as_deref())).await??;
        let Some(Versioned { version, graph }) = new else {
            let (_, graph) = current.ok_or("a graph that was never read cannot be unchanged")?;
            return Ok(graph);
        };
        let graph = Arc::new(Operators::new(graph, String::new()));
        *self.current.lock() = Some((version, Arc::clone(&graph)));
        Ok(graph)
    }
}
