//! What records say of each other and of their documents' texts.
use halma_core::Layer;

use crate::store::{
    At, AtomRecord, ChunkRecord, DocumentRecord, FactRecord, FigureRecord, Id, LayerRecord, Places,
    Row, RowRecord, Rows, SectionRecord, StoreReader, SummaryRecord, TableRecord, TextPlace,
    atoms_key,
};

/// A document with its text.
struct Holder<'a> {
    row: Row,
    text: &'a str,
    places: Places<'a>,
}

impl Holder<'_> {
    fn holds(&self, place: TextPlace) -> bool {
        let (begin, end) = place.bytes;
        self.text.get(begin..end).is_some() && self.places.of(&(begin..end)) == place
    }
}

pub(super) struct Records<'a> {
    reader: &'a StoreReader<'a>,
    report: &'a mut dyn FnMut(Option<At>, String),
}

impl<'a> Records<'a> {
    pub(super) fn new(
        reader: &'a StoreReader<'a>,
        report: &'a mut dyn FnMut(Option<At>, String),
    ) -> Self {
        Self { reader, report }
    }

    pub(super) fn check(&mut self) -> heed::Result<()> {
        for (row, record) in self.all::<DocumentRecord>()? {
            self.document(row, &record)?;
        }
        for (row, fact) in self.all::<FactRecord>()? {
            let at = (Layer::Fact, row);
            self.needs(at, (Layer::Chunk, fact.chunk))?;
            self.needs(at, (Layer::Entity, fact.head))?;
            self.needs(at, (Layer::Entity, fact.tail))?;
        }
        for (row, summary) in self.all::<SummaryRecord>()? {
            self.needs((Layer::Summary, row), (Layer::Document, summary.document))?;
        }
        for (row, table) in self.all::<TableRecord>()? {
            self.table(row, &table)?;
        }
        for (row, record) in self.all::<RowRecord>()? {
            self.needs((Layer::Row, row), (Layer::Chunk, record.chunk))?;
            self.needs((Layer::Row, row), (Layer::Table, record.table))?;
        }
        for (row, atom) in self.all::<AtomRecord>()? {
            let at = (Layer::Atom, row);
            for chunk in atom.chunks_below() {
                self.needs(at, (Layer::Chunk, chunk))?;
            }
            if let Some(accepted) = &atom.accepted {
                self.accepted(at, accepted.feedback)?;
            } else if !self.reader.atoms_of(atom.chunk)?.contains(&row) {
                self.add(at, "the ledger does not know it");
            }
        }
        Ok(())
    }

    /// The feedback that an atom was accepted from is there, and says so.
    fn accepted(&mut self, at: At, feedback: Id) -> heed::Result<()> {
        let record = self.reader.feedback(feedback)?;
        let candidates = record.iter().flat_map(|record| &record.candidates);
        if !candidates.into_iter().any(|candidate| candidate.atom == Some(at.1)) {
            self.add(at, "the feedback that it was accepted from does not know it");
        }
        Ok(())
    }

    /// The records of a layer that can be read; the others are reported elsewhere.
    fn all<N: LayerRecord>(&self) -> heed::Result<Vec<(Row, N)>> {
        let rows = self.reader.all_rows(N::LAYER)?;
        let read = |row: Row| self.read::<N>(row).map(|record| (row, record));
        Ok(rows.into_iter().filter_map(read).collect())
    }

    fn read<N: LayerRecord>(&self, row: Row) -> Option<N> {
        self.reader.node(row).ok().flatten()
    }

    fn add(&mut self, at: At, what: impl Into<String>) {
        (self.report)(Some(at), what.into());
    }

    fn needs(&mut self, at: At, other: At) -> heed::Result<()> {
        if !self.reader.holds(other)? {
            self.add(at, format!("the {} it belongs to is missing", other.0.name()));
        }
        Ok(())
    }

    fn document(&mut self, row: Row, record: &DocumentRecord) -> heed::Result<()> {
        let length = self.reader.text_bytes(row)?;
        // A text that cannot be read is reported by the check of sealed values.
        let Ok(text) = self.reader.slice(row, (0, length)) else { return Ok(()) };
        let holder = Holder { row, text: &text, places: Places::new(&text) };
        for section in self.each::<SectionRecord>(row, record.sections)? {
            let at = (Layer::Section, section.0);
            self.inside(at, (section.1.document, section.1.place), &holder);
            let (begin, end) = section.1.chunks;
            if begin < record.chunks.0.min(end) || end > record.chunks.1.max(begin) {
                self.add(at, "its chunks are not those of its document");
            }
        }
        for (at, chunk) in self.each::<ChunkRecord>(row, record.chunks)? {
            self.inside((Layer::Chunk, at), (chunk.document, chunk.place), &holder);
            self.chunk(at, &chunk)?;
        }
        for (at, table) in self.each::<TableRecord>(row, record.tables)? {
            let document = table.document.unwrap_or(Row::MAX);
            self.inside((Layer::Table, at), (document, table.place), &holder);
            for (at, record) in self.each::<RowRecord>(row, table.rows)? {
                self.inside((Layer::Row, at), (row, record.place), &holder);
            }
        }
        for (at, figure) in self.each::<FigureRecord>(row, record.figures)? {
            self.inside((Layer::Figure, at), (figure.document, figure.place), &holder);
        }
        Ok(())
    }

    /// The parts of a document that can be read; one that is missing is reported.
    fn each<N: LayerRecord>(&mut self, document: Row, rows: Rows) -> heed::Result<Vec<(Row, N)>> {
        let mut records = vec![];
        for row in rows.0..rows.1 {
            if self.reader.holds((N::LAYER, row))? {
                records.extend(self.read(row).map(|record| (row, record)));
            } else {
                let what = format!("{} {row} of it is missing", N::LAYER.name());
                self.add((Layer::Document, document), what);
            }
        }
        Ok(records)
    }

    /// A part is of the document that holds it, and inside its text: what it says of both.
    fn inside(&mut self, at: At, (document, place): (Row, TextPlace), holder: &Holder<'_>) {
        if document != holder.row {
            self.add(at, "it belongs to another document than the one that holds it");
        }
        if !holder.holds(place) {
            self.add(at, format!("its span {:?} does not fit its document", place.chars));
        }
    }

    fn chunk(&mut self, row: Row, chunk: &ChunkRecord) -> heed::Result<()> {
        let at = (Layer::Chunk, row);
        self.needs(at, (Layer::Section, chunk.section))?;
        if self.reader.entry(atoms_key(row))?.is_none() {
            self.add(at, "the ledger does not know it");
        }
        let Ok(atoms) = self.reader.atoms_of(row) else { return Ok(()) };
        for atom in atoms {
            let Ok(record) = self.reader.node::<AtomRecord>(atom) else { continue };
            match record {
                None => self.add(at, format!("atom {atom} of it is missing")),
                Some(atom) if atom.chunk != row => {
                    self.add(at, "the ledger gives it an atom of another chunk");
                }
                Some(atom) => {
                    let (begin, end) = chunk.place.chars;
                    if atom.start > atom.end || atom.start < begin || atom.end > end {
                        let span = (atom.start, atom.end);
                        self.add(at, format!("the span {span:?} of an atom is not inside it"));
                    }
                }
            }
        }
        Ok(())
    }

    fn table(&mut self, row: Row, table: &TableRecord) -> heed::Result<()> {
        let at = (Layer::Table, row);
        if let Some(document) = table.document {
            self.needs(at, (Layer::Document, document))?;
        }
        if let Some(section) = table.section {
            self.needs(at, (Layer::Section, section))?;
        }
        for number in table.rows.0..table.rows.1 {
            let Some(record) = self.read::<RowRecord>(number) else { continue };
            if record.table != row {
                self.add((Layer::Row, number), "it is among the rows of another table");
            }
            if record.cells.len() != table.columns.len() {
                let (cells, columns) = (record.cells.len(), table.columns.len());
                let what = format!("it has {cells} cells and its table {columns} columns");
                self.add((Layer::Row, number), what);
            }
        }
        Ok(())
    }
}
