//! The rows that a filter lets in, held while the base is open: of what has changed the documents
//! are looked at again, and nothing else.
use std::sync::Arc;

use halma_core::{Filter, Layer};

use super::filter::{allowed, allowed_of_document};
use crate::KbError;
use crate::store::{Changed, Changes, Row, RowSet, Store, StoreReader};

/// Rows of one layer.
#[derive(Clone)]
pub(crate) struct FilterRows {
    position: u64,
    layer: Layer,
    pub(crate) rows: Arc<RowSet>,
    /// For atoms: the chunks that are let in.
    chunks: Option<Arc<RowSet>>,
}

impl FilterRows {
    pub(crate) fn load(store: &Store, filter: &Filter, layer: Layer) -> Result<Self, KbError> {
        store.read(|reader| {
            let position = reader.change_position()?;
            let rows = Arc::new(allowed(reader, filter, layer)?);
            let chunks = match layer {
                Layer::Atom => Some(Arc::new(allowed(reader, filter, Layer::Chunk)?)),
                _ => None,
            };
            Ok(Self { position, layer, rows, chunks })
        })
    }

    /// Takes in what has changed; `false` when all is to be looked at again.
    pub(crate) fn update(&mut self, store: &Store, filter: &Filter) -> Result<bool, KbError> {
        // Tags, and what rests on several documents, change by more than their documents.
        let by_document =
            matches!(self.layer, Layer::Document | Layer::Section | Layer::Chunk | Layer::Atom);
        store.read(|reader| {
            let changes = reader.changes_since(self.position)?;
            let Some(changes) = changes.filter(|_| by_document && filter.tags.is_empty()) else {
                return Ok(false);
            };
            // What was accepted from answers rests on chunks of several documents.
            if self.layer == Layer::Atom && !reader.accepted_atoms()?.is_empty() {
                return Ok(false);
            }
            self.apply(reader, filter, &changes)?;
            self.position = reader.change_position()?;
            Ok(true)
        })
    }

    fn apply(
        &mut self,
        reader: &StoreReader<'_>,
        filter: &Filter,
        changes: &Changes,
    ) -> heed::Result<()> {
        for document in changes.of(Changed::Node, Layer::Document) {
            let layer = if self.layer == Layer::Atom { Layer::Chunk } else { self.layer };
            let Some((all, selected)) = allowed_of_document(reader, filter, *document, layer)?
            else {
                continue;
            };
            let rows = self.chunks.as_mut().unwrap_or(&mut self.rows);
            let rows = Arc::make_mut(rows);
            for row in all.clone() {
                if selected.contains(row) { rows.insert(row) } else { rows.remove(row) }
            }
            if self.layer == Layer::Atom {
                self.set_atoms(reader, all)?;
            }
        }
        if self.layer == Layer::Atom {
            self.set_atoms(reader, changes.of(Changed::Node, Layer::Chunk).iter().copied())?;
        }
        Ok(())
    }

    fn set_atoms(
        &mut self,
        reader: &StoreReader<'_>,
        chunks: impl Iterator<Item = Row>,
    ) -> heed::Result<()> {
        let Some(admitted) = &self.chunks else { return Ok(()) };
        let rows = Arc::make_mut(&mut self.rows);
        for chunk in chunks {
            for atom in reader.atoms_of(chunk)? {
                if admitted.contains(chunk) { rows.insert(atom) } else { rows.remove(atom) }
            }
        }
        Ok(())
    }
}
