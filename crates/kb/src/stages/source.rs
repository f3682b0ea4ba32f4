//! Documents and passages as the stages see them: those of the base, and those that an estimate has
//! read and not stored.
use halma_core::{Layer, Setup};

use crate::cut::AtomSource;
use crate::store::{
    At, ChunkRecord, DocumentRecord, Id, Row, SectionRecord, StoreReader, TableDraft, TableRecord,
    TextPlace, hash,
};

/// A document with its sections and chunks, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct SourceDocument {
    /// Where it is stored; `None` in an estimate.
    pub(crate) row: Option<Row>,
    pub(crate) id: Id,
    pub(crate) names: Vec<String>,
    pub(crate) title: String,
    pub(crate) sections: Vec<SourceSection>,
    pub(crate) tables: Vec<SourceTable>,
}

/// A table of a document.
#[derive(Debug, Clone, Default)]
pub(crate) struct SourceTable {
    /// Where it is stored; `None` in an estimate.
    pub(crate) row: Option<Row>,
    pub(crate) id: Id,
    /// Its heading and its caption.
    pub(crate) name: String,
    /// Its first rows, as they stand in the document.
    pub(crate) text: String,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct SourceSection {
    /// Where it is stored; in an estimate the section that its ledger units are carried over from.
    pub(crate) row: Option<Row>,
    pub(crate) id: Id,
    /// The headings above it, joined.
    pub(crate) name: Option<String>,
    pub(crate) chunks: Vec<SourceChunk>,
}

#[derive(Debug, Clone)]
pub(crate) struct SourceChunk {
    /// Where it is stored; in an estimate the chunk that its ledger units are carried over from.
    pub(crate) row: Option<Row>,
    pub(crate) text: String,
    pub(crate) place: TextPlace,
    /// Whether the text is the document's at `place`.
    pub(crate) verbatim: bool,
}

impl SourceDocument {
    /// `None` when the document is gone.
    pub(crate) fn load(reader: &StoreReader<'_>, row: Row) -> heed::Result<Option<Self>> {
        let Some(record) = reader.node::<DocumentRecord>(row)? else { return Ok(None) };
        let mut sections = vec![];
        for at in record.sections.0..record.sections.1 {
            let section: SectionRecord = reader.linked(at)?;
            let mut chunks = vec![];
            for chunk in section.chunks.0..section.chunks.1 {
                chunks.extend(SourceChunk::load(reader, chunk)?);
            }
            let SectionRecord { id, name, .. } = section;
            sections.push(SourceSection { row: Some(at), id, name, chunks });
        }
        let tables = SourceTable::load_all(reader, row, &record)?;
        let DocumentRecord { id, names, title, .. } = record;
        Ok(Some(Self { row: Some(row), id, names, title, sections, tables }))
    }

    /// The name that it is shown under.
    pub(crate) fn name(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }

    pub(crate) fn chunks(&self) -> impl Iterator<Item = (&SourceSection, &SourceChunk)> {
        self.sections.iter().flat_map(|section| section.chunks.iter().map(move |c| (section, c)))
    }

    /// A chunk as models are shown it.
    pub(crate) fn passage(&self, section: &SourceSection, chunk: &SourceChunk) -> Passage {
        Passage {
            document: self.name().to_owned(),
            title: self.title.clone(),
            section: section.name.clone(),
            text: chunk.text.trim().to_owned(),
        }
    }
}

/// Bytes of a table that models are shown, and the fewest rows of one that says something as a
/// whole.
const TABLE_SHOWN: usize = 6000;
const LEAST_ROWS: usize = 2;

impl SourceTable {
    fn load_all(
        reader: &StoreReader<'_>,
        document: Row,
        record: &DocumentRecord,
    ) -> heed::Result<Vec<Self>> {
        let mut tables = vec![];
        for row in record.tables.0..record.tables.1 {
            let Some(table) = reader.node::<TableRecord>(row)? else { continue };
            if ((table.rows.1 - table.rows.0) as usize) < LEAST_ROWS {
                continue;
            }
            let text = reader.beginning(document, table.place.bytes, TABLE_SHOWN)?;
            let section =
                table.section.map_or(Ok(None), |row| reader.node::<SectionRecord>(row))?;
            let heading = section.and_then(|section| section.name);
            let name = table_name(heading.as_deref(), table.caption.as_deref());
            tables.push(Self { row: Some(row), id: table.id, name, text });
        }
        Ok(tables)
    }

    /// The table of a document that is not stored.
    pub(crate) fn of_draft(text: &str, heading: Option<&str>, draft: &TableDraft) -> Option<Self> {
        let (begin, end) = draft.place.bytes;
        let end = text.floor_char_boundary(end.min(begin.saturating_add(TABLE_SHOWN)));
        let name = table_name(heading, draft.caption.as_deref());
        let text = text[begin..end].to_owned();
        (draft.rows.len() >= LEAST_ROWS).then_some(Self { row: None, id: 0, name, text })
    }
}

fn table_name(heading: Option<&str>, caption: Option<&str>) -> String {
    let parts = heading.into_iter().chain(caption).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" > ")
}

impl SourceChunk {
    fn load(reader: &StoreReader<'_>, row: Row) -> heed::Result<Option<Self>> {
        let Some(record) = reader.node::<ChunkRecord>(row)? else { return Ok(None) };
        let text = reader.chunk_text(&record)?;
        let (place, verbatim) = (record.place, record.text.is_none());
        Ok(Some(Self { row: Some(row), text, place, verbatim }))
    }

    /// What its ledger units are kept under; no node where it is in no base.
    pub(crate) fn at(&self) -> At {
        (Layer::Chunk, self.row.unwrap_or(Row::MAX))
    }

    /// What atoms are made of.
    pub(crate) fn atom_source(&self, title: &str) -> AtomSource {
        let (text, place, verbatim) = (self.text.clone(), self.place, self.verbatim);
        AtomSource { title: title.to_owned(), text, place, verbatim }
    }
}

/// A chunk with what is known about where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Passage {
    /// The document's name.
    pub(crate) document: String,
    pub(crate) title: String,
    pub(crate) section: Option<String>,
    pub(crate) text: String,
}

impl Passage {
    /// `None` when the chunk was replaced.
    pub(crate) fn load(reader: &StoreReader<'_>, row: Row) -> heed::Result<Option<Self>> {
        let Some(chunk) = reader.node::<ChunkRecord>(row)? else { return Ok(None) };
        let document: DocumentRecord = reader.linked(chunk.document)?;
        let section: SectionRecord = reader.linked(chunk.section)?;
        let text = reader.chunk_text(&chunk)?.trim().to_owned();
        let name = document.names.first().cloned().unwrap_or_default();
        Ok(Some(Self { document: name, title: document.title, section: section.name, text }))
    }

    /// Hash of the passage and of what it is asked with.
    pub(crate) fn input(&self, prompt: Id) -> Id {
        let section = self.section.as_deref().unwrap_or("");
        let (title, text) = (self.title.as_bytes(), self.text.as_bytes());
        hash(&[&prompt.to_be_bytes(), title, section.as_bytes(), text])
    }

    /// All that a model is shown of it.
    pub(crate) fn whole(&self) -> String {
        let section = self.section.as_deref().unwrap_or("");
        format!("{}\n{section}\n{}", self.title, self.text)
    }
}

/// Hash of a prompt's text as it is in use.
pub(crate) fn prompt_hash(setup: &Setup, name: &str) -> Id {
    let list = setup.prompts.list();
    let prompt = list.iter().find(|info| info.name == name);
    hash(&[name.as_bytes(), prompt.map_or("", |info| info.hash.as_str()).as_bytes()])
}
