//! A log of what was changed, one entry for each transaction, so that what searches hold in memory
//! is brought up to date by what changed and nothing else.
//!
//! The log is short: its beginning is dropped as it grows, and one who is behind that reads the
//! whole again.
use serde::{Deserialize, Serialize};

use super::Changes;
use crate::store::{StoreReader, StoreWriter};

/// Bytes of entries beyond which the oldest are dropped.
const MAX_BYTES: u64 = 4 << 20;

/// Rows of one transaction beyond which its entry says that everything changed.
const MAX_ROWS: usize = 200_000;

const KEY: &str = "changes";

/// Where the log begins and ends.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Extent {
    first: u64,
    next: u64,
    bytes: u64,
}

impl StoreReader<'_> {
    /// Where the log ends: what is read in this view of the store is up to date to there.
    pub(crate) fn change_position(&self) -> heed::Result<u64> {
        Ok(self.meta::<Extent>(KEY)?.unwrap_or_default().next)
    }

    /// What has changed since the log ended there; `None` when it does not reach back so far.
    pub(crate) fn changes_since(&self, position: u64) -> heed::Result<Option<Changes>> {
        let extent = self.meta::<Extent>(KEY)?.unwrap_or_default();
        if position < extent.first || position > extent.next {
            return Ok(None);
        }
        let mut changes = Changes::default();
        for at in position..extent.next {
            let Some(entry) = self.store.db.changes.get(self, &at.to_be_bytes())? else {
                return Ok(None);
            };
            changes.read(entry)?;
        }
        changes.sort();
        Ok(Some(changes))
    }
}

impl StoreWriter<'_> {
    /// Enters what this transaction has changed, before it is committed.
    pub(in crate::store) fn save_changes(&mut self) -> heed::Result<()> {
        let mut changes = std::mem::take(&mut self.changes);
        changes.sort();
        if !self.is_receiving {
            self.drop_touched_names(&changes)?;
        }
        self.store_made_names()?;
        let count: usize = changes.rows.values().map(Vec::len).sum();
        let mut extent = self.meta::<Extent>(KEY)?.unwrap_or_default();
        if changes.everything || count > MAX_ROWS {
            self.store.db.changes.clear(self.txn())?;
            let next = extent.next + 1;
            return self.set_meta(KEY, &Extent { first: next, next, bytes: 0 });
        }
        if count == 0 {
            return Ok(());
        }
        let entry = changes.encode()?;
        self.store.db.changes.put(self.txn(), &extent.next.to_be_bytes(), &entry)?;
        extent.next += 1;
        extent.bytes += entry.len() as u64;
        while extent.bytes > MAX_BYTES && extent.first < extent.next {
            let key = extent.first.to_be_bytes();
            let length = self.store.db.changes.get(self, &key)?.map_or(0, <[u8]>::len);
            self.store.db.changes.delete(self.txn(), &key)?;
            extent.bytes = extent.bytes.saturating_sub(length as u64);
            extent.first += 1;
        }
        self.set_meta(KEY, &extent)
    }
}

#[cfg(test)]
mod tests {
    use halma_core::Layer;

    use super::*;
    use crate::store::{Changed, Row, Store};

    #[test]
    fn one_who_is_behind_reads_what_changed_or_everything() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let position = || store.read(|reader| reader.change_position()).unwrap();
        let note = |rows: &[Row]| {
            let note = |writer: &mut StoreWriter<'_>| {
                for row in rows {
                    writer.changes.add(Changed::Vector, (Layer::Chunk, *row));
                }
                Ok(())
            };
            store.write(note).unwrap();
        };
        let before = position();
        note(&[7, 300, 7]);
        note(&[8]);
        let since = |at| store.read(|reader| reader.changes_since(at)).unwrap();
        let changes = since(before).unwrap();
        assert_eq!(changes.of(Changed::Vector, Layer::Chunk), [7, 8, 300]);
        assert!(changes.of(Changed::Node, Layer::Chunk).is_empty());
        assert!(since(position()).unwrap().rows.is_empty());
        assert!(since(position() + 1).is_none(), "of another base");
        // A megabyte of entries after the other: the first are dropped.
        for part in 0..40 {
            note(&(0..100_000).map(|row| row * 300 + part).collect::<Vec<_>>());
        }
        assert!(since(before).is_none());
        assert_eq!(since(position() - 1).unwrap().of(Changed::Vector, Layer::Chunk).len(), 100_000);
        let before = position();
        let everything = |writer: &mut StoreWriter<'_>| {
            writer.changes.add_everything();
            Ok(())
        };
        store.write(everything).unwrap();
        assert!(since(before).is_none() && since(position()).is_some());
    }
}
