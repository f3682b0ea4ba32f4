//! Feedback in the store: each record is sealed under a key of its own, because it quotes several
//! documents, and is found by every document and chunk that it quotes, so that it goes with any of
//! them.
pub(super) mod near;
mod removal;
#[cfg(test)]
mod tests;
mod types;

use halma_core::{Edge, Layer};
use halma_store::seal::Slot;

pub(crate) use self::removal::accepted_id;
pub use self::types::{CandidateKind, CandidateState, Check, Verdict};
pub(crate) use self::types::{CandidateRecord, FeedbackRecord, feedback_id, parse_feedback_id};
use super::schema::{at_key, byte, encode, hash};
use super::{At, AtomRecord, Id, Link, Row, Store, StoreReader, StoreWriter};
use crate::store::sealed::at_of_key;

/// By what a record is found: a document, a chunk or an atom, then its id.
fn link_key(at: At, id: Id) -> [u8; 13] {
    let mut key = [0; 13];
    key[..5].copy_from_slice(&at_key(at));
    key[5..].copy_from_slice(&id.to_be_bytes());
    key
}

fn id_of_key(key: &[u8]) -> Id {
    key.last_chunk().map_or(0, |id| Id::from_be_bytes(*id))
}

/// Nodes that a record quotes.
fn quoted(record: &FeedbackRecord) -> Vec<At> {
    let documents = record.documents.iter().map(|row| (Layer::Document, *row));
    documents.chain(record.chunks().into_iter().map(|row| (Layer::Chunk, row))).collect()
}

impl StoreReader<'_> {
    /// A record of feedback; `None` where there is none, or it quotes what this reader may not see.
    pub(crate) fn feedback(&self, id: Id) -> heed::Result<Option<FeedbackRecord>> {
        let db = self.store.db.feedback;
        let Some(stored) = db.records.get(self, &id.to_be_bytes())? else { return Ok(None) };
        match self.store.decode_sealed::<FeedbackRecord>(stored)? {
            Some(record) if self.sees_feedback(&record)? => Ok(Some(record)),
            _ => Ok(None),
        }
    }

    fn sees_feedback(&self, record: &FeedbackRecord) -> heed::Result<bool> {
        if !self.is_restricted() {
            return Ok(true);
        }
        for at in quoted(record) {
            if !self.sees(at)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The ids of all records, in the order of time, whether or not this reader may see them.
    pub(crate) fn feedback_ids(&self) -> heed::Result<Vec<Id>> {
        let mut ids = vec![];
        for entry in self.store.db.feedback.records.iter(self)? {
            ids.push(id_of_key(entry?.0));
        }
        Ok(ids)
    }

    /// Whether there is none, also of what this reader may not see.
    pub(crate) fn has_no_feedback(&self) -> heed::Result<bool> {
        self.store.db.feedback.records.is_empty(self)
    }

    /// The id of each record with a number that is another one when the record is changed, in the order
    /// of time. Records are not unsealed.
    pub(crate) fn feedback_stamps(&self) -> heed::Result<Vec<(Id, Id)>> {
        let mut stamps = vec![];
        for entry in self.store.db.feedback.records.iter(self)? {
            let (key, stored) = entry?;
            stamps.push((id_of_key(key), hash(&[stored])));
        }
        Ok(stamps)
    }

    /// Every record that this reader may see, in the order of time.
    pub(crate) fn all_feedback(&self) -> heed::Result<Vec<(Id, FeedbackRecord)>> {
        let mut records = vec![];
        for id in self.feedback_ids()? {
            records.extend(self.feedback(id)?.map(|record| (id, record)));
        }
        Ok(records)
    }

    /// The records that quote a node or were made into it, whether or not this reader may see them.
    fn feedback_about(&self, at: At) -> heed::Result<Vec<Id>> {
        let mut ids = vec![];
        for entry in self.store.db.feedback.links.prefix_iter(self, &at_key(at))? {
            ids.push(id_of_key(entry?.0));
        }
        Ok(ids)
    }

    /// The rows of all atoms that were accepted from answers.
    pub(crate) fn accepted_atoms(&self) -> heed::Result<Vec<Row>> {
        let mut rows = vec![];
        for entry in self.store.db.feedback.links.prefix_iter(self, &[byte(Layer::Atom)])? {
            let key = entry?.0;
            if let Some((layer, row)) = key.get(..5).and_then(at_of_key)
                && self.sees((layer, row))?
            {
                rows.push(row);
            }
        }
        Ok(rows)
    }

    /// The rows of the accepted atoms that rest on a chunk.
    pub(crate) fn accepted_atoms_of(&self, chunk: Row) -> heed::Result<Vec<Row>> {
        let links = self.edges_to((Layer::Chunk, chunk), Some(Edge::DerivedFrom))?;
        let atoms = links.into_iter().filter(|link| link.from.0 == Layer::Atom);
        Ok(atoms.map(|link| link.from.1).collect())
    }
}

impl StoreWriter<'_> {
    /// Puts in a record under an id that is free from `id` on; returns that.
    pub(crate) fn add_feedback(&mut self, id: Id, record: &FeedbackRecord) -> heed::Result<Id> {
        let db = self.store.db.feedback;
        let mut id = id;
        while db.records.get(self, &id.to_be_bytes())?.is_some() {
            id = id.wrapping_add(1);
        }
        self.put_feedback(id, record)?;
        for at in quoted(record) {
            db.links.put(self.txn(), &link_key(at, id), &[])?;
        }
        self.enter_near(id, record)?;
        Ok(id)
    }

    /// Puts a record in the place of the one that has this id. What it quotes, its run and its
    /// question stay the same.
    pub(crate) fn put_feedback(&mut self, id: Id, record: &FeedbackRecord) -> heed::Result<()> {
        let db = self.store.db.feedback;
        let slot = self.feedback_slot(id)?;
        self.put_sealed(db.records, &id.to_be_bytes(), slot, &encode(record)?)
    }

    /// The slot of a record, a new one where there is no record.
    fn feedback_slot(&mut self, id: Id) -> heed::Result<Slot> {
        let db = self.store.db.feedback;
        let slot = db.records.get(self, &id.to_be_bytes())?.and_then(Store::slot_in);
        slot.map_or_else(|| self.new_slot(), Ok)
    }

    /// Stores what was accepted, with its edges. Returns its row.
    pub(crate) fn put_accepted(&mut self, id: Id, atom: &AtomRecord) -> heed::Result<Row> {
        let db = self.store.db.feedback;
        let row = self.take_rows(Layer::Atom, 1)?;
        self.put_node(row, atom)?;
        let at = (Layer::Atom, row);
        for chunk in atom.chunks_below() {
            self.put_edge(Link::new(at, Edge::DerivedFrom, (Layer::Chunk, chunk)))?;
        }
        db.links.put(self.txn(), &link_key(at, id), &[])?;
        Ok(row)
    }

    /// Takes out what was accepted.
    pub(crate) fn remove_accepted(&mut self, id: Id, row: Row) -> heed::Result<()> {
        let db = self.store.db.feedback;
        db.links.delete(self.txn(), &link_key((Layer::Atom, row), id))?;
        self.remove_node::<AtomRecord>(row)
    }
}
