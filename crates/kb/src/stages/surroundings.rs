//! What stands around a chunk: its heading, what the model that cut the document said of it, and the
//! tables that begin in it. Shown to the atomizer, so that the later chunks of a long section keep
//! their subject.
use std::collections::HashMap;

use halma_core::Layer;
use minijinja::{Value, context};

use super::{SourceChunk, SourceDocument, SourceSection};
use crate::cut::AtomSource;
use crate::store::{
    AtomDraft, ChunkRecord, DocumentRecord, Row, RowRecord, StoreReader, TableRecord,
};

/// Summaries of tables that one chunk is shown with; a page of small tables has many.
const MAX_TABLES: usize = 4;

/// Characters of an atom that says what a table is about.
const TABLE_ATOM: usize = 300;

/// What is known of a chunk beyond its text.
#[derive(Debug, Clone, Default)]
pub(super) struct Surroundings {
    heading: Option<String>,
    summary: Option<String>,
    /// What the document says before the chunk.
    forward: Option<String>,
    /// What the tables are about that begin in the chunk.
    tables: Vec<String>,
}

/// Summaries of the tables of a document, by the chunks in which the tables begin.
pub(super) type TableSummaries = HashMap<Row, Vec<String>>;

impl Surroundings {
    pub(super) fn load(
        reader: &StoreReader<'_>,
        section: &SourceSection,
        chunk: &SourceChunk,
        tables: &TableSummaries,
    ) -> heed::Result<Self> {
        let heading = section.name.clone();
        let Some(row) = chunk.row else { return Ok(Self { heading, ..Self::default() }) };
        let Some(record) = reader.node::<ChunkRecord>(row)? else { return Ok(Self::default()) };
        let forward = match &record.summary {
            Some(_) => reader.forward_of(record.id)?,
            None => None,
        };
        let tables = tables.get(&row).cloned().unwrap_or_default();
        Ok(Self { heading, summary: record.summary, forward, tables })
    }

    /// The variable `chunk` of prompts that ask about it.
    pub(super) fn variables(&self, source: &AtomSource) -> Value {
        context! {
            title => &source.title,
            text => &source.text,
            section => &self.heading,
            summary => &self.summary,
            before => &self.forward,
            tables => &self.tables,
        }
    }

    /// Atoms that say what the tables are about that begin in the chunk.
    pub(super) fn table_atoms(&self, source: &AtomSource) -> Vec<AtomDraft> {
        let atom = |summary: &String| {
            let line = summary.lines().collect::<Vec<_>>().join("; ");
            let text = line.chars().take(TABLE_ATOM).collect();
            AtomDraft { text, span: source.place.chars }
        };
        self.tables.iter().map(atom).collect()
    }
}

/// Summaries of the tables of a document that is stored.
pub(super) fn table_summaries(
    reader: &StoreReader<'_>,
    document: &SourceDocument,
) -> heed::Result<TableSummaries> {
    let mut summaries = TableSummaries::new();
    let Some(row) = document.row else { return Ok(summaries) };
    let Some(record) = reader.node::<DocumentRecord>(row)? else { return Ok(summaries) };
    for table in record.tables.0..record.tables.1 {
        let first = reader.node::<TableRecord>(table)?.map(|table| table.rows.0);
        let first = first.map_or(Ok(None), |first| reader.node::<RowRecord>(first))?;
        let Some(chunk) = first.map(|first| first.chunk) else { continue };
        let of_chunk = summaries.entry(chunk).or_default();
        if of_chunk.len() < MAX_TABLES {
            of_chunk.extend(reader.summary_of((Layer::Table, table))?);
        }
    }
    Ok(summaries)
}
