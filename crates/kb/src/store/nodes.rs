//! Rows, records and texts of all layers.
use halma_core::Layer;

use super::schema::{LAYERS, decode, encode, id_key, number, row_key, row_of, row_prefix};
use super::{
    At, Changed, ChunkRecord, Id, LayerRecord, Row, Store, StoreReader, StoreWriter, Table, Task,
    UnitKey,
};

impl Store {
    pub(super) fn layer(&self, layer: Layer) -> Table {
        self.db.nodes[number(layer)]
    }
}

impl StoreReader<'_> {
    /// The record of a row; `None` when it was removed.
    pub(crate) fn node<N: LayerRecord>(&self, row: Row) -> heed::Result<Option<N>> {
        match self.any_node(row)? {
            Some(record) => self.narrowed(row, record),
            None => Ok(None),
        }
    }

    /// The record of a row, whether or not this reader may see it.
    pub(super) fn any_node<N: LayerRecord>(&self, row: Row) -> heed::Result<Option<N>> {
        let Some(stored) = self.store.layer(N::LAYER).get(self, &row.to_be_bytes())? else {
            return Ok(None);
        };
        self.store.unsealed(stored)?.map(|record| decode(&record)).transpose()
    }

    /// Every record of a layer with its row, in the order of rows.
    pub(crate) fn nodes<N: LayerRecord>(
        &self,
    ) -> heed::Result<impl Iterator<Item = heed::Result<(Row, N)>>> {
        let record = |(key, stored): (&[u8], &[u8])| {
            let Some(record) = self.store.decode_sealed(stored)? else { return Ok(None) };
            let row = row_of(key);
            Ok(self.narrowed(row, record)?.map(|record| (row, record)))
        };
        let entries = self.store.layer(N::LAYER).iter(self)?;
        Ok(entries.filter_map(move |entry| entry.and_then(record).transpose()))
    }

    /// The record of a row that another record names.
    pub(crate) fn linked<N: LayerRecord>(&self, row: Row) -> heed::Result<N> {
        self.node(row)?.ok_or_else(|| {
            let layer = N::LAYER.name();
            heed::Error::Decoding(format!("{layer} {row} is linked to and missing").into())
        })
    }

    pub(crate) fn find(&self, layer: Layer, id: Id) -> heed::Result<Option<Row>> {
        let row = self.store.db.ids.get(self, &id_key(layer, id))?.map(row_of);
        match row {
            Some(row) if self.sees((layer, row))? => Ok(Some(row)),
            _ => Ok(None),
        }
    }

    /// How many nodes a layer holds.
    pub(crate) fn count(&self, layer: Layer) -> heed::Result<u64> {
        if self.visibility.is_some() {
            return Ok(self.all_rows(layer)?.len() as u64);
        }
        self.store.layer(layer).len(self)
    }

    /// The ids of a layer in their own order.
    pub(crate) fn ids(&self, layer: Layer) -> heed::Result<Vec<Id>> {
        let mut ids = vec![];
        for entry in self.store.db.ids.prefix_iter(self, &id_key(layer, 0)[..1])? {
            let (key, row) = entry?;
            if self.sees((layer, row_of(row)))? {
                ids.push(key.last_chunk().map_or(0, |id| Id::from_be_bytes(*id)));
            }
        }
        Ok(ids)
    }

    /// The row that the next new node of a layer gets; not what a write has handed out so far.
    pub(crate) fn next_row(&self, layer: Layer) -> heed::Result<Row> {
        Ok(self.meta::<[Row; LAYERS]>("next")?.unwrap_or_default()[number(layer)])
    }

    /// Rows of a layer from `from` on, at most `limit`, in order.
    pub(crate) fn rows(&self, layer: Layer, from: Row, limit: usize) -> heed::Result<Vec<Row>> {
        let from = from.to_be_bytes();
        let range = (std::ops::Bound::Included(&from[..]), std::ops::Bound::Unbounded);
        let mut rows = vec![];
        for entry in self.store.layer(layer).range(self, &range)? {
            if rows.len() >= limit {
                break;
            }
            let row = row_of(entry?.0);
            if self.sees((layer, row))? {
                rows.push(row);
            }
        }
        Ok(rows)
    }

    /// All rows of a layer, in order.
    pub(crate) fn all_rows(&self, layer: Layer) -> heed::Result<Vec<Row>> {
        self.rows(layer, 0, usize::MAX)
    }

    /// The text at any place in a document.
    pub(crate) fn slice(&self, document: Row, bytes: (usize, usize)) -> heed::Result<String> {
        let missing = || heed::Error::Decoding(format!("document {document} has no text").into());
        if !self.sees_document(document) {
            return Err(missing());
        }
        let stored = self.store.db.texts.get(self, &document.to_be_bytes())?.ok_or_else(missing)?;
        let slice = self.store.unsealed_part(stored, bytes.0..bytes.1)?.ok_or_else(missing)?;
        String::from_utf8(slice).map_err(|e| heed::Error::Decoding(e.into()))
    }

    /// The first bytes, at most `max_bytes`, of a place in a document, cut between characters.
    pub(crate) fn beginning(
        &self,
        document: Row,
        bytes: (usize, usize),
        max_bytes: usize,
    ) -> heed::Result<String> {
        let stored = self.store.db.texts.get(self, &document.to_be_bytes())?;
        let Some(stored) = stored.filter(|_| self.sees_document(document)) else {
            return Ok(String::new());
        };
        let part = bytes.0..bytes.1.min(bytes.0.saturating_add(max_bytes));
        let head = self.store.unsealed_part(stored, part)?.unwrap_or_default();
        let whole = head.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        Ok(whole.to_owned())
    }

    /// How many bytes the text of a document has.
    pub(crate) fn text_bytes(&self, document: Row) -> heed::Result<usize> {
        Ok(self.store.db.texts.get(self, &document.to_be_bytes())?.map_or(0, Store::sealed_len))
    }

    pub(crate) fn chunk_text(&self, chunk: &ChunkRecord) -> heed::Result<String> {
        match &chunk.text {
            Some(text) => Ok(text.clone()),
            None => self.slice(chunk.document, chunk.place.bytes),
        }
    }

    /// Rows of a layer that the lexical index must forget.
    pub(crate) fn tombstones(&self, layer: Layer) -> heed::Result<Vec<Row>> {
        let mut rows = vec![];
        for entry in self.store.db.tombstones.prefix_iter(self, &row_prefix(0, layer))? {
            rows.push(row_of(entry?.0));
        }
        Ok(rows)
    }
}

impl StoreWriter<'_> {
    /// Puts a record into a row, new or not.
    pub(crate) fn put_node<N: LayerRecord>(&mut self, row: Row, node: &N) -> heed::Result<()> {
        if !self.holds((N::LAYER, row))? {
            self.await_vector(row, node)?;
        }
        self.changes.add(Changed::Node, (N::LAYER, row));
        if N::LAYER == Layer::Entity && self.holds((N::LAYER, row))? {
            self.renamed(row)?;
        }
        if N::LAYER == Layer::Document {
            self.note_document_change()?;
        }
        let slot = self.note_owner(row, node)?;
        let record = encode(node)?;
        self.put_sealed(self.store.layer(N::LAYER), &row.to_be_bytes(), slot, &record)?;
        self.store.db.ids.put(self.txn(), &id_key(N::LAYER, node.id()), &row.to_be_bytes())
    }

    /// Puts a record where its id is, or into a new row. Returns the row, and whether anything is
    /// other than it was; a vector of what it said before goes.
    pub(crate) fn put_by_id<N: LayerRecord + PartialEq>(
        &mut self,
        node: &N,
    ) -> heed::Result<(Row, bool)> {
        let row = match self.find(N::LAYER, node.id())? {
            Some(row) if self.node::<N>(row)?.as_ref() == Some(node) => return Ok((row, false)),
            Some(row) => row,
            None => self.take_rows(N::LAYER, 1)?,
        };
        self.renew_vector(row, node)?;
        self.put_node(row, node)?;
        Ok((row, true))
    }

    /// Removes a node, with its edges and vectors; the lexical index forgets it at its next update.
    pub(crate) fn remove_node<N: LayerRecord>(&mut self, row: Row) -> heed::Result<()> {
        self.take_out((N::LAYER, row)).map(|_| ())
    }

    /// As [`StoreWriter::remove_node`]; returns the nodes that its edges led to, and `None` when there
    /// was no such node.
    pub(super) fn take_out(&mut self, at: At) -> heed::Result<Option<Vec<At>>> {
        let (layer, row) = at;
        let Some(record) = self.record(at)? else { return Ok(None) };
        self.changes.add(Changed::Node, at);
        if layer == Layer::Document {
            self.note_document_change()?;
        }
        self.disown(at, record.owner())?;
        self.store.layer(layer).delete(self.txn(), &row.to_be_bytes())?;
        // A document that is cut again has nodes of the same ids in other rows.
        if self.find(layer, record.id())? == Some(row) {
            self.store.db.ids.delete(self.txn(), &id_key(layer, record.id()))?;
        }
        let ends = self.remove_edges_of(at)?;
        self.remove_vectors(at)?;
        if layer == Layer::Community {
            self.forget_unit(UnitKey::with_id(Task::Community, layer, record.id()))?;
        }
        if searched(layer) {
            self.store.db.tombstones.put(self.txn(), &row_key(0, layer, row), &[])?;
        }
        self.forget_unit(UnitKey::of(Task::Embed, at))?;
        Ok(Some(ends))
    }

    /// Hands out `count` rows in sequence; the first is returned.
    pub(crate) fn take_rows(&mut self, layer: Layer, count: usize) -> heed::Result<Row> {
        let mut next = match self.next_rows {
            Some(next) => next,
            None => self.meta::<[Row; LAYERS]>("next")?.unwrap_or_default(),
        };
        let first = next[number(layer)];
        let last = Row::try_from(count).ok().and_then(|count| first.checked_add(count));
        next[number(layer)] =
            last.ok_or_else(|| heed::Error::Encoding("a layer is full at 2^32 nodes".into()))?;
        self.next_rows = Some(next);
        Ok(first)
    }

    /// Stores which rows come next, before the commit.
    pub(super) fn save_rows(&mut self) -> heed::Result<()> {
        self.next_rows.take().map_or(Ok(()), |next| self.set_meta("next", &next))
    }

    pub(crate) fn clear_tombstones(&mut self, layer: Layer, rows: &[Row]) -> heed::Result<()> {
        for row in rows {
            self.store.db.tombstones.delete(self.txn(), &row_key(0, layer, *row))?;
        }
        Ok(())
    }
}

/// Layers with a lexical index on disk; the others are indexed in memory when first searched.
pub(crate) fn searched(layer: Layer) -> bool {
    matches!(layer, Layer::Chunk | Layer::Atom)
}

impl StoreReader<'_> {
    /// The first chunk whose names are not linked under this version of the rules. Rows are handed
    /// out in sequence and never used twice, so one number says it for all.
    pub(crate) fn linked_to(&self, version: u32) -> heed::Result<Row> {
        let progress = self.meta::<(u32, Row)>("linked")?;
        Ok(progress.filter(|(of, _)| *of == version).map_or(0, |(_, row)| row))
    }

    /// The first document that has not been tied to the others.
    pub(crate) fn referred_to(&self) -> heed::Result<Row> {
        Ok(self.meta("referred")?.unwrap_or_default())
    }
}

/// The name under which it is kept how far the units of a task are known.
fn scanned_key(task: Task) -> String {
    format!("scanned {}", task.name())
}

impl StoreReader<'_> {
    /// The first document whose units of a task, asked with this, may not be noted.
    pub(crate) fn scanned_to(&self, task: Task, with: Id) -> heed::Result<Row> {
        let progress = self.meta::<(Id, Row)>(&scanned_key(task))?;
        Ok(progress.filter(|(by, _)| *by == with).map_or(0, |(_, row)| row))
    }
}

impl StoreWriter<'_> {
    pub(crate) fn set_scanned_to(&mut self, task: Task, with: Id, row: Row) -> heed::Result<()> {
        self.set_meta(&scanned_key(task), &(with, row))
    }

    pub(crate) fn set_linked_to(&mut self, version: u32, row: Row) -> heed::Result<()> {
        self.set_meta("linked", &(version, row))
    }

    pub(crate) fn set_referred_to(&mut self, row: Row) -> heed::Result<()> {
        self.set_meta("referred", &row)
    }
}
