//! What graph search needs of chunks, sealed with their documents: the names in each and above it,
//! and its sentences with the names in them. It is made by `mentions/record.rs`.
use std::collections::HashSet;

use halma_core::{Edge, Layer};
use serde::{Deserialize, Serialize};

use super::changes::{Changed, Changes};
use super::schema::{encode, row_of};
use super::{At, ChunkRecord, DocumentRecord, Row, SectionRecord, StoreReader, StoreWriter};

/// A chunk as graph search follows it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ChunkNames {
    /// The entities that it names, with how often.
    pub(crate) names: Vec<(Row, f32)>,
    /// The entities that are its title or heading.
    pub(crate) titles: Vec<Row>,
    pub(crate) units: Vec<Unit>,
}

/// A sentence with the entities in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unit {
    /// The nodes by which it is compared with a question, of which the nearest counts: itself
    /// where sentences are atoms, else the questions that are asked about it, else its chunk.
    pub(crate) nodes: Vec<UnitNode>,
    pub(crate) entities: Vec<Row>,
}

/// A chunk or an atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UnitNode {
    pub(crate) is_chunk: bool,
    pub(crate) row: Row,
}

impl UnitNode {
    pub(crate) fn at(self) -> At {
        (if self.is_chunk { Layer::Chunk } else { Layer::Atom }, self.row)
    }

    pub(crate) fn new((layer, row): At) -> Self {
        Self { is_chunk: layer == Layer::Chunk, row }
    }
}

/// The last rows whose changes count.
#[derive(Clone, Copy)]
struct LastRows {
    chunk: Row,
    document: Row,
    section: Row,
}

impl LastRows {
    const ALL: Self = Self { chunk: Row::MAX, document: Row::MAX, section: Row::MAX };
}

impl StoreReader<'_> {
    /// `None` where it is to be made. What is stored names what is there in the whole base; for a
    /// restricted reader only the entities that it sees are left.
    pub(crate) fn chunk_names(&self, chunk: Row) -> heed::Result<Option<ChunkNames>> {
        if !self.sees((Layer::Chunk, chunk))? {
            return Ok(None);
        }
        let stored = self.store.db.chunk_names.get(self, &chunk.to_be_bytes())?;
        let names = stored.map(|stored| self.store.decode_sealed::<ChunkNames>(stored));
        match names.transpose()?.flatten() {
            Some(names) if self.is_restricted() => self.narrowed_names(names).map(Some),
            names => Ok(names),
        }
    }

    /// As if the entities that this reader does not see were named nowhere.
    fn narrowed_names(&self, mut names: ChunkNames) -> heed::Result<ChunkNames> {
        let mut hidden = HashSet::new();
        for row in names.names.iter().map(|(row, _)| row).chain(&names.titles) {
            if !self.sees((Layer::Entity, *row))? {
                hidden.insert(*row);
            }
        }
        names.names.retain(|(row, _)| !hidden.contains(row));
        names.titles.retain(|row| !hidden.contains(row));
        for unit in &mut names.units {
            unit.entities.retain(|row| !hidden.contains(row));
        }
        Ok(names)
    }

    /// Hashes of the terms of a chunk; `None` where they are to be made.
    pub(crate) fn chunk_terms(&self, chunk: Row) -> heed::Result<Option<Vec<u32>>> {
        if !self.sees((Layer::Chunk, chunk))? {
            return Ok(None);
        }
        let stored = self.store.db.chunk_terms.get(self, &chunk.to_be_bytes())?;
        let steps = stored.map(|stored| self.store.decode_sealed::<Vec<u32>>(stored));
        Ok(steps.transpose()?.flatten().map(|mut terms| {
            let mut term: u32 = 0;
            for step in &mut terms {
                term = term.wrapping_add(*step);
                *step = term;
            }
            terms
        }))
    }

    /// Chunks whose record is to be made, in order.
    pub(crate) fn without_names(&self) -> heed::Result<Vec<Row>> {
        let listed = self.store.db.chunk_names.iter(self)?;
        let listed: Vec<Row> =
            listed.map(|entry| Ok(row_of(entry?.0))).collect::<heed::Result<_>>()?;
        let mut rows = self.all_rows(Layer::Chunk)?;
        rows.retain(|row| listed.binary_search(row).is_err());
        Ok(rows)
    }

    /// Chunks of which graph search needs something else after these changes, ascending: those
    /// that changed, and those under documents and sections that did.
    pub(crate) fn chunks_touched_by(&self, changes: &Changes) -> heed::Result<Vec<Row>> {
        self.touched_up_to(changes, LastRows::ALL)
    }

    /// [`StoreReader::chunks_touched_by`] of the changes to rows up to these.
    fn touched_up_to(&self, changes: &Changes, last: LastRows) -> heed::Result<Vec<Row>> {
        let mut rows: Vec<Row> = vec![];
        for changed in [Changed::Node, Changed::Mentions] {
            let of =
                |layer, last| changes.of(changed, layer).iter().filter(move |row| **row <= last);
            rows.extend(of(Layer::Chunk, last.chunk));
            for row in of(Layer::Document, last.document) {
                let record = self.node::<DocumentRecord>(*row)?;
                rows.extend(record.map_or(0..0, |record| record.chunks.0..record.chunks.1));
            }
            for row in of(Layer::Section, last.section) {
                let record = self.node::<SectionRecord>(*row)?;
                rows.extend(record.map_or(0..0, |record| record.chunks.0..record.chunks.1));
            }
        }
        rows.sort_unstable();
        rows.dedup();
        Ok(rows)
    }
}

impl StoreWriter<'_> {
    /// Stores what was made of a chunk, when what is made of changed chunks has been dropped.
    pub(crate) fn put_names(
        &mut self,
        chunk: Row,
        names: &ChunkNames,
        terms: &[u32],
    ) -> heed::Result<()> {
        let mut before = 0;
        let steps: Vec<u32> =
            terms.iter().map(|term| term - std::mem::replace(&mut before, *term)).collect();
        self.made_names.push((chunk, [encode(names)?, encode(&steps)?]));
        Ok(())
    }

    /// Stores what [`StoreWriter::put_names`] took; of chunks that are gone nothing.
    pub(super) fn store_made_names(&mut self) -> heed::Result<()> {
        for (chunk, [names, terms]) in std::mem::take(&mut self.made_names) {
            let Some(slot) = self.slot_of_node((Layer::Chunk, chunk))? else { continue };
            let key = chunk.to_be_bytes();
            self.put_sealed(self.store.db.chunk_names, &key, slot, &names)?;
            self.put_sealed(self.store.db.chunk_terms, &key, slot, &terms)?;
        }
        Ok(())
    }

    /// What was made of the chunks that this transaction touches is made again.
    pub(super) fn drop_touched_names(&mut self, changes: &Changes) -> heed::Result<()> {
        let Some((last, _)) = self.store.db.chunk_names.last(self)? else { return Ok(()) };
        // Rows are handed out in sequence, so nothing is made yet of what came after the last.
        let last = row_of(last);
        let up_to = match self.any_node::<ChunkRecord>(last)? {
            Some(ChunkRecord { document, section, .. }) => {
                LastRows { chunk: last, document, section }
            }
            None => LastRows::ALL,
        };
        for row in self.touched_up_to(changes, up_to)? {
            let key = row.to_be_bytes();
            self.store.db.chunk_names.delete(self.txn(), &key)?;
            self.store.db.chunk_terms.delete(self.txn(), &key)?;
        }
        Ok(())
    }

    /// An entity is called otherwise, so that other sentences name it.
    pub(super) fn renamed(&mut self, entity: Row) -> heed::Result<()> {
        for link in self.edges_to((Layer::Entity, entity), Some(Edge::Mentions))? {
            self.changes.add(Changed::Mentions, link.from);
        }
        Ok(())
    }
}
