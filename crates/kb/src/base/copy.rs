//! Copying a base into another one that holds nothing: from a folder into a database, or back.
//! Everything goes along, so that nothing is asked of a model again.
use std::time::Instant;

use halma_core::Layer;
use halma_store::Replies;
use serde::Serialize;

use super::Base;
use super::lock::WriterLock;
use crate::KbError;
use crate::store::{Extent, ReplicaState, Urgency};

/// What a copy took over.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Copied {
    pub documents: u64,
    pub chunks: u64,
    /// Replies of models that were paid for.
    pub replies: u64,
    pub elapsed_ms: f64,
}

impl Base {
    /// Takes everything over from another base, which may be read meanwhile. It becomes the same
    /// base in another place. Blocks the thread.
    ///
    /// # Errors
    ///
    /// [`KbError::NotEmpty`] if this one holds documents; nothing is changed then.
    pub fn copy_from(&self, from: &Self) -> Result<Copied, KbError> {
        let began = Instant::now();
        let lock = WriterLock::take(&self.dir)?.leading(&self.store, Urgency::Normal)?;
        let documents = self.store.read(|reader| reader.count(Layer::Document))?;
        if documents > 0 {
            let place = self.shared_name().map(str::to_owned);
            let place = place.unwrap_or_else(|| format!("`{}`", self.dir.display()));
            return Err(KbError::NotEmpty { place, documents });
        }
        self.take_all(from)?;
        if let Some(replication) = self.store.replication() {
            replication.send_whole(&self.store)?;
        }
        for layer in [Layer::Chunk, Layer::Atom] {
            self.lexical_on_disk(layer)?.start_over()?;
        }
        self.update_indexes()?;
        self.store.publish_here()?;
        self.refresh()?;
        drop(lock);
        let replies = self.copy_replies(from)?;
        let count = |layer| self.store.read(|reader| reader.count(layer));
        let (documents, chunks) = (count(Layer::Document)?, count(Layer::Chunk)?);
        let elapsed_ms = began.elapsed().as_secs_f64() * 1e3;
        Ok(Copied { documents, chunks, replies, elapsed_ms })
    }

    /// In one transaction, of one moment of the other.
    fn take_all(&self, from: &Self) -> Result<(), KbError> {
        let state = self.store.replica_state()?;
        from.store.with_outgoing(true, |outgoing| {
            let keys = |slots: std::ops::Range<u32>| from.store.list_keys(slots);
            let received = self.store.receive(&keys, Extent::Whole, |take| {
                outgoing.segments(&mut |segment| take(&segment))?;
                // Until all of it is sent, the replica holds what is nowhere else.
                Ok(ReplicaState { generation: ReplicaState::NONE, pending: None, ..state })
            });
            received.map(drop)
        })
    }

    fn copy_replies(&self, from: &Self) -> Result<u64, KbError> {
        let [source, target] = [from, self].map(|base| Replies::file(&base.cache_dir()));
        if !source.exists() || target.exists() {
            return Ok(0);
        }
        let failed = |e| KbError::io(&target, "copy", e);
        halma_store::copy(&source, &target).map_err(failed)?;
        let size = Replies::open(&target).and_then(|replies| replies.size());
        Ok(size.map_err(|e| failed(std::io::Error::other(e)))?.0)
    }
}
