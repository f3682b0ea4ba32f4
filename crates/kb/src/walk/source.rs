//! A chunk with what it stands under, read once for all that graph search needs of it.
use crate::store::{ChunkRecord, DocumentRecord, Row, SectionRecord, StoreReader, under_headings};

/// A chunk with its text, its document and its section.
pub(crate) struct ChunkSource {
    pub(crate) row: Row,
    pub(crate) record: ChunkRecord,
    pub(crate) document: DocumentRecord,
    pub(crate) section: SectionRecord,
    pub(crate) text: String,
}

impl ChunkSource {
    /// `None` when the chunk is gone.
    pub(crate) fn load(reader: &StoreReader<'_>, row: Row) -> heed::Result<Option<Self>> {
        let Some(record) = reader.node::<ChunkRecord>(row)? else { return Ok(None) };
        let document: DocumentRecord = reader.linked(record.document)?;
        let section: SectionRecord = reader.linked(record.section)?;
        let text = reader.chunk_text(&record)?;
        Ok(Some(Self { row, record, document, section, text }))
    }

    /// The text as it is searched, which is what [`StoreReader::searched_text`] reads.
    pub(crate) fn searched_text(&self) -> String {
        under_headings(&self.document.title, self.heading(), &self.text)
    }

    /// The headings above it, where they say something about the content.
    pub(crate) fn heading(&self) -> Option<&str> {
        self.section.name.as_deref().filter(|_| self.section.indexed)
    }

    /// Of its document, where that is known.
    pub(crate) fn language(&self) -> Option<&str> {
        self.document.language.as_deref()
    }
}
