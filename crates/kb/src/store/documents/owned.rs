//! What is deleted with what: a document takes along everything made of it, and then everything
//! that rested on that alone.
use std::collections::{BTreeMap, BTreeSet};

use halma_core::{Edge, Layer};
use halma_store::seal::Slot;

use super::super::extracted::ExtractedFrom;
use crate::store::schema::at_key;
use crate::store::sealed::at_of_key;
use crate::store::{
    At, DocumentRecord, FactRecord, LayerRecord, Owner, Row, RowRecord, StoreReader, StoreWriter,
    TableRecord,
};

/// What a deletion took out, by layer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Gone {
    pub(crate) counts: BTreeMap<Layer, u64>,
    /// What its edges led to, and tables whose rows went.
    touched: BTreeSet<At>,
}

impl Gone {
    pub(crate) fn add(&mut self, other: &Self) {
        for (layer, count) in &other.counts {
            *self.counts.entry(*layer).or_default() += count;
        }
    }

    fn count(&mut self, layer: Layer) {
        *self.counts.entry(layer).or_default() += 1;
    }
}

/// What goes with a chunk or document: that, then the node.
fn owned_key(owner: At, node: At) -> [u8; 10] {
    let mut key = [0; 10];
    key[..5].copy_from_slice(&at_key(owner));
    key[5..].copy_from_slice(&at_key(node));
    key
}

/// Layers whose nodes are in no range of another record.
fn is_listed(layer: Layer) -> bool {
    matches!(layer, Layer::Fact | Layer::Row | Layer::Summary)
}

/// Under what a listed node is found.
fn list_of(owner: Owner) -> Option<At> {
    match owner {
        Owner::Itself => None,
        Owner::Document(row) => Some((Layer::Document, row)),
        Owner::Chunk(row) => Some((Layer::Chunk, row)),
    }
}

impl StoreReader<'_> {
    /// Facts and rows of a chunk, summaries of a document.
    pub(crate) fn listed_under(&self, owner: At) -> heed::Result<Vec<At>> {
        let mut nodes = vec![];
        for entry in self.store.db.owned.prefix_iter(self, &at_key(owner))? {
            if let Some(at) = at_of_key(entry?.0)
                && self.sees(at)?
            {
                nodes.push(at);
            }
        }
        Ok(nodes)
    }

    fn counts(&self) -> heed::Result<BTreeMap<Layer, u64>> {
        Layer::ALL.iter().map(|layer| Ok((*layer, self.count(*layer)?))).collect()
    }

    fn has_rows(&self, table: &TableRecord) -> heed::Result<bool> {
        let next = self.rows(Layer::Row, table.rows.0, 1)?;
        Ok(next.first().is_some_and(|row| *row < table.rows.1))
    }
}

impl StoreWriter<'_> {
    /// Notes whose a node is that is put into `row`; returns the slot to seal it with.
    pub(in crate::store) fn note_owner<N: LayerRecord>(
        &mut self,
        row: Row,
        node: &N,
    ) -> heed::Result<Slot> {
        let (at, owner) = ((N::LAYER, row), node.owner());
        if is_listed(N::LAYER) {
            let former = self.node::<N>(row)?.map(|former| former.owner());
            if let Some(former) = former.filter(|former| *former != owner).and_then(list_of) {
                self.store.db.owned.delete(self.txn(), &owned_key(former, at))?;
            }
            if let Some(list) = list_of(owner) {
                self.store.db.owned.put(self.txn(), &owned_key(list, at), &[])?;
            }
        }
        match owner {
            Owner::Itself => self.slot_of(at),
            Owner::Document(document) => self.slot_of((Layer::Document, document)),
            Owner::Chunk(chunk) => self.slot_of_node((Layer::Chunk, chunk))?.ok_or_else(|| {
                let layer = N::LAYER.name();
                heed::Error::Encoding(format!("{layer} {row} is of chunk {chunk}: gone").into())
            }),
        }
    }

    /// The reverse of [`StoreWriter::note_owner`].
    pub(in crate::store) fn disown(&mut self, at: At, owner: Owner) -> heed::Result<()> {
        if let Some(list) = list_of(owner).filter(|_| is_listed(at.0)) {
            self.store.db.owned.delete(self.txn(), &owned_key(list, at))?;
        }
        if owner == Owner::Itself {
            self.forget_owner(at)?;
        }
        Ok(())
    }

    /// Takes out a document with all its names and everything made of it, and what rested on it
    /// alone: entities and tags that nothing names any more, tables without rows, and communities
    /// of the entities it named, whose summaries may describe it.
    pub(crate) fn remove_document(&mut self, row: Row) -> heed::Result<Gone> {
        let before = self.counts()?;
        let record: DocumentRecord = self.linked(row)?;
        let extracted = ExtractedFrom::load(self, &record)?;
        let mut gone = Gone::default();
        self.remove_feedback_about((Layer::Document, row))?;
        for name in &record.names {
            self.free_name(row, name)?;
        }
        for chunk in record.chunks.0..record.chunks.1 {
            self.remove_chunk(chunk, &mut gone)?;
        }
        for summary in self.listed_under((Layer::Document, row))? {
            self.remove(summary, &mut gone)?;
        }
        for (layer, rows) in [
            (Layer::Table, record.tables),
            (Layer::Figure, record.figures),
            (Layer::Section, record.sections),
        ] {
            for part in rows.0..rows.1 {
                self.forget_units((layer, part))?;
                self.remove((layer, part), &mut gone)?;
            }
        }
        self.store.db.texts.delete(self.txn(), &row.to_be_bytes())?;
        self.forget_units((Layer::Document, row))?;
        self.remove((Layer::Document, row), &mut gone)?;
        self.remove_orphans(&mut gone)?;
        extracted.forget(self, record.id)?;
        // Counted at the end, because much of what was extracted goes by itself.
        let after = self.counts()?;
        let went = |layer: &Layer| before[layer].saturating_sub(after[layer]);
        let counts = Layer::ALL.iter().map(|layer| (*layer, went(layer)));
        gone.counts = counts.filter(|(_, count)| *count > 0).collect();
        Ok(gone)
    }

    fn remove_chunk(&mut self, row: Row, gone: &mut Gone) -> heed::Result<()> {
        self.remove_feedback_about((Layer::Chunk, row))?;
        for atom in self.atoms_of(row)? {
            self.remove((Layer::Atom, atom), gone)?;
        }
        for node in self.listed_under((Layer::Chunk, row))? {
            self.remove(node, gone)?;
        }
        self.forget_units((Layer::Chunk, row))?;
        self.remove((Layer::Chunk, row), gone)
    }

    fn remove(&mut self, at: At, gone: &mut Gone) -> heed::Result<()> {
        let (layer, row) = at;
        let fact = if layer == Layer::Fact { self.node::<FactRecord>(row)? } else { None };
        if layer == Layer::Row {
            let record = self.node::<RowRecord>(row)?;
            gone.touched.extend(record.map(|record| (Layer::Table, record.table)));
        }
        if layer == Layer::Chunk {
            // Rows that were put together from several documents go with each of them.
            let rows = self.edges_to(at, Some(Edge::DerivedFrom))?;
            for link in rows.iter().filter(|link| link.from.0 == Layer::Row) {
                self.remove(link.from, gone)?;
            }
        }
        let Some(ends) = self.take_out(at)? else { return Ok(()) };
        gone.count(layer);
        gone.touched.extend(ends);
        // Takes from the edge between the two entities what the fact gave it.
        fact.map_or(Ok(()), |fact| self.weigh_edge(fact.relates(-1.0)))
    }

    fn remove_orphans(&mut self, gone: &mut Gone) -> heed::Result<()> {
        for at in std::mem::take(&mut gone.touched) {
            match at.0 {
                Layer::Entity => {
                    self.remove_communities(at, gone)?;
                    if !self.is_led_to(at, Edge::Mentions)? {
                        self.remove(at, gone)?;
                    }
                }
                Layer::Tag if !self.is_led_to(at, Edge::Tagged)? => {
                    self.remove(at, gone)?;
                }
                Layer::Table => {
                    let table = self.node::<TableRecord>(at.1)?;
                    let made = table.filter(|table| table.document.is_none());
                    if let Some(table) = made
                        && !self.has_rows(&table)?
                    {
                        self.remove(at, gone)?;
                    }
                }
                _ => {}
            }
        }
        gone.touched.clear();
        Ok(())
    }

    /// The communities of an entity and the larger ones they are in; the next build makes them
    /// again of what is left.
    fn remove_communities(&mut self, member: At, gone: &mut Gone) -> heed::Result<()> {
        for link in self.edges_from(member, Some(Edge::MemberOf))? {
            self.remove_communities(link.to, gone)?;
            self.remove(link.to, gone)?;
        }
        Ok(())
    }
}
