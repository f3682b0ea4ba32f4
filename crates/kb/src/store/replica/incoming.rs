//! What a replica takes in: the segments that others have sent, in sequence.
use std::ops::Range;

use halma_core::Layer;
use halma_store::seal::{Key, SealError, Slot};

use super::super::extracted::UNDONE;
use super::segment::{SharedEntry, entries};
use super::{LOCAL_KEYS, ReplicaState};
use crate::KbError;
use crate::store::changes::Changed;
use crate::store::databases::table::{
    EDGES_PART, LEDGER_PART, META_PART, Table, VECTORS_PART, WIPES_PART,
};
use crate::store::nodes::searched;
use crate::store::schema::{decode, edge_key, edge_of_key, number, of_row_key, row_key, row_of};
use crate::store::sealed::broken;
use crate::store::{DocumentRecord, FORMAT, Link, Store, StoreWriter};

/// Where the keys of what is taken in are: those of the slots in a range.
pub(crate) type KeySource<'a> = dyn Fn(Range<Slot>) -> Result<Vec<Option<Key>>, SealError> + 'a;

/// What concerns others than the store of what was taken in.
#[derive(Debug, Default)]
pub(crate) struct Received {
    /// Keys that are to be wiped in the shared folder as well, should the one who wiped them not
    /// have come to it.
    pub(crate) wiped: Vec<Slot>,
    /// Names that documents had and have no longer.
    removed: Vec<String>,
}

impl Received {
    /// Of the names that are noted, those that no document has.
    fn keep_removed(&mut self, writer: &StoreWriter<'_>) -> heed::Result<()> {
        for name in std::mem::take(&mut self.removed) {
            if writer.named(&name)?.is_none() {
                self.removed.push(name);
            }
        }
        Ok(())
    }
}

/// What is taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What was written since the last time.
    New,
    /// Everything, in the place of what is there. What was not sent is lost.
    Whole,
}

impl Store {
    /// Takes in segments in one transaction, so that searches see what was there before until all of
    /// it is there. `each` calls what it is given with each segment and returns the state that the
    /// replica is in then.
    pub(crate) fn receive(
        &self,
        keys: &KeySource<'_>,
        extent: Extent,
        each: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), KbError>) -> Result<ReplicaState, KbError>,
    ) -> Result<Received, KbError> {
        let mut failure = None;
        let done = self.write_here(|writer| {
            writer.is_receiving = true;
            let names = if extent == Extent::Whole { writer.document_names()? } else { vec![] };
            let former = if extent == Extent::Whole { writer.take_out_all()? } else { vec![] };
            let tables = self.db.shared();
            let mut received = Received::default();
            let mut take = |segment: &[u8]| {
                let mut taker = Taker { writer, tables: &tables, keys, received: &mut received };
                taker.take(segment).map_err(|source| self.failed(source))
            };
            match each(&mut take) {
                Ok(mut state) => {
                    if let Some(format) =
                        writer.meta::<u32>("format")?.filter(|format| *format != FORMAT)
                    {
                        // A newer program has converted the base while this one runs.
                        failure =
                            Some(KbError::SharedFormat { name: state.name, format, reads: FORMAT });
                        return Err(heed::Error::Encoding("of another format".into()));
                    }
                    writer.wipe_vectors_not_listed(&former)?;
                    received.removed.extend(names.into_iter().map(|(name, _)| name));
                    received.keep_removed(writer)?;
                    if let Some(replication) = &self.replication {
                        replication.removals().note(writer, &received.removed)?;
                    }
                    state.slots = writer.meta("slots")?.unwrap_or_default();
                    let former = writer.replica_state()?.unwrap_or_default();
                    state.has_stale_indexes = former.has_stale_indexes || extent == Extent::Whole;
                    writer.set_replica_state(&state)?;
                    writer.bump_generation()?;
                    Ok(received)
                }
                Err(e) => {
                    failure = Some(e);
                    Err(heed::Error::Encoding("interrupted".into()))
                }
            }
        });
        match failure {
            Some(e) => Err(e),
            None => done,
        }
    }
}

impl StoreWriter<'_> {
    /// Removes everything that replicas share, and nothing that each has of its own. Returns the
    /// keys of the vectors, which are still in their files.
    fn take_out_all(&mut self) -> heed::Result<Vec<Vec<u8>>> {
        let db = &self.store.db;
        let mut vectors = vec![];
        for entry in db.vectors.iter(self)? {
            vectors.push(entry?.0.to_vec());
        }
        // What searches hold is compared with these numbers, which must never begin again.
        let mut local = vec![];
        for key in LOCAL_KEYS {
            let value = db.meta.get(self, key.as_bytes())?;
            local.extend(value.map(|value| (key, value.to_vec())));
        }
        for (_, table) in db.shared() {
            table.clear(self.txn())?;
        }
        for (key, value) in local {
            db.meta.receive(self.txn(), key.as_bytes(), Some(&value))?;
        }
        for table in [db.backlinks, db.tombstones] {
            table.clear(self.txn())?;
        }
        if let Some(replica) = db.replica {
            replica.journal.clear(self.txn())?;
        }
        self.clear_forms()?;
        self.changes.add_everything();
        Ok(vectors)
    }

    fn wipe_vectors_not_listed(&mut self, former: &[Vec<u8>]) -> heed::Result<()> {
        let db = &self.store.db;
        for key in former {
            if db.vectors.get(self, key)?.is_none() {
                db.wipes.receive(self.txn(), key, Some(&[]))?;
            }
        }
        Ok(())
    }
}

struct Taker<'a, 't> {
    writer: &'a mut StoreWriter<'t>,
    tables: &'a [(u8, Table)],
    keys: &'a KeySource<'a>,
    received: &'a mut Received,
}

impl Taker<'_, '_> {
    fn take(&mut self, segment: &[u8]) -> heed::Result<()> {
        entries(segment)?.try_for_each(|entry| self.put(entry?))
    }

    fn put(&mut self, entry: SharedEntry<'_>) -> heed::Result<()> {
        let SharedEntry { part, key, value } = entry;
        let Some((_, table)) = self.tables.iter().find(|(other, _)| *other == part) else {
            let newer = format!("part {part} of a segment is of a newer version of Halma");
            return Err(heed::Error::Decoding(newer.into()));
        };
        match part {
            META_PART if key == b"slots" => self.install_keys(value)?,
            META_PART if key == UNDONE.as_bytes() => self.writer.touch_everything()?,
            EDGES_PART => self.put_edge(key, value)?,
            LEDGER_PART => self.writer.mark_received(key)?,
            VECTORS_PART => return self.put_vector(table, key, value),
            WIPES_PART => return self.wipe(table, key),
            _ => self.note_node(*table, key, value)?,
        }
        table.receive(self.writer.txn(), key, value)
    }

    /// Takes the keys that are new from the shared folder.
    fn install_keys(&mut self, value: Option<&[u8]>) -> heed::Result<()> {
        let installed: Slot = self.writer.meta("slots")?.unwrap_or_default();
        let slots: Slot = value.map(decode).transpose()?.unwrap_or_default();
        if slots <= installed {
            return Ok(());
        }
        let keys = (self.keys)(installed..slots).map_err(broken)?;
        self.writer.store.keys.install(installed, &keys).map_err(broken)
    }

    fn put_edge(&mut self, key: &[u8], value: Option<&[u8]>) -> heed::Result<()> {
        let Some((from, edge, to)) = edge_of_key(key) else { return Ok(()) };
        self.writer.note_edge(&Link::new(from, edge, to));
        let back = edge_key(to, edge, from);
        let backlinks = self.writer.store.db.backlinks;
        backlinks.receive(self.writer.txn(), &back, value.map(|_| &[][..]))
    }

    fn put_vector(&mut self, table: &Table, key: &[u8], value: Option<&[u8]>) -> heed::Result<()> {
        let Some((embedder, layer, row)) = of_row_key(key) else { return Ok(()) };
        self.writer.changes.add(Changed::Vector, (layer, row));
        let Some(sealed) = value else { return table.receive(self.writer.txn(), key, None) };
        // Without its key it was deleted meanwhile.
        let Some(bytes) = self.writer.store.unsealed(sealed)? else { return Ok(()) };
        if !self.writer.put_stored_vector(embedder, (layer, row), &bytes)? {
            return Ok(());
        }
        let wipes = self.writer.store.db.wipes;
        wipes.receive(self.writer.txn(), key, None)?;
        table.receive(self.writer.txn(), key, Some(&[]))
    }

    fn wipe(&mut self, table: &Table, key: &[u8]) -> heed::Result<()> {
        if let Ok(slot) = key.try_into() {
            self.received.wiped.push(Slot::from_le_bytes(slot));
        }
        table.receive(self.writer.txn(), key, Some(&[]))
    }

    /// What searches hold of a node, and the lexical index, are brought up to date later. The names
    /// that a document has had are noted.
    fn note_node(&mut self, table: Table, key: &[u8], value: Option<&[u8]>) -> heed::Result<()> {
        let db = &self.writer.store.db;
        let of = |layer: &Layer| db.nodes[number(*layer)].part() == table.part();
        let layer = Layer::ALL.into_iter().find(of);
        let Some(layer) = layer else { return Ok(()) };
        let row = row_of(key);
        self.writer.changes.add(Changed::Node, (layer, row));
        if value.is_none() && searched(layer) {
            let tombstones = db.tombstones;
            tombstones.receive(self.writer.txn(), &row_key(0, layer, row), Some(&[]))?;
        }
        if layer == Layer::Document
            && let Some(former) = self.writer.node::<DocumentRecord>(row)?
        {
            self.received.removed.extend(former.names);
        }
        Ok(())
    }
}
