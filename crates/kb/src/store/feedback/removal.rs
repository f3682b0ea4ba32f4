//! Feedback goes with what it quotes, and moves with what is replaced by the same.
use halma_core::Layer;

use super::{FeedbackRecord, id_of_key, link_key, quoted};
use crate::KbError;
use crate::store::sealed::at_of_key;
use crate::store::{At, AtomRecord, ChunkRecord, Id, Row, Store, StoreReader, StoreWriter, hash};

impl Store {
    /// Removes feedback that quotes what is gone; returns how much there was. It was stored by a
    /// former version while its document was deleted.
    pub(crate) fn remove_dangling_feedback(&self) -> Result<usize, KbError> {
        if self.read(|reader| reader.dangling_links())?.is_empty() {
            return Ok(0);
        }
        self.write(|writer| {
            let dangling = writer.dangling_links()?;
            let db = writer.store.db.feedback;
            for key in &dangling {
                writer.remove_feedback(id_of_key(key))?;
                db.links.delete(writer.txn(), key)?;
            }
            writer.publish()?;
            let mut ids: Vec<Id> = dangling.iter().map(|key| id_of_key(key)).collect();
            ids.sort_unstable();
            ids.dedup();
            Ok(ids.len())
        })
    }
}

impl StoreReader<'_> {
    /// The keys of links of feedback to nodes that are missing, and of those without feedback.
    fn dangling_links(&self) -> heed::Result<Vec<Vec<u8>>> {
        let mut dangling = vec![];
        let db = self.store.db.feedback;
        // The links of a node follow one another.
        let mut last: Option<(At, bool)> = None;
        for entry in db.links.iter(self)? {
            let (key, _) = entry?;
            let Some(at) = key.get(..5).and_then(at_of_key) else { continue };
            let is_there = match last {
                Some((previous, is_there)) if previous == at => is_there,
                _ => self.holds(at)?,
            };
            last = Some((at, is_there));
            if !is_there || db.records.get(self, &key[5..])?.is_none() {
                dangling.push(key.to_vec());
            }
        }
        Ok(dangling)
    }
}

impl StoreWriter<'_> {
    /// Takes out a record with everything that was accepted of it. Nothing of it can be read when
    /// this is committed.
    pub(crate) fn remove_feedback(&mut self, id: Id) -> heed::Result<()> {
        let db = self.store.db.feedback;
        let Some(stored) = db.records.get(self, &id.to_be_bytes())?.map(<[u8]>::to_vec) else {
            return Ok(());
        };
        if let Some(record) = self.store.decode_sealed::<FeedbackRecord>(&stored)? {
            for atom in record.candidates.iter().filter_map(|candidate| candidate.atom) {
                self.remove_accepted(id, atom)?;
            }
            for at in quoted(&record) {
                db.links.delete(self.txn(), &link_key(at, id))?;
            }
            self.remove_near(id, &record)?;
        }
        if let Some(slot) = Store::slot_in(&stored) {
            self.store.db.wipes.put(self.txn(), &slot.to_le_bytes(), &[])?;
        }
        db.records.delete(self.txn(), &id.to_be_bytes()).map(drop)
    }

    /// Takes out all records that quote a node, which is about to be removed.
    pub(in crate::store) fn remove_feedback_about(&mut self, at: At) -> heed::Result<()> {
        let ids = self.feedback_about(at)?;
        ids.into_iter().try_for_each(|id| self.remove_feedback(id))
    }

    /// What quotes a document or chunk quotes another from now on, which is the same. Called before
    /// the edges of the first are moved to the other.
    pub(in crate::store) fn move_feedback(&mut self, from: At, to: At) -> heed::Result<()> {
        let (layer, replaced) = (from.0, |row: &mut Row| {
            if *row == from.1 {
                *row = to.1;
            }
        });
        if layer == Layer::Chunk {
            for atom in self.accepted_atoms_of(from.1)? {
                self.move_accepted(atom, from.1, to.1)?;
            }
        }
        let db = self.store.db.feedback;
        for id in self.feedback_about(from)? {
            let stored = db.records.get(self, &id.to_be_bytes())?.map(<[u8]>::to_vec);
            let Some(stored) = stored else { continue };
            let Some(mut record) = self.store.decode_sealed::<FeedbackRecord>(&stored)? else {
                continue;
            };
            if layer == Layer::Document {
                record.documents.iter_mut().for_each(replaced);
            } else {
                record.cited.iter_mut().for_each(replaced);
                let candidates = record.candidates.iter_mut();
                candidates.flat_map(|candidate| &mut candidate.chunks).for_each(replaced);
            }
            self.put_feedback(id, &record)?;
            db.links.delete(self.txn(), &link_key(from, id))?;
            db.links.put(self.txn(), &link_key(to, id), &[])?;
        }
        Ok(())
    }

    /// An accepted atom keeps its row, its key and its vectors; its id stays, too, because it does
    /// not come from the chunk.
    fn move_accepted(&mut self, row: Row, from: Row, to: Row) -> heed::Result<()> {
        let Some(mut atom) = self.node::<AtomRecord>(row)? else { return Ok(()) };
        if atom.chunk == from {
            let chunk: ChunkRecord = self.linked(to)?;
            (atom.chunk, atom.start, atom.end) = (to, chunk.place.chars.0, chunk.place.chars.1);
        }
        let also = atom.accepted.iter_mut().flat_map(|accepted| &mut accepted.also);
        also.filter(|chunk| **chunk == from).for_each(|chunk| *chunk = to);
        self.put_node(row, &atom)
    }
}

/// The id of an accepted atom.
pub(crate) fn accepted_id(feedback: Id, number: usize, text: &str) -> Id {
    hash(&[b"accepted", &feedback.to_be_bytes(), &number.to_be_bytes(), text.as_bytes()])
}
