//! The ledger: what was made of each chunk, what failed and why, what is still to do.
use halma_core::Layer;

use super::schema::{encode, hash, row_key, row_of};
use super::waiting::Work;
use super::{At, AtomRecord, AtomState, AtomUnit, ChunkRecord, Row, StoreReader, StoreWriter};
use crate::Atoms;
use crate::atom::AtomDraft;

/// Units of work in a state that is not "done".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LedgerCounts {
    pub(crate) failed: u64,
    pub(crate) pending: u64,
}

impl StoreReader<'_> {
    pub(crate) fn unit(&self, chunk: Row) -> heed::Result<Option<AtomUnit>> {
        match self.store.db.atomizing.get(self, &chunk.to_be_bytes())? {
            Some(stored) => self.store.decode_sealed(stored),
            None => Ok(None),
        }
    }

    /// Chunks that have no atoms of this kind yet: pending, failed before, or with other atoms.
    pub(crate) fn unatomized(&self, atoms: Atoms) -> heed::Result<Vec<Row>> {
        if self.wanted_atoms()? == Some(atoms) {
            return self.waiting(Work::Atoms, Layer::Chunk);
        }
        let mut rows = vec![];
        for entry in self.store.db.atomizing.iter(self)? {
            let (key, unit) = entry?;
            let Some(unit) = self.store.decode_sealed::<AtomUnit>(unit)? else { continue };
            if unit.atoms != atoms || !matches!(unit.state, AtomState::Done(_)) {
                rows.push(row_of(key));
            }
        }
        Ok(rows)
    }

    /// The kind of atoms that the list of waiting chunks is about.
    fn wanted_atoms(&self) -> heed::Result<Option<Atoms>> {
        self.meta("atoms")
    }

    /// The rows of a chunk's atoms.
    pub(crate) fn atoms_of(&self, chunk: Row) -> heed::Result<std::ops::Range<Row>> {
        Ok(match self.unit(chunk)? {
            Some(AtomUnit { state: AtomState::Done((first, end)), .. }) => first..end,
            _ => 0..0,
        })
    }

    /// Why a text could not be embedded; `None` where nothing failed.
    pub(crate) fn unembedded(&self, (layer, row): At) -> heed::Result<Option<AtomState>> {
        match self.store.db.unembedded.get(self, &row_key(0, layer, row))? {
            Some(stored) => self.store.decode_sealed(stored),
            None => Ok(None),
        }
    }

    /// How many texts could not be embedded.
    pub(crate) fn count_unembedded(&self) -> heed::Result<usize> {
        Ok(usize::try_from(self.store.db.unembedded.len(self)?).unwrap_or(usize::MAX))
    }

    /// Every unit by its task.
    pub(crate) fn each_unit(
        &self,
        mut each: impl FnMut(&'static str, &AtomState),
    ) -> heed::Result<()> {
        for entry in self.store.db.atomizing.iter(self)? {
            if let Some(unit) = self.store.decode_sealed::<AtomUnit>(entry?.1)? {
                each("atoms", &unit.state);
            }
        }
        for entry in self.store.db.unembedded.iter(self)? {
            if let Some(state) = self.store.decode_sealed::<AtomState>(entry?.1)? {
                each("embed", &state);
            }
        }
        Ok(())
    }

    pub(crate) fn ledger_counts(&self) -> heed::Result<LedgerCounts> {
        let mut counts = LedgerCounts { failed: self.store.db.unembedded.len(self)?, pending: 0 };
        for chunk in self.waiting(Work::Atoms, Layer::Chunk)? {
            match self.unit(chunk)?.map(|unit| unit.state) {
                // Done, but with atoms of another kind than is wanted.
                Some(AtomState::Pending | AtomState::Done(_)) => counts.pending += 1,
                Some(AtomState::Failed { .. }) => counts.failed += 1,
                None => {}
            }
        }
        Ok(counts)
    }
}

impl StoreWriter<'_> {
    pub(super) fn put_unit(&mut self, chunk: Row, unit: &AtomUnit) -> heed::Result<()> {
        let Some(slot) = self.slot_of_node((Layer::Chunk, chunk))? else { return Ok(()) };
        let done = matches!(unit.state, AtomState::Done(_));
        let wanted = self.wanted_atoms()?.is_none_or(|wanted| wanted == unit.atoms);
        if done && wanted {
            self.done_with(Work::Atoms, (Layer::Chunk, chunk))?;
        } else {
            self.wait_for(Work::Atoms, (Layer::Chunk, chunk))?;
        }
        self.put_sealed((self.store.db.atomizing, &chunk.to_be_bytes()), slot, &encode(unit)?)
    }

    /// The ledger's entry of a chunk goes; what it says was made stays.
    pub(super) fn forget_atomizing(&mut self, chunk: Row) -> heed::Result<()> {
        self.done_with(Work::Atoms, (Layer::Chunk, chunk))?;
        self.store.db.atomizing.delete(self.txn(), &chunk.to_be_bytes()).map(|_| ())
    }

    /// Makes the list of waiting chunks one about this kind of atoms.
    pub(crate) fn want_atoms(&mut self, atoms: Atoms) -> heed::Result<()> {
        if self.wanted_atoms()? == Some(atoms) {
            return Ok(());
        }
        let rows = self.unatomized(atoms)?;
        self.forget_waiting(Work::Atoms, Layer::Chunk)?;
        for row in rows {
            self.wait_for(Work::Atoms, (Layer::Chunk, row))?;
        }
        self.set_meta("atoms", &atoms)
    }

    /// Stores the atoms of a chunk in the place of those it had; returns their rows. Nothing
    /// happens when the chunk has been replaced meanwhile.
    pub(crate) fn put_atoms(
        &mut self,
        chunk: Row,
        atoms: Atoms,
        drafts: &[AtomDraft],
    ) -> heed::Result<std::ops::Range<Row>> {
        let Some(parent) = self.node::<ChunkRecord>(chunk)? else { return Ok(0..0) };
        self.remove_atoms(chunk)?;
        let first = self.take_rows(Layer::Atom, drafts.len())?;
        let mut row = first;
        for draft in drafts {
            let id = hash(&[&parent.id.to_be_bytes(), draft.text.as_bytes()]);
            let (start, end) = draft.span;
            let record = AtomRecord { id, chunk, start, end, text: draft.text.clone() };
            self.put_node(row, &record)?;
            row += 1;
        }
        self.put_unit(chunk, &AtomUnit { atoms, state: AtomState::Done((first, row)) })?;
        Ok(first..row)
    }

    /// Notes that a chunk could not be atomized.
    pub(crate) fn atomizing_failed(
        &mut self,
        chunk: Row,
        atoms: Atoms,
        reason: &str,
    ) -> heed::Result<()> {
        let attempts = match self.unit(chunk)? {
            None => return Ok(()),
            Some(AtomUnit { state: AtomState::Failed { attempts, .. }, .. }) => attempts + 1,
            Some(_) => 1,
        };
        self.remove_atoms(chunk)?;
        let state = AtomState::Failed { reason: reason.to_owned(), attempts };
        self.put_unit(chunk, &AtomUnit { atoms, state })
    }

    pub(super) fn remove_atoms(&mut self, chunk: Row) -> heed::Result<()> {
        if let Some(AtomUnit { state: AtomState::Done((first, end)), .. }) = self.unit(chunk)? {
            for atom in first..end {
                self.remove_node::<AtomRecord>(atom)?;
            }
        }
        Ok(())
    }

    /// Notes that texts could not be embedded.
    pub(crate) fn embedding_failed(
        &mut self,
        texts: &[(Layer, Row)],
        reason: &str,
    ) -> heed::Result<()> {
        for (layer, row) in texts {
            // What was replaced meanwhile needs no vector.
            if !self.holds((*layer, *row))? {
                continue;
            }
            let key = row_key(0, *layer, *row);
            let Some(slot) = self.slot_of_node((*layer, *row))? else { continue };
            let before = match self.store.db.unembedded.get(self, &key)? {
                Some(stored) => self.store.decode_sealed(stored)?,
                None => None,
            };
            let attempts = match before {
                Some(AtomState::Failed { attempts, .. }) => attempts + 1,
                _ => 1,
            };
            let state = AtomState::Failed { reason: reason.to_owned(), attempts };
            self.put_sealed((self.store.db.unembedded, &key), slot, &encode(&state)?)?;
        }
        Ok(())
    }

    /// Notes for a text that replaces another what is known about embedding that.
    pub(super) fn move_unembedded(
        &mut self,
        (layer, old): (Layer, Row),
        new: Row,
    ) -> heed::Result<()> {
        let failed = match self.store.db.unembedded.get(self, &row_key(0, layer, old))? {
            Some(stored) => self.store.decode_sealed::<AtomState>(stored)?,
            None => None,
        };
        let slot = self.slot_of_node((layer, new))?;
        if let Some((failed, slot)) = failed.zip(slot) {
            let key = row_key(0, layer, new);
            self.put_sealed((self.store.db.unembedded, &key), slot, &encode(&failed)?)?;
        }
        Ok(())
    }
}
