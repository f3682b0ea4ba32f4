//! A chunk with what it stands under, read once for all that graph search needs of it.
use crate::store::{ChunkRecord, DocumentRecord, Row, SectionRecord, StoreReader, under_headings};

/// A chunk with its text, its document and its section.
pub(super) struct ChunkSource {
    pub(super) row: Row,
    pub(super) record: ChunkRecord,
    pub(super) document: DocumentRecord,
    section: SectionRecord,
    pub(super) text: String,
}

impl ChunkSource {
    /// `None` when the chunk is gone.
    pub(super) fn load(reader: &StoreReader<'_>, row: Row) -> heed::Result<Option<Self>> {
        let Some(record) = reader.node::<ChunkRecord>(row)? else { return Ok(None) };
        let document: DocumentRecord = reader.linked(record.document)?;
        let section: SectionRecord = reader.linked(record.section)?;
        let text = reader.chunk_text(&record)?;
        Ok(Some(Self { row, record, document, section, text }))
    }

    /// The text as it is searched, which is what [`StoreReader::searched_text`] reads.
    pub(super) fn searched_text(&self) -> String {
        let heading = self.section.name.as_deref().filter(|_| self.section.indexed);
        under_headings(&self.document.title, heading, &self.text)
    }
}
