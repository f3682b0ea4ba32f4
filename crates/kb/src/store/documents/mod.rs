//! Documents come and go as a whole: sections, chunks and what was made of them with them.
mod files;
mod outline;
mod owned;
mod places;
mod reuse;
mod summaries;
mod tables;

use halma_core::{Layer, Metadata};
use halma_parse::Parsed;

use self::tables::{Begins, number};
use crate::store::schema::row_of;
use crate::store::{
    ChunkRecord, DocumentRecord, Id, Row, Rows, SectionRecord, StoreReader, StoreWriter, Task,
    TextPlace, UnitKey, atoms_input, atoms_key, hash,
};
pub(crate) use files::{FieldsKey, FileDocument, FileKey, FileRecord, FileStamp};
pub(crate) use owned::Gone;
pub(crate) use reuse::{sameness, section_sameness};
pub(crate) use summaries::table_summary;

pub(crate) use self::outline::{
    ChunkDraft, FigureDraft, Outline, RowDraft, SectionDraft, TableDraft,
};
pub(crate) use self::places::Places;
use crate::Atoms;

/// A document to put into the store.
pub(crate) struct DocumentDraft<'a> {
    pub(crate) id: Id,
    pub(crate) name: &'a str,
    pub(crate) source: &'a str,
    /// The file it came from: an absolute path.
    pub(crate) origin: &'a str,
    pub(crate) title: &'a str,
    pub(crate) parsed: &'a Parsed,
    pub(crate) outline: &'a Outline,
    pub(crate) cut_with: Id,
}

/// What a document put in came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Put {
    pub(crate) row: Row,
    pub(crate) sections: usize,
    pub(crate) chunks: usize,
}

pub(in crate::store) fn name_key(name: &str) -> [u8; 8] {
    hash(&[name.as_bytes()]).to_be_bytes()
}

impl StoreReader<'_> {
    /// Every name of every document with the document's row, in order.
    pub(crate) fn document_names(&self) -> heed::Result<Vec<(String, Row)>> {
        let mut names = vec![];
        for node in self.nodes::<DocumentRecord>()? {
            let (row, record) = node?;
            names.extend(record.names.into_iter().map(|name| (name, row)));
        }
        names.sort();
        Ok(names)
    }

    /// The document of a name.
    pub(crate) fn named(&self, name: &str) -> heed::Result<Option<Row>> {
        let row = self.store.db.names.get(self, &name_key(name))?.map(row_of);
        let Some(row) = row.filter(|_| self.visibility.is_some()) else { return Ok(row) };
        let record = self.node::<DocumentRecord>(row)?;
        Ok(record.filter(|record| record.names.iter().any(|other| other == name)).map(|_| row))
    }
}

impl StoreWriter<'_> {
    /// Puts in a document that the store does not hold; its chunks wait for their atoms, if they get
    /// any.
    pub(crate) fn put_document(&mut self, draft: &DocumentDraft<'_>) -> heed::Result<Put> {
        let sections = &draft.outline.sections;
        let chunk_count = sections.iter().map(|section| section.chunks.len()).sum();
        let begins = Begins {
            document: self.take_rows(Layer::Document, 1)?,
            section: self.take_rows(Layer::Section, sections.len())?,
            chunk: self.take_rows(Layer::Chunk, chunk_count)?,
        };
        self.put_sections(draft, begins)?;
        let (tables, figures) = self.put_tables_and_figures(draft, begins)?;
        let places = Places::new(&draft.parsed.text);
        let chars = |byte: usize| places.of(&(byte..byte)).chars.0;
        let link = |link: &halma_parse::Link| (places.of(&link.range).chars, link.target.clone());
        let record = DocumentRecord {
            id: draft.id,
            names: vec![draft.name.to_owned()],
            source: draft.source.to_owned(),
            title: draft.title.to_owned(),
            url: draft.parsed.url.clone(),
            date: draft.parsed.date.clone(),
            sections: (begins.section, begins.section + number(sections.len())),
            chunks: (begins.chunk, begins.chunk + number(chunk_count)),
            tables,
            figures,
            cut_with: draft.cut_with,
            format: draft.parsed.format.to_owned(),
            author: draft.parsed.author.clone(),
            language: draft.parsed.language.clone(),
            pages: draft.parsed.pages.iter().map(|page| (page.number, chars(page.start))).collect(),
            links: draft.parsed.links.iter().map(link).collect(),
            warnings: draft.parsed.warnings.clone(),
            origins: vec![draft.origin.to_owned()],
            metadata: vec![String::new()],
        };
        self.note_language(record.language.as_ref())?;
        let row = begins.document;
        self.put_node(row, &record)?;
        let (slot, key) = (self.slot_of((Layer::Document, row))?, row.to_be_bytes());
        self.put_sealed(self.store.db.texts, &key, slot, draft.parsed.text.as_bytes())?;
        self.store.db.names.put(self.txn(), &name_key(draft.name), &key)?;
        Ok(Put { row, sections: sections.len(), chunks: chunk_count })
    }

    /// Puts in the sections of a document and their chunks.
    fn put_sections(&mut self, draft: &DocumentDraft<'_>, begins: Begins) -> heed::Result<()> {
        let (parent, document) = (draft.id.to_be_bytes(), begins.document);
        let without_atoms = self.wanted_atoms()? == Some(atoms_input(Atoms::None));
        let mut chunk = begins.chunk;
        for (section, drafted) in (begins.section..).zip(&draft.outline.sections) {
            let begin = chunk;
            for piece in &drafted.chunks {
                let (place, text) = (piece.place, piece.text.clone());
                let shown = text.as_deref();
                let shown = shown.unwrap_or(&draft.parsed.text[place.bytes.0..place.bytes.1]);
                let id = hash(&[&parent, &at(place), shown.as_bytes()]);
                let summary = piece.summary.clone();
                let record = ChunkRecord { id, document, section, place, text, summary };
                self.put_node(chunk, &record)?;
                if without_atoms {
                    let none: Rows = (0, 0);
                    self.put_done(atoms_key(chunk), atoms_input(Atoms::None), &none)?;
                } else {
                    self.put_pending(atoms_key(chunk))?;
                }
                self.put_chunk_summaries(document, chunk, id, piece)?;
                chunk += 1;
            }
            let (name, place) = (drafted.name.clone(), drafted.place);
            let id = hash(&[&parent, &at(place), name.as_deref().unwrap_or("").as_bytes()]);
            let (indexed, level, chunks) = (drafted.indexed, drafted.level, (begin, chunk));
            let record = SectionRecord { id, document, name, indexed, place, chunks, level };
            self.put_node(section, &record)?;
        }
        Ok(())
    }

    /// Gives a document another name and the file it comes from; the name is the one shown when it
    /// is put `first`.
    pub(crate) fn add_name(
        &mut self,
        row: Row,
        name: &str,
        origin: &str,
        first: bool,
    ) -> heed::Result<()> {
        let mut record: DocumentRecord = self.linked(row)?;
        record.origins.resize(record.names.len(), String::new());
        record.metadata.resize(record.names.len(), String::new());
        let position = record.names.iter().position(|other| other == name);
        let stays = |at| at == 0 || !first;
        match position {
            Some(at) if stays(at) && record.origins[at] == origin => return Ok(()),
            Some(at) => {
                origin.clone_into(&mut record.origins[at]);
                if first {
                    record.names[..=at].rotate_right(1);
                    record.origins[..=at].rotate_right(1);
                    record.metadata[..=at].rotate_right(1);
                }
            }
            None => {
                let at = if first { 0 } else { record.names.len() };
                record.names.insert(at, name.to_owned());
                record.origins.insert(at, origin.to_owned());
                record.metadata.insert(at, String::new());
                // Its links lead elsewhere from there, and other links may lead to it now.
                self.put_pending(UnitKey::of(Task::Links, (Layer::Document, row)))?;
            }
        }
        self.put_node(row, &record)?;
        self.store.db.names.put(self.txn(), &name_key(name), &row.to_be_bytes())
    }

    /// Gives a document fields under one of its names; nothing of it is made again. Returns whether it
    /// had others.
    pub(crate) fn set_metadata(
        &mut self,
        row: Row,
        name: &str,
        metadata: &Metadata,
    ) -> heed::Result<bool> {
        let mut record: DocumentRecord = self.linked(row)?;
        let at = record.names.iter().position(|other| other == name);
        let Some(at) = at.filter(|at| record.metadata_of(*at) != *metadata) else {
            return Ok(false);
        };
        let json = serde_json::to_string(metadata).map_err(|e| heed::Error::Encoding(e.into()))?;
        record.metadata.resize(record.names.len(), String::new());
        record.metadata[at] = if metadata.is_empty() { String::new() } else { json };
        self.put_node(row, &record)?;
        Ok(true)
    }

    /// Takes a name from a document, and the document out if that was its last.
    pub(crate) fn remove_name(&mut self, row: Row, name: &str) -> heed::Result<()> {
        if self.take_name(row, name)? {
            self.remove_document(row)?;
        }
        Ok(())
    }

    /// Takes a name from a document. Returns whether that was its last, so that it is given
    /// another one or removed before the transaction ends.
    pub(crate) fn take_name(&mut self, row: Row, name: &str) -> heed::Result<bool> {
        let mut record: DocumentRecord = self.linked(row)?;
        if let Some(at) = record.names.iter().position(|other| other == name) {
            record.names.remove(at);
            for list in [&mut record.origins, &mut record.metadata] {
                if at < list.len() {
                    list.remove(at);
                }
            }
        }
        self.free_name(row, name)?;
        self.put_node(row, &record)?;
        Ok(record.names.is_empty())
    }

    /// Forgets a name, unless another document has it by now.
    pub(in crate::store) fn free_name(&mut self, row: Row, name: &str) -> heed::Result<()> {
        if self.named(name)? == Some(row) {
            self.store.db.names.delete(self.txn(), &name_key(name))?;
        }
        Ok(())
    }
}

/// A place as a part of an id.
pub(in crate::store) fn at(place: TextPlace) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&(place.chars.0 as u64).to_le_bytes());
    bytes[8..].copy_from_slice(&(place.chars.1 as u64).to_le_bytes());
    bytes
}
