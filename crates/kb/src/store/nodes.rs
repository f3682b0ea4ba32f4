//! Rows, records and texts of all layers.
use halma_core::Layer;
use heed::types::Bytes;
use heed::{Database, RwTxn};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::schema::{LAYERS, decode, encode, id_key, number, row_key, row_of, row_prefix};
use super::waiting::Work;
use super::{
    At, AtomRecord, ChunkRecord, CommunityRecord, DocumentRecord, EntityRecord, FactRecord,
    FigureRecord, Id, Owner, Reading, Row, RowRecord, SectionRecord, Store, SummaryRecord,
    TableRecord, TagRecord,
};

/// A record of the layer that its type stands for.
pub(crate) trait Node: Serialize + DeserializeOwned {
    const LAYER: Layer;
    fn id(&self) -> Id;
    /// With what it is deleted, and under whose key it is sealed.
    fn owner(&self) -> Owner;
}

macro_rules! nodes {
    ($($layer:ident: $record:ty => $owner:expr),* $(,)?) => {$(
        impl Node for $record {
            const LAYER: Layer = Layer::$layer;
            fn id(&self) -> Id {
                self.id
            }
            fn owner(&self) -> Owner {
                let owner: fn(&Self) -> Owner = $owner;
                owner(self)
            }
        }
    )*};
}

nodes! {
    Document: DocumentRecord => |_| Owner::Itself,
    Section: SectionRecord => |section| Owner::Document(section.document),
    Chunk: ChunkRecord => |chunk| Owner::Document(chunk.document),
    Atom: AtomRecord => |atom| Owner::Chunk(atom.chunk),
    Table: TableRecord => |table| table.document.map_or(Owner::Itself, Owner::Document),
    Figure: FigureRecord => |figure| Owner::Document(figure.document),
    Row: RowRecord => |row| Owner::Chunk(row.chunk),
    Summary: SummaryRecord => |summary| Owner::Document(summary.document),
    Tag: TagRecord => |_| Owner::Itself,
    Entity: EntityRecord => |_| Owner::Itself,
    Fact: FactRecord => |fact| Owner::Chunk(fact.chunk),
    Community: CommunityRecord => |_| Owner::Itself,
}

impl Store {
    pub(super) fn layer(&self, layer: Layer) -> Database<'static, Bytes, Bytes> {
        self.db.nodes[number(layer)]
    }

    /// The record of a row; `None` when it was removed.
    pub(crate) fn node<N: Node>(&self, txn: &Reading<'_>, row: Row) -> heed::Result<Option<N>> {
        let Some(stored) = self.layer(N::LAYER).get(txn, &row.to_be_bytes())? else {
            return Ok(None);
        };
        self.unsealed(stored)?.map(|record| decode(&record)).transpose()
    }

    /// The record of a row that another record names.
    pub(crate) fn linked<N: Node>(&self, txn: &Reading<'_>, row: Row) -> heed::Result<N> {
        self.node(txn, row)?.ok_or_else(|| {
            let layer = N::LAYER.name();
            heed::Error::Decoding(format!("{layer} {row} is linked to and missing").into())
        })
    }

    /// Puts a record into a row, new or not.
    pub(crate) fn put_node<N: Node>(
        &self,
        txn: &mut RwTxn<'_>,
        row: Row,
        node: &N,
    ) -> heed::Result<()> {
        if searched(N::LAYER) && !self.holds(txn, (N::LAYER, row))? {
            self.wait_for(txn, Work::Vector, (N::LAYER, row))?;
        }
        let slot = self.own(txn, row, node)?;
        let record = encode(node)?;
        self.put_sealed(txn, (self.layer(N::LAYER), &row.to_be_bytes()), slot, &record)?;
        self.db.ids.put(txn, &id_key(N::LAYER, node.id()), &row.to_be_bytes())
    }

    /// Takes a node out, with its edges and vectors; the word index forgets it at its next update.
    pub(crate) fn remove_node<N: Node>(&self, txn: &mut RwTxn<'_>, row: Row) -> heed::Result<()> {
        self.take_out::<N>(txn, row).map(|_| ())
    }

    /// As [`Store::remove_node`]; returns the record and the nodes that its edges led to.
    pub(super) fn take_out<N: Node>(
        &self,
        txn: &mut RwTxn<'_>,
        row: Row,
    ) -> heed::Result<Option<(N, Vec<At>)>> {
        let Some(node) = self.node::<N>(txn, row)? else { return Ok(None) };
        self.disown(txn, row, &node)?;
        self.layer(N::LAYER).delete(txn, &row.to_be_bytes())?;
        // A document that is cut anew has nodes of the same ids in other rows.
        if self.find(txn, N::LAYER, node.id())? == Some(row) {
            self.db.ids.delete(txn, &id_key(N::LAYER, node.id()))?;
        }
        let ends = self.remove_edges_of(txn, (N::LAYER, row))?;
        if searched(N::LAYER) {
            for embedder in 0..self.embedders(txn)?.len() {
                let embedder = u8::try_from(embedder).unwrap_or(u8::MAX);
                self.db.vectors.delete(txn, &row_key(embedder, N::LAYER, row))?;
            }
            self.db.unembedded.delete(txn, &row_key(0, N::LAYER, row))?;
            self.db.tombstones.put(txn, &row_key(0, N::LAYER, row), &[])?;
            self.done_with(txn, Work::Vector, (N::LAYER, row))?;
            self.done_with(txn, Work::Atoms, (N::LAYER, row))?;
        }
        Ok(Some((node, ends)))
    }

    pub(crate) fn find(
        &self,
        txn: &Reading<'_>,
        layer: Layer,
        id: Id,
    ) -> heed::Result<Option<Row>> {
        Ok(self.db.ids.get(txn, &id_key(layer, id))?.map(row_of))
    }

    /// How many nodes a layer holds.
    pub(crate) fn count(&self, txn: &Reading<'_>, layer: Layer) -> heed::Result<u64> {
        self.layer(layer).len(txn)
    }

    /// The ids of a layer in their own order.
    pub(crate) fn ids(&self, txn: &Reading<'_>, layer: Layer) -> heed::Result<Vec<Id>> {
        let mut ids = vec![];
        for entry in self.db.ids.prefix_iter(txn, &id_key(layer, 0)[..1])? {
            ids.push(entry?.0.last_chunk().map_or(0, |id| Id::from_be_bytes(*id)));
        }
        Ok(ids)
    }

    /// The row that the next new node of a layer gets.
    pub(crate) fn next_row(&self, txn: &Reading<'_>, layer: Layer) -> heed::Result<Row> {
        Ok(self.meta::<[Row; LAYERS]>(txn, "next")?.unwrap_or_default()[number(layer)])
    }

    /// Hands out `count` rows in sequence; the first is returned.
    pub(crate) fn take_rows(
        &self,
        txn: &mut RwTxn<'_>,
        layer: Layer,
        count: usize,
    ) -> heed::Result<Row> {
        let mut next = self.meta::<[Row; LAYERS]>(txn, "next")?.unwrap_or_default();
        let first = next[number(layer)];
        let last = Row::try_from(count).ok().and_then(|count| first.checked_add(count));
        next[number(layer)] =
            last.ok_or_else(|| heed::Error::Encoding("a layer is full at 2^32 nodes".into()))?;
        self.set_meta(txn, "next", &next)?;
        Ok(first)
    }

    /// Rows of a layer from `from` on, at most `most`, in order.
    pub(crate) fn rows(
        &self,
        txn: &Reading<'_>,
        layer: Layer,
        from: Row,
        most: usize,
    ) -> heed::Result<Vec<Row>> {
        let from = from.to_be_bytes();
        let range = (std::ops::Bound::Included(&from[..]), std::ops::Bound::Unbounded);
        let mut rows = vec![];
        for entry in self.layer(layer).range(txn, &range)?.take(most) {
            rows.push(row_of(entry?.0));
        }
        Ok(rows)
    }

    /// The text at any place in a document.
    pub(crate) fn slice(
        &self,
        txn: &Reading<'_>,
        document: Row,
        bytes: (usize, usize),
    ) -> heed::Result<String> {
        let missing = || heed::Error::Decoding(format!("document {document} has no text").into());
        let stored = self.db.texts.get(txn, &document.to_be_bytes())?.ok_or_else(missing)?;
        let slice = self.unsealed_part(stored, bytes.0..bytes.1)?.ok_or_else(missing)?;
        String::from_utf8(slice).map_err(|e| heed::Error::Decoding(e.into()))
    }

    /// The beginning of a document's text, at most so many bytes of it.
    pub(crate) fn beginning(
        &self,
        txn: &Reading<'_>,
        document: Row,
        most: usize,
    ) -> heed::Result<String> {
        let Some(stored) = self.db.texts.get(txn, &document.to_be_bytes())? else {
            return Ok(String::new());
        };
        let end = Self::sealed_len(stored).min(most);
        let head = self.unsealed_part(stored, 0..end)?.unwrap_or_default();
        let whole = head.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        Ok(whole.to_owned())
    }

    /// How many bytes the text of a document has.
    pub(crate) fn text_bytes(&self, txn: &Reading<'_>, document: Row) -> heed::Result<usize> {
        Ok(self.db.texts.get(txn, &document.to_be_bytes())?.map_or(0, Self::sealed_len))
    }

    pub(crate) fn chunk_text(
        &self,
        txn: &Reading<'_>,
        chunk: &ChunkRecord,
    ) -> heed::Result<String> {
        match &chunk.text {
            Some(text) => Ok(text.clone()),
            None => self.slice(txn, chunk.document, chunk.place.bytes),
        }
    }

    /// What of a node is searched for: its text, a chunk's after its title and headings.
    pub(crate) fn searched_text(
        &self,
        txn: &Reading<'_>,
        layer: Layer,
        row: Row,
    ) -> heed::Result<Option<String>> {
        if layer == Layer::Atom {
            let Some(atom) = self.node::<AtomRecord>(txn, row)? else { return Ok(None) };
            let chunk: ChunkRecord = self.linked(txn, atom.chunk)?;
            let document: DocumentRecord = self.linked(txn, chunk.document)?;
            return Ok(Some(under_title(&document.title, atom.text)));
        }
        let Some(chunk) = self.node::<ChunkRecord>(txn, row)? else { return Ok(None) };
        let document: DocumentRecord = self.linked(txn, chunk.document)?;
        let section: SectionRecord = self.linked(txn, chunk.section)?;
        let heading = section.name.as_deref().filter(|_| section.indexed);
        Ok(Some(under_headings(&document.title, heading, &self.chunk_text(txn, &chunk)?)))
    }

    /// Rows of a layer that the word index must forget.
    pub(crate) fn tombstones(&self, txn: &Reading<'_>, layer: Layer) -> heed::Result<Vec<Row>> {
        let mut rows = vec![];
        for entry in self.db.tombstones.prefix_iter(txn, &row_prefix(0, layer))? {
            rows.push(row_of(entry?.0));
        }
        Ok(rows)
    }

    pub(crate) fn clear_tombstones(
        &self,
        txn: &mut RwTxn<'_>,
        layer: Layer,
        rows: &[Row],
    ) -> heed::Result<()> {
        for row in rows {
            self.db.tombstones.delete(txn, &row_key(0, layer, *row))?;
        }
        Ok(())
    }
}

/// Layers with a word index and vectors.
pub(crate) fn searched(layer: Layer) -> bool {
    matches!(layer, Layer::Chunk | Layer::Atom)
}

/// A chunk as it is searched: under its document's title and its headings.
pub(crate) fn under_headings(title: &str, heading: Option<&str>, chunk: &str) -> String {
    let mut text = title.to_owned();
    if let Some(heading) = heading {
        if !text.is_empty() {
            text.push_str(" > ");
        }
        text.push_str(heading);
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(chunk.trim());
    text
}

/// An atom as it is searched: under its document's title, unless it names that itself. A sentence
/// alone often leaves open what it is about (measured on `HotpotQA`: docs/results.md).
fn under_title(title: &str, atom: String) -> String {
    if title.is_empty() || atom.to_lowercase().contains(&title.to_lowercase()) {
        return atom;
    }
    format!("{title}: {atom}")
}
