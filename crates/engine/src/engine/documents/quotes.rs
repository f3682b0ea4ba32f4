//! What quotes documents and is outside the base: traces of questions, cached replies, and calls that
//! workers do. It is deleted with the documents.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use halma_kb::Base;
use halma_models::Cache;
use halma_net::daily::forget_replies;

use crate::assemble;
use crate::error::EngineError;
use crate::shared::Ledger;
use crate::storage::traces::TraceStore;

pub(super) struct Quotes {
    pub(super) traces: Arc<TraceStore>,
    pub(super) cache: Option<Arc<Cache>>,
    /// The folder of the cache, which may hold replies of models that are not configured any more.
    pub(super) cache_dir: PathBuf,
    /// The calls that workers do; those of an unfinished build may quote documents.
    pub(super) ledger: Option<Ledger>,
}

impl Quotes {
    /// Deletes what may quote these documents; and all replies of the web and of an endpoint, since
    /// it is not known which of their queries were made from a document. Blocks the thread.
    pub(super) fn forget(&self, documents: &[String]) -> Result<(), EngineError> {
        if documents.is_empty() {
            return Ok(());
        }
        // All other calls stay, as they are paid for.
        if let Some(ledger) = self.ledger.clone() {
            let (space, documents) = (ledger.space().clone(), documents.to_vec());
            space.wait(async move { ledger.forget(&documents).await })?;
        }
        self.traces.forget(documents).map_err(|e| EngineError::file(self.traces.dir(), e))?;
        forget_replies_about(documents, &self.cache_dir, self.cache.as_ref())
    }

    /// [`Quotes::forget`] of documents that are being removed: replies that arrive later are not
    /// cached.
    pub(super) fn forget_and_refuse(&self, documents: &[String]) -> Result<(), EngineError> {
        if let Some(cache) = &self.cache {
            cache.refuse(documents);
        }
        self.forget(documents)
    }
}

/// [`Quotes::forget`] of replies.
fn forget_replies_about(
    documents: &[String],
    dir: &Path,
    cache: Option<&Arc<Cache>>,
) -> Result<(), EngineError> {
    forget_replies(&assemble::web_folder(dir))?;
    forget_replies(&assemble::kg_folder(dir))?;
    let failed = |e| EngineError::Cache(Box::new(e));
    let cache = match cache {
        Some(cache) => Arc::clone(cache),
        None if Cache::exists(dir) => Cache::open(dir).map_err(failed)?,
        None => return Ok(()),
    };
    cache.forget(documents).map(drop).map_err(failed)
}

/// Deletes the replies on this machine that may quote documents which another machine removes.
pub(in crate::engine) fn forget_what_others_remove(base: &Base, cache: Option<&Arc<Cache>>) {
    let (dir, cache) = (base.cache_dir(), cache.cloned());
    base.on_removed_elsewhere(move |documents| {
        if let Some(cache) = &cache {
            cache.refuse(documents);
        }
        let forgotten = forget_replies_about(documents, &dir, cache.as_ref());
        if let Err(e) = &forgotten {
            tracing::error!("cached replies that quote removed documents are left for now: {e}");
        }
        forgotten.is_ok()
    });
}
