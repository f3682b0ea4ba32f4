//! What is about no single node (verdicts on pairs of entities, merges, texts about communities) is
//! sealed with one of a few thousand shared keys, by the first bits of its id. What is taken out or
//! replaced can be read until its key is another; that is when a document goes, whose words it may
//! hold. Only the keys concerned are then renewed, so that a deletion does not grow with the base.
use std::collections::BTreeSet;
use std::ops::Bound;

use halma_core::Layer;

use crate::store::ledger::{Entry, Task, UnitKey};
use crate::store::schema::{At, Row};
use crate::store::{Id, RemovedDocuments, StoreReader, StoreWriter};

/// How many keys there are: as many as the first bits of an id can tell.
const BITS: u32 = 12;

/// The name under which the keys are kept whose former values can still be read.
const STALE: &str = "stale keys";

/// One of the shared keys, by its number.
type Bucket = u16;

/// The owner whose key seals what has this id. No node ever has such a row.
pub(in crate::store) fn shared_owner(id: Id) -> At {
    owner_of(bucket_of(id))
}

/// Whether an owner is no node but one of the shared keys.
pub(in crate::store) fn is_shared(owner: At) -> bool {
    owner.0 == Layer::Community && owner.1 > Row::MAX - (1 << BITS)
}

fn bucket_of(id: Id) -> Bucket {
    Bucket::try_from(id >> (Id::BITS - BITS)).unwrap_or_default()
}

fn owner_of(bucket: Bucket) -> At {
    (Layer::Community, Row::MAX - Row::from(bucket))
}

/// A value that shares a key: a unit, or the record of a merge.
enum Shared {
    Unit(UnitKey, Vec<u8>),
    Merge(Id, Vec<u8>),
}

impl StoreReader<'_> {
    fn stale_keys(&self) -> heed::Result<BTreeSet<Bucket>> {
        Ok(self.meta(STALE)?.unwrap_or_default())
    }

    /// Every value that is sealed with one of the shared keys.
    fn sealed_with(&self, bucket: Bucket) -> heed::Result<Vec<Shared>> {
        let first = Id::from(bucket) << (Id::BITS - BITS);
        let ids = (first, first | (Id::MAX >> BITS));
        let fits = |sealed: &[u8]| crate::store::Store::slot_in(sealed).is_some();
        let mut list = vec![];
        // Targets of links hold no words.
        for task in Task::all().filter(|task| *task != Task::LinkTarget) {
            for layer in Layer::ALL {
                let keys = [ids.0, ids.1].map(|id| UnitKey::with_id(task, layer, id));
                if keys[0].node().is_some() {
                    continue;
                }
                let keys = keys.map(UnitKey::bytes);
                let range = (Bound::Included(&keys[0][..]), Bound::Included(&keys[1][..]));
                for value in self.store.db.ledger.range(self, &range)? {
                    let Some(entry) = Entry::parse(value?).filter(|e| fits(e.sealed)) else {
                        continue;
                    };
                    list.extend(self.content(&entry)?.map(|value| Shared::Unit(entry.key, value)));
                }
            }
        }
        let keys = [ids.0, ids.1].map(Id::to_be_bytes);
        let range = (Bound::Included(&keys[0][..]), Bound::Included(&keys[1][..]));
        for entry in self.store.db.merges.range(self, &range)? {
            let (key, sealed) = entry?;
            let id = key.last_chunk().map_or(0, |id| Id::from_be_bytes(*id));
            if fits(sealed) {
                let value = self.store.unsealed(sealed)?;
                list.extend(value.map(|value| Shared::Merge(id, value)));
            }
        }
        Ok(list)
    }
}

impl StoreWriter<'_> {
    /// Notes that a value is taken out or replaced that shares a key with others.
    pub(in crate::store) fn note_replaced(
        &mut self,
        id: Id,
        sealed: Option<&[u8]>,
    ) -> heed::Result<()> {
        if sealed.and_then(crate::store::Store::slot_in).is_none() {
            return Ok(());
        }
        if self.removals.stale.is_none() {
            self.removals.stale = Some(self.stale_keys()?);
        }
        self.removals.stale.get_or_insert_default().insert(bucket_of(id));
        Ok(())
    }

    /// [`StoreWriter::note_replaced`] of a unit, if there is one and it shares a key.
    pub(in crate::store) fn note_unit_replaced(&mut self, key: UnitKey) -> heed::Result<()> {
        if key.node().is_some() || key.task == Task::LinkTarget {
            return Ok(());
        }
        let sealed = self.entry(key)?.map(|entry| entry.sealed.to_vec());
        self.note_replaced(key.at, sealed.as_deref())
    }

    /// Stores an entry, sealed with the key of its node or a shared one.
    pub(in crate::store) fn seal_entry(
        &mut self,
        entry: &Entry<'_>,
        content: Option<&[u8]>,
    ) -> heed::Result<()> {
        let Entry { key, state, input, .. } = *entry;
        let mut value = vec![state as u8];
        value.extend(input.to_be_bytes());
        if let Some(content) = content {
            let slot = match key.node() {
                Some(node) => self.slot_of_node(node)?,
                None => Some(self.slot_of(shared_owner(key.at))?),
            };
            let Some(slot) = slot else { return Ok(()) };
            self.store.seal_onto(slot, content, &mut value)?;
        }
        self.store.db.ledger.put(self.txn(), &key.bytes(), &value)
    }

    /// Documents that this write has removed so far.
    pub(crate) fn removed_documents(&mut self) -> &mut RemovedDocuments {
        &mut self.removals.documents
    }

    /// Ends a write: where documents have gone, what others said of them goes as well, and nothing
    /// that was taken out can be read any more.
    pub(in crate::store) fn finish_removals(&mut self) -> heed::Result<()> {
        let documents = std::mem::take(&mut self.removals.documents);
        if documents.any {
            crate::store::extracted::forget_quotes(self, &documents)?;
        }
        let listed = self.removals.stale.take();
        if !documents.any {
            return match listed.filter(|stale| !stale.is_empty()) {
                Some(stale) if stale != self.stale_keys()? => self.set_meta(STALE, &stale),
                _ => Ok(()),
            };
        }
        let stale = match listed {
            Some(stale) => stale,
            None => self.stale_keys()?,
        };
        if stale.is_empty() {
            return Ok(());
        }
        for bucket in &stale {
            self.renew_shared(*bucket)?;
        }
        self.set_meta(STALE, &BTreeSet::<Bucket>::new())
    }

    fn renew_shared(&mut self, bucket: Bucket) -> heed::Result<()> {
        let values = self.sealed_with(bucket)?;
        self.forget_owner(owner_of(bucket))?;
        for value in values {
            match value {
                Shared::Unit(key, content) => {
                    let Some(state) = self.entry(key)?.map(|entry| (entry.state, entry.input))
                    else {
                        continue;
                    };
                    let entry = Entry { key, state: state.0, input: state.1, sealed: &[] };
                    self.seal_entry(&entry, Some(&content))?;
                }
                Shared::Merge(id, content) => self.seal_merge(id, &content)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn a_removal_renews_only_the_keys_of_what_was_taken_out() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let key = |id| UnitKey::with_id(Task::SameEntity, Layer::Entity, id);
        let (near, twin, far) = (1 << 51, (1 << 51) + 1, 1 << 63);
        store
            .write(|writer| {
                for id in [near, twin, far] {
                    writer.put_done(key(id), 1, &"words")?;
                    writer.put_merge(id, &"other words")?;
                }
                Ok(())
            })
            .unwrap();
        let raw = |id| {
            store
                .read(|reader| Ok(reader.entry(key(id))?.map(|entry| entry.sealed.to_vec())))
                .unwrap()
        };
        // As another process sees it.
        let readable = |sealed: &[u8]| {
            let keys = halma_store::seal::Keys::open_read_only(&dir.path().join("keys")).unwrap();
            keys.key(Store::slot_in(sealed).unwrap()).unwrap().is_some()
        };
        let (first, stays, elsewhere) = (raw(near).unwrap(), raw(twin).unwrap(), raw(far).unwrap());
        store.write(|writer| writer.forget_unit(key(near))).unwrap();
        assert!(readable(&first), "no document has gone");
        let remove = || {
            let removed = store.write(|writer| {
                writer.removed_documents().any = true;
                Ok(())
            });
            removed.unwrap();
        };
        remove();
        assert!(!readable(&first) && !readable(&stays), "its key is another");
        assert_eq!(raw(far), Some(elsewhere.clone()), "this one is not touched");
        let results = store
            .read(|reader| {
                let units: Vec<_> =
                    reader.results::<String>(Task::SameEntity)?.collect::<heed::Result<_>>()?;
                Ok((units.len(), reader.all_merges::<String>()?.len()))
            })
            .unwrap();
        assert_eq!(results, (2, 3));
        store.write(|writer| writer.put_merge(far, &"new words")).unwrap();
        remove();
        assert!(!readable(&elsewhere), "what was replaced goes with the next document");
        let stale = store.read(|reader| reader.stale_keys()).unwrap();
        assert!(stale.is_empty());
    }
}
