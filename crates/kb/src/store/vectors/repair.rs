//! Vectors that cannot be read: when they are looked for, and that they are made again.
use halma_core::Layer;
use serde::{Deserialize, Serialize};

use crate::store::changes::Changed;
use crate::store::schema::row_key;
use crate::store::{StoreReader, StoreWriter, Task, UnitKey};

/// Whether vectors may be missing in their files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum VectorFaults {
    None,
    /// Some may not be on the disk: should the power fail, they are missing.
    Unsynced,
    /// Some were found that cannot be read.
    Unreadable,
}

const KEY: &str = "vector_doubt";

impl StoreReader<'_> {
    fn vector_faults(&self) -> heed::Result<VectorFaults> {
        Ok(self.meta(KEY)?.unwrap_or(VectorFaults::None))
    }
}

impl StoreWriter<'_> {
    /// Texts whose vectors cannot be read wait for new ones, if there may be any: after a power
    /// failure, or when one was found. Returns how many there are.
    pub(crate) fn renew_lost_vectors(&mut self) -> heed::Result<usize> {
        if self.vector_faults()? == VectorFaults::None {
            return Ok(0);
        }
        let mut count = 0;
        let target = self.target_number()?;
        for embedder in (0..=u8::MAX).take(self.embedders()?.len()) {
            for layer in Layer::ALL {
                for row in self.lost_vectors(embedder, layer)? {
                    self.store.db.vectors.delete(self.txn(), &row_key(embedder, layer, row))?;
                    self.changes.add(Changed::Vector, (layer, row));
                    if Some(embedder) == target {
                        self.put_pending(UnitKey::of(Task::Embed, (layer, row)))?;
                    }
                    count += 1;
                }
            }
        }
        self.set_meta(KEY, &VectorFaults::None)?;
        Ok(count)
    }

    /// Some vectors cannot be read: the next build looks at all.
    pub(crate) fn note_unreadable_vectors(&mut self) -> heed::Result<()> {
        if self.vector_faults()? == VectorFaults::Unreadable {
            Ok(())
        } else {
            self.set_meta(KEY, &VectorFaults::Unreadable)
        }
    }

    /// Before a commit with vectors that are not on the disk for certain.
    pub(in crate::store) fn note_unsynced_vectors(&mut self) -> heed::Result<()> {
        if self.has_put_vectors && self.vector_faults()? == VectorFaults::None {
            self.set_meta(KEY, &VectorFaults::Unsynced)?;
        }
        Ok(())
    }

    /// Brings the vectors to the disk.
    pub(in crate::store) fn sync_vectors(&mut self) -> heed::Result<()> {
        if self.has_put_vectors || self.vector_faults()? == VectorFaults::Unsynced {
            self.store.vectors.sync()?;
            self.has_put_vectors = false;
        }
        if self.vector_faults()? == VectorFaults::Unsynced {
            self.set_meta(KEY, &VectorFaults::None)
        } else {
            Ok(())
        }
    }
}
