//! The atoms of a chunk: which rows they are in is the result of its unit in the ledger.
use std::ops::Range;

use halma_core::Layer;

use super::changes::Changed;
use super::ledger::{Task, UnitKey};
use super::schema::hash;
use super::{AtomRecord, ChunkRecord, Id, Row, Rows, StoreReader, StoreWriter};
use crate::Atoms;

/// The unit that a chunk's atoms are the result of.
pub(crate) fn atoms_key(chunk: Row) -> UnitKey {
    UnitKey::of(Task::Atoms, (Layer::Chunk, chunk))
}

/// What atoms of a kind are noted as made with. Those that a model makes are noted with the wording of
/// its prompt instead.
pub(crate) fn atoms_input(kind: Atoms) -> Id {
    kind as Id
}

impl StoreReader<'_> {
    /// Chunks that have no atoms made with this yet: pending, failed before, or with other atoms.
    pub(crate) fn unatomized(&self, input: Id) -> heed::Result<Vec<Row>> {
        let mut rows = vec![];
        for entry in self.entries(Task::Atoms)? {
            let entry = entry?;
            if !entry.is_done(input) {
                rows.push(entry.key.row());
            }
        }
        Ok(rows)
    }

    /// What the latest build makes atoms with, as an input of units.
    pub(crate) fn wanted_atoms(&self) -> heed::Result<Option<Id>> {
        self.meta("atoms")
    }

    /// The rows of a chunk's atoms.
    pub(crate) fn atoms_of(&self, chunk: Row) -> heed::Result<Range<Row>> {
        let made = self.result_of::<Rows>(atoms_key(chunk))?;
        Ok(made.map_or(0..0, |(_, (first, end))| first..end))
    }
}

impl StoreWriter<'_> {
    /// Chunks with atoms made with anything else are pending from now on.
    pub(crate) fn want_atoms(&mut self, input: Id) -> heed::Result<()> {
        if self.wanted_atoms()? == Some(input) {
            return Ok(());
        }
        self.set_meta("atoms", &input)
    }

    /// Stores the atoms of a chunk in the place of those it had; returns their rows. Nothing
    /// happens when the chunk has been replaced meanwhile.
    pub(crate) fn put_atoms(
        &mut self,
        chunk: Row,
        input: Id,
        drafts: &[AtomDraft],
    ) -> heed::Result<Range<Row>> {
        let Some(parent) = self.node::<ChunkRecord>(chunk)? else { return Ok(0..0) };
        self.remove_atoms(chunk)?;
        self.changes.add(Changed::Node, (Layer::Chunk, chunk));
        let first = self.take_rows(Layer::Atom, drafts.len())?;
        let mut row = first;
        for draft in drafts {
            let id = hash(&[&parent.id.to_be_bytes(), draft.text.as_bytes()]);
            let (start, end) = draft.span;
            let text = draft.text.clone();
            let record = AtomRecord { id, chunk, start, end, text, accepted: None };
            self.put_node(row, &record)?;
            row += 1;
        }
        self.put_done(atoms_key(chunk), input, &(first, row))?;
        Ok(first..row)
    }

    /// Removes the atoms of a chunk from the store, not their entry in the ledger.
    pub(crate) fn remove_atoms(&mut self, chunk: Row) -> heed::Result<()> {
        self.atoms_of(chunk)?.try_for_each(|atom| self.remove_node::<AtomRecord>(atom))
    }
}

/// An atom to store: its text and the characters of the document it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AtomDraft {
    pub(crate) text: String,
    pub(crate) span: (usize, usize),
}
