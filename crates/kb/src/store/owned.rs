//! What is deleted with what: a document takes along everything made of it, and then whatever
//! rested on that alone.
use std::collections::{BTreeMap, BTreeSet};

use halma_core::{Edge, Layer};
use halma_seal::Slot;
use heed::RwTxn;

use super::edges::Link;
use super::schema::at_key;
use super::sealed::at_of_key;
use super::{
    At, AtomRecord, ChunkRecord, CommunityRecord, DocumentRecord, EntityRecord, FactRecord,
    FigureRecord, Node, Reading, Row, RowRecord, SectionRecord, Store, SummaryRecord, TableRecord,
    TagRecord,
};

/// With what a node is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// With nothing else; it has a key of its own.
    Itself,
    Document(Row),
    /// With the document of the chunk.
    Chunk(Row),
}

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

impl Store {
    /// Notes whose a node is that is put into `row`; returns the slot to seal it with.
    pub(super) fn own<N: Node>(
        &self,
        txn: &mut RwTxn<'_>,
        row: Row,
        node: &N,
    ) -> heed::Result<Slot> {
        let (at, owner) = ((N::LAYER, row), node.owner());
        if is_listed(N::LAYER) {
            let former = self.node::<N>(txn, row)?.map(|former| former.owner());
            if let Some(former) = former.filter(|former| *former != owner).and_then(list_of) {
                self.db.owned.delete(txn, &owned_key(former, at))?;
            }
            if let Some(list) = list_of(owner) {
                self.db.owned.put(txn, &owned_key(list, at), &[])?;
            }
        }
        match owner {
            Owner::Itself => self.slot_of(txn, at),
            Owner::Document(document) => self.slot_of(txn, (Layer::Document, document)),
            Owner::Chunk(chunk) => {
                self.slot_of_node(txn, (Layer::Chunk, chunk))?.ok_or_else(|| {
                    let layer = N::LAYER.name();
                    heed::Error::Encoding(format!("{layer} {row} is of chunk {chunk}: gone").into())
                })
            }
        }
    }

    /// The reverse of [`Store::own`].
    pub(super) fn disown<N: Node>(
        &self,
        txn: &mut RwTxn<'_>,
        row: Row,
        node: &N,
    ) -> heed::Result<()> {
        let (at, owner) = ((N::LAYER, row), node.owner());
        if let Some(list) = list_of(owner).filter(|_| is_listed(N::LAYER)) {
            self.db.owned.delete(txn, &owned_key(list, at))?;
        }
        if owner == Owner::Itself {
            self.forget_owner(txn, at)?;
        }
        Ok(())
    }

    /// Facts and rows of a chunk, summaries of a document.
    pub(crate) fn listed_under(&self, txn: &Reading<'_>, owner: At) -> heed::Result<Vec<At>> {
        let mut nodes = vec![];
        for entry in self.db.owned.prefix_iter(txn, &at_key(owner))? {
            nodes.extend(at_of_key(entry?.0));
        }
        Ok(nodes)
    }

    /// Takes out a document with all its names and everything made of it, and what rested on it
    /// alone: entities and tags that nothing names any more, tables without rows, and communities
    /// of the entities it named, whose summaries may tell of it.
    pub(crate) fn remove_document(&self, txn: &mut RwTxn<'_>, row: Row) -> heed::Result<Gone> {
        let before = self.counts(txn)?;
        crate::extract::forget_document(self, txn, row)?;
        let record: DocumentRecord = self.linked(txn, row)?;
        let mut gone = Gone::default();
        for name in &record.names {
            self.free_name(txn, row, name)?;
        }
        for chunk in record.chunks.0..record.chunks.1 {
            self.remove_chunk(txn, chunk, &mut gone)?;
        }
        for summary in self.listed_under(txn, (Layer::Document, row))? {
            self.remove(txn, summary, &mut gone)?;
        }
        for (layer, rows) in [
            (Layer::Table, record.tables),
            (Layer::Figure, record.figures),
            (Layer::Section, record.sections),
        ] {
            for part in rows.0..rows.1 {
                self.remove(txn, (layer, part), &mut gone)?;
            }
        }
        self.db.texts.delete(txn, &row.to_be_bytes())?;
        self.remove(txn, (Layer::Document, row), &mut gone)?;
        self.remove_orphans(txn, &mut gone)?;
        // Counted at the end, because much of what was distilled goes by itself.
        let after = self.counts(txn)?;
        let went = |layer: &Layer| before[layer].saturating_sub(after[layer]);
        let counts = Layer::ALL.iter().map(|layer| (*layer, went(layer)));
        gone.counts = counts.filter(|(_, count)| *count > 0).collect();
        Ok(gone)
    }

    fn counts(&self, txn: &Reading<'_>) -> heed::Result<BTreeMap<Layer, u64>> {
        Layer::ALL.iter().map(|layer| Ok((*layer, self.count(txn, *layer)?))).collect()
    }

    fn remove_chunk(&self, txn: &mut RwTxn<'_>, row: Row, gone: &mut Gone) -> heed::Result<()> {
        for atom in self.atoms_of(txn, row)? {
            self.remove(txn, (Layer::Atom, atom), gone)?;
        }
        for node in self.listed_under(txn, (Layer::Chunk, row))? {
            self.remove(txn, node, gone)?;
        }
        self.forget_atomizing(txn, row)?;
        self.remove(txn, (Layer::Chunk, row), gone)
    }

    fn remove(&self, txn: &mut RwTxn<'_>, at: At, gone: &mut Gone) -> heed::Result<()> {
        let (layer, row) = at;
        match layer {
            Layer::Document => self.out::<DocumentRecord>(txn, row, gone).map(|_| ()),
            Layer::Section => self.out::<SectionRecord>(txn, row, gone).map(|_| ()),
            Layer::Chunk => self.out::<ChunkRecord>(txn, row, gone).map(|_| ()),
            Layer::Atom => self.out::<AtomRecord>(txn, row, gone).map(|_| ()),
            Layer::Table => self.out::<TableRecord>(txn, row, gone).map(|_| ()),
            Layer::Figure => self.out::<FigureRecord>(txn, row, gone).map(|_| ()),
            Layer::Summary => self.out::<SummaryRecord>(txn, row, gone).map(|_| ()),
            Layer::Tag => self.out::<TagRecord>(txn, row, gone).map(|_| ()),
            Layer::Entity => self.out::<EntityRecord>(txn, row, gone).map(|_| ()),
            Layer::Community => self.out::<CommunityRecord>(txn, row, gone).map(|_| ()),
            Layer::Row => {
                if let Some(record) = self.out::<RowRecord>(txn, row, gone)? {
                    gone.touched.insert((Layer::Table, record.table));
                }
                Ok(())
            }
            Layer::Fact => match self.out::<FactRecord>(txn, row, gone)? {
                Some(fact) => self.weaken(txn, &fact),
                None => Ok(()),
            },
        }
    }

    fn out<N: Node>(
        &self,
        txn: &mut RwTxn<'_>,
        row: Row,
        gone: &mut Gone,
    ) -> heed::Result<Option<N>> {
        let Some((node, ends)) = self.take_out::<N>(txn, row)? else { return Ok(None) };
        gone.count(N::LAYER);
        gone.touched.extend(ends);
        Ok(Some(node))
    }

    /// Takes from the edge between two entities what one fact gave it.
    fn weaken(&self, txn: &mut RwTxn<'_>, fact: &FactRecord) -> heed::Result<()> {
        let (head, tail) = ((Layer::Entity, fact.head), (Layer::Entity, fact.tail));
        let found = self.edges_from(txn, head, Some(Edge::Relates))?;
        let Some(link) = found.into_iter().find(|link| link.to == tail) else { return Ok(()) };
        let weight = link.weight - 1.0;
        if weight > 0.0 {
            self.put_edge(txn, Link { weight, ..link })
        } else {
            self.remove_edge(txn, &link)
        }
    }

    fn remove_orphans(&self, txn: &mut RwTxn<'_>, gone: &mut Gone) -> heed::Result<()> {
        for at in std::mem::take(&mut gone.touched) {
            match at.0 {
                Layer::Entity => {
                    self.remove_communities(txn, at, gone)?;
                    if !self.is_led_to(txn, at, Edge::Mentions)? {
                        self.remove(txn, at, gone)?;
                    }
                }
                Layer::Tag if !self.is_led_to(txn, at, Edge::Tagged)? => {
                    self.remove(txn, at, gone)?;
                }
                Layer::Table => {
                    let table = self.node::<TableRecord>(txn, at.1)?;
                    let made = table.filter(|table| table.document.is_none());
                    if let Some(table) = made
                        && !self.has_rows(txn, &table)?
                    {
                        self.remove(txn, at, gone)?;
                    }
                }
                _ => {}
            }
        }
        gone.touched.clear();
        Ok(())
    }

    fn has_rows(&self, txn: &Reading<'_>, table: &TableRecord) -> heed::Result<bool> {
        let next = self.rows(txn, Layer::Row, table.rows.0, 1)?;
        Ok(next.first().is_some_and(|row| *row < table.rows.1))
    }

    /// The communities of an entity and the larger ones they are in; the next build makes them
    /// again of what is left.
    fn remove_communities(
        &self,
        txn: &mut RwTxn<'_>,
        member: At,
        gone: &mut Gone,
    ) -> heed::Result<()> {
        for link in self.edges_from(txn, member, Some(Edge::MemberOf))? {
            self.remove_communities(txn, link.to, gone)?;
            self.remove(txn, link.to, gone)?;
        }
        Ok(())
    }
}
