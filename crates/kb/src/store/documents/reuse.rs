//! What was made of a part of a document goes with it when the document is replaced: an unchanged
//! chunk costs nothing again.
use std::collections::{HashMap, VecDeque};

use halma_core::{Edge, Layer};

use crate::store::schema::{At, hash, id_key};
use crate::store::{
    AtomRecord, ChunkRecord, DocumentRecord, EntityRecord, FactRecord, Id, LayerRecord, Link, Row,
    SectionRecord, StoreReader, StoreWriter, SummaryRecord, TableRecord, Task, TextPlace, UnitKey,
};

/// Two chunks are made into the same when these are equal: what is searched of them, and their own
/// text with the white space before it, which places are counted from.
pub(crate) fn sameness(searched: &str, chunk: &str, verbatim: bool) -> Id {
    hash(&[searched.as_bytes(), chunk.trim_end().as_bytes(), &[u8::from(verbatim)]])
}

/// Two sections are made into the same when these are equal: title, headings and text.
pub(crate) fn section_sameness(title: &str, name: &str, text: &str) -> Id {
    hash(&[title.as_bytes(), name.as_bytes(), text.trim_end().as_bytes()])
}

impl StoreReader<'_> {
    /// [`sameness`] of the chunks of a document that is stored, in order.
    pub(crate) fn samenesses(&self, document: Row) -> heed::Result<Vec<(Id, Row)>> {
        let record: DocumentRecord = self.linked(document)?;
        let mut rows = vec![];
        for row in record.chunks.0..record.chunks.1 {
            let Some(searched) = self.searched_text(Layer::Chunk, row)? else { continue };
            let chunk: ChunkRecord = self.linked(row)?;
            let text = self.chunk_text(&chunk)?;
            rows.push((sameness(&searched, &text, chunk.text.is_none()), row));
        }
        Ok(rows)
    }

    /// The tables, figures, rows and summaries of a document that have vectors.
    fn described(&self, document: Row) -> heed::Result<Vec<At>> {
        let record: DocumentRecord = self.linked(document)?;
        let mut nodes = vec![];
        let tables = (record.tables.0..record.tables.1).map(|row| (Layer::Table, row));
        nodes
            .extend(tables.chain((record.figures.0..record.figures.1).map(|r| (Layer::Figure, r))));
        for table in record.tables.0..record.tables.1 {
            let rows = self.node::<TableRecord>(table)?.map_or(0..0, |t| t.rows.0..t.rows.1);
            nodes.extend(rows.map(|row| (Layer::Row, row)));
        }
        nodes.extend(self.listed_under((Layer::Document, document))?);
        let layers = self.vector_layers()?;
        nodes.retain(|(layer, _)| layers.holds(*layer));
        let mut embedded = vec![];
        for at in nodes {
            if self.record(at)?.is_some_and(|record| record.has_vector()) {
                embedded.push(at);
            }
        }
        Ok(embedded)
    }

    /// [`section_sameness`] of the sections of a document that is stored, in order.
    pub(crate) fn section_samenesses(&self, document: Row) -> heed::Result<Vec<(Id, Row)>> {
        let record: DocumentRecord = self.linked(document)?;
        let mut rows = vec![];
        for row in record.sections.0..record.sections.1 {
            let section: SectionRecord = self.linked(row)?;
            let name = section.name.unwrap_or_default();
            let text = self.slice(document, section.place.bytes)?;
            rows.push((section_sameness(&record.title, &name, &text), row));
        }
        Ok(rows)
    }
}

impl StoreWriter<'_> {
    /// Moves everything that was made of the chunks and sections of `old` to the same ones of `new`,
    /// which has just been put in. Returns how many chunks there were.
    pub(crate) fn move_derived(&mut self, old: Row, new: Row) -> heed::Result<usize> {
        let same = same_rows(self.samenesses(old)?, self.samenesses(new)?);
        for (from, to) in &same {
            self.move_chunk(*from, *to)?;
        }
        self.move_sections(old, new)?;
        self.move_described(old, new)?;
        self.move_feedback((Layer::Document, old), (Layer::Document, new))?;
        Ok(same.len())
    }

    fn move_chunk(&mut self, from: Row, to: Row) -> heed::Result<()> {
        let (old, new): (ChunkRecord, ChunkRecord) = (self.linked(from)?, self.linked(to)?);
        for atom in self.atoms_of(from)? {
            self.move_atom(atom, old.place, to, &new)?;
        }
        self.move_facts(from, to, new.id)?;
        self.move_feedback((Layer::Chunk, from), (Layer::Chunk, to))?;
        // The old chunk lets go of its atoms, so that they are not removed with it.
        self.move_units((Layer::Chunk, from), (Layer::Chunk, to))?;
        self.move_vectors((Layer::Chunk, from), to)?;
        self.move_edges((Layer::Chunk, from), (Layer::Chunk, to))
    }

    /// An atom keeps its row, so its edges, vectors and words need no change.
    fn move_atom(
        &mut self,
        row: Row,
        old: TextPlace,
        chunk: Row,
        new: &ChunkRecord,
    ) -> heed::Result<()> {
        let Some(atom) = self.node::<AtomRecord>(row)? else { return Ok(()) };
        let (start, end) = shifted((atom.start, atom.end), old, new.place);
        let id = hash(&[&new.id.to_be_bytes(), atom.text.as_bytes()]);
        let before = atom.id;
        self.renew(row, before, &AtomRecord { id, chunk, start, end, ..atom })?;
        // Sealed again, because the key may belong to its document.
        self.reseal_vector((Layer::Atom, row))
    }

    /// Facts that are linked to the chunk keep their rows, too.
    fn move_facts(&mut self, from: Row, to: Row, chunk_id: Id) -> heed::Result<()> {
        for (layer, row) in self.listed_under((Layer::Chunk, from))? {
            if layer == Layer::Fact {
                self.move_fact(row, to, chunk_id)?;
            }
        }
        Ok(())
    }

    fn move_fact(&mut self, row: Row, chunk: Row, chunk_id: Id) -> heed::Result<()> {
        let Some(fact) = self.node::<FactRecord>(row)? else { return Ok(()) };
        let head: EntityRecord = self.linked(fact.head)?;
        let tail: EntityRecord = self.linked(fact.tail)?;
        let parts = [head.key.as_bytes(), fact.relation.as_bytes(), tail.key.as_bytes()];
        let id = hash(&[&chunk_id.to_be_bytes(), parts[0], parts[1], parts[2]]);
        let before = fact.id;
        self.renew(row, before, &FactRecord { id, chunk, ..fact })?;
        self.reseal_vector((Layer::Fact, row))
    }

    /// What is known of the vector of a node that has got another owner is sealed as that is.
    fn reseal_vector(&mut self, at: At) -> heed::Result<()> {
        self.move_units(at, at)?;
        self.move_vectors(at, at.1)
    }

    /// Sections of the same name and text keep what was made of them, such as summaries.
    fn move_sections(&mut self, old: Row, new: Row) -> heed::Result<()> {
        let same = same_rows(self.section_samenesses(old)?, self.section_samenesses(new)?);
        for (from, to) in same {
            let from = (Layer::Section, from);
            self.move_units(from, (Layer::Section, to))?;
            for link in self.edges_to(from, Some(Edge::DerivedFrom))? {
                let (Layer::Summary, row) = link.from else { continue };
                let summary: SummaryRecord = self.linked(row)?;
                self.put_node(row, &SummaryRecord { document: new, ..summary })?;
                self.reseal_vector((Layer::Summary, row))?;
            }
            self.move_edges(from, (Layer::Section, to))?;
            self.move_vectors(from, to)?;
        }
        Ok(())
    }

    /// Tables, figures, rows and summaries that say what those of the former document said keep
    /// their vectors.
    fn move_described(&mut self, old: Row, new: Row) -> heed::Result<()> {
        let mut left: HashMap<(Layer, String), Row> = HashMap::new();
        for (layer, row) in self.described(old)? {
            if let Some(text) = self.embedded_text(layer, row)? {
                left.insert((layer, text), row);
            }
        }
        for (layer, row) in self.described(new)? {
            let Some(text) = self.embedded_text(layer, row)? else { continue };
            if let Some(from) = left.get(&(layer, text)) {
                self.move_vectors((layer, *from), row)?;
            }
        }
        Ok(())
    }

    /// Puts a changed record into a row that keeps its place.
    fn renew<N: LayerRecord>(&mut self, row: Row, before: Id, node: &N) -> heed::Result<()> {
        if before != node.id() && self.find(N::LAYER, before)? == Some(row) {
            self.store.db.ids.delete(self.txn(), &id_key(N::LAYER, before))?;
        }
        self.put_node(row, node)
    }

    fn move_vectors(&mut self, (layer, from): At, to: Row) -> heed::Result<()> {
        let target = self.target_number()?;
        for number in (0..=u8::MAX).take(self.embedders()?.len()) {
            let Some(vector) = self.vector(number, layer, from)? else { continue };
            self.put_vector(number, (layer, to), &vector)?;
            if Some(number) == target {
                self.forget_unit(UnitKey::of(Task::Embed, (layer, to)))?;
            }
        }
        Ok(())
    }

    /// Edges at one node lead to and from another instead.
    fn move_edges(&mut self, from: At, to: At) -> heed::Result<()> {
        let mut links = self.edges_from(from, None)?;
        links.extend(self.edges_to(from, None)?);
        let moved = |end: At| if end == from { to } else { end };
        for link in links {
            self.remove_edge(&link)?;
            self.put_edge(Link { from: moved(link.from), to: moved(link.to), ..link })?;
        }
        Ok(())
    }
}

/// The rows of `old` with the rows of `new` that are the same, each row once, in the order of `new`.
fn same_rows(old: Vec<(Id, Row)>, new: Vec<(Id, Row)>) -> Vec<(Row, Row)> {
    let mut left: HashMap<Id, VecDeque<Row>> = HashMap::new();
    for (sameness, row) in old {
        left.entry(sameness).or_default().push_back(row);
    }
    let pair = |(sameness, to)| Some((left.get_mut(&sameness)?.pop_front()?, to));
    new.into_iter().filter_map(pair).collect()
}

/// Where something of a chunk stands when the chunk stands elsewhere.
fn shifted(span: (usize, usize), old: TextPlace, new: TextPlace) -> (usize, usize) {
    if span == old.chars {
        return new.chars;
    }
    let moved = |at: usize| (at + new.chars.0).saturating_sub(old.chars.0).min(new.chars.1);
    (moved(span.0), moved(span.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_moves_with_its_chunk_and_stays_inside() {
        let place = |start, end| TextPlace { bytes: (0, 0), chars: (start, end) };
        assert_eq!(shifted((12, 20), place(10, 30), place(110, 130)), (112, 120));
        assert_eq!(shifted((12, 20), place(10, 30), place(0, 20)), (2, 10));
        assert_eq!(shifted((10, 30), place(10, 30), place(5, 24)), (5, 24), "the whole chunk");
    }
}
