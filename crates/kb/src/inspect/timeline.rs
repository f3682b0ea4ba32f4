//! What happened when to an entity: of its facts, of the rows of tables that name it, and of the
//! sentences that do.
use std::collections::BTreeSet;

use halma_core::text::{count_name, normalise_name, sentences};
use halma_core::{Edge, Filter, Layer, NodeId};
use serde::Serialize;

use super::Inspector;
use super::dates::{ColumnDates, dates};
use crate::KbError;
use crate::memory::{allowed, entities_named};
use crate::store::{
    ChunkRecord, DocumentRecord, EntityRecord, FactRecord, Row, RowRecord, RowSet, StoreReader,
    TableRecord, node_id,
};

/// Passages of one entity that are read, at most.
const MAX_CHUNKS: usize = 5_000;

/// What is asked of a timeline.
#[derive(Debug, Clone, Default)]
pub struct TimelineQuery {
    /// One of the names of the entity.
    pub entity: String,
    /// Only what these documents say. None of it comes from answers.
    pub filter: Filter,
    /// Events at most, the first ones.
    pub limit: usize,
}

/// The dated events of the entities of one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Timeline {
    /// Their names; several where they share the one that was asked for.
    pub entities: Vec<String>,
    /// In the order of their dates.
    pub events: Vec<TimelineEvent>,
    /// Whether there are more than were asked for.
    pub cut: bool,
    /// Passages that name them and were not read: of each entity the first 5,000 are.
    pub unread: u64,
}

/// Something that is dated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TimelineEvent {
    /// As `2017-09-14`, `2017-09` or `2017`.
    pub date: String,
    /// What says so.
    pub text: String,
    /// The document that says so.
    pub document: String,
    /// The fact, row or chunk.
    pub node: NodeId,
}

impl Inspector<'_> {
    /// The dated events of an entity, as far as the documents that may be read say so.
    pub fn timeline(&self, query: &TimelineQuery) -> Result<Timeline, KbError> {
        self.timeline_of(query, MAX_CHUNKS)
    }

    /// The same of at most some passages of each entity.
    fn timeline_of(&self, query: &TimelineQuery, max_chunks: usize) -> Result<Timeline, KbError> {
        let timeline = self.base.store.read(|reader| {
            let rows = entities_named(reader, &query.entity)?;
            let chunks = chunks_of(reader, &query.filter)?;
            let mut collected = Collector { chunks, max_chunks, ..Collector::default() };
            for row in &rows {
                collected.add_entity(reader, *row)?;
            }
            collected.add_rows(reader)?;
            let count = collected.events.len();
            let events = collected.events.into_iter().take(query.limit).collect();
            let names = collected.names.into_iter().collect();
            let (cut, unread) = (count > query.limit, collected.unread);
            Ok(Timeline { entities: names, events, cut, unread })
        })?;
        if timeline.entities.is_empty() {
            return Err(KbError::NoEntity { name: query.entity.clone() });
        }
        Ok(timeline)
    }
}

/// The chunks that a filter lets in; `None` for all.
fn chunks_of(reader: &StoreReader<'_>, filter: &Filter) -> heed::Result<Option<RowSet>> {
    if filter.feedback == Some(true) {
        return Ok(Some(RowSet::default()));
    }
    let without_answers = Filter { feedback: None, ..filter.clone() };
    if without_answers.is_empty() {
        return Ok(None);
    }
    allowed(reader, &without_answers, Layer::Chunk).map(Some)
}

#[derive(Default)]
struct Collector {
    /// The chunks that are read; `None` for all.
    chunks: Option<RowSet>,
    /// Of each entity.
    max_chunks: usize,
    unread: u64,
    names: BTreeSet<String>,
    /// All names of the entities, normalised.
    keys: Vec<String>,
    /// Those that are among the events already, normalised.
    sentences: BTreeSet<String>,
    events: BTreeSet<TimelineEvent>,
}

impl Collector {
    fn add_entity(&mut self, reader: &StoreReader<'_>, row: Row) -> heed::Result<()> {
        let Some(entity) = reader.node::<EntityRecord>(row)? else { return Ok(()) };
        for name in std::iter::once(&entity.name).chain(&entity.aliases) {
            self.keys.push(normalise_name(name));
        }
        self.names.insert(entity.name);
        let mut chunks = BTreeSet::new();
        let mentions = reader.first_edges_to((Layer::Entity, row), Edge::Mentions, usize::MAX)?;
        for (layer, at) in mentions {
            match layer {
                Layer::Chunk => drop(chunks.insert(at)),
                Layer::Document => {
                    let document: DocumentRecord = reader.linked(at)?;
                    chunks.extend(document.chunks.0..document.chunks.1);
                }
                _ => {}
            }
        }
        chunks.retain(|chunk| self.admits(*chunk));
        self.unread += chunks.len().saturating_sub(self.max_chunks) as u64;
        for chunk in chunks.into_iter().take(self.max_chunks) {
            self.add_chunk(reader, chunk, row)?;
        }
        Ok(())
    }

    fn admits(&self, chunk: Row) -> bool {
        self.chunks.as_ref().is_none_or(|chunks| chunks.contains(chunk))
    }

    /// The facts of a chunk about an entity, then the sentences that name it.
    fn add_chunk(&mut self, reader: &StoreReader<'_>, row: Row, entity: Row) -> heed::Result<()> {
        let Some(chunk) = reader.node::<ChunkRecord>(row)? else { return Ok(()) };
        for (layer, listed) in reader.listed_under((Layer::Chunk, row))? {
            if layer == Layer::Fact
                && let Some(fact) = reader.node::<FactRecord>(listed)?
                && [fact.head, fact.tail].contains(&entity)
            {
                self.add(reader, &node_id(Layer::Fact, fact.id), row, &fact.text)?;
            }
        }
        let text = reader.chunk_text(&chunk)?;
        let document: DocumentRecord = reader.linked(chunk.document)?;
        let title = normalise_name(&document.title);
        let is_titled = self.keys.contains(&title);
        for range in sentences(&text) {
            let sentence = text[range].trim();
            let form = normalise_name(sentence);
            if is_titled || self.keys.iter().any(|key| count_name(key, &form) > 0) {
                self.add(reader, &node_id(Layer::Chunk, chunk.id), row, sentence)?;
            }
        }
        Ok(())
    }

    /// The events that a sentence of a chunk dates; `node` is the fact or chunk that says it.
    fn add(
        &mut self,
        reader: &StoreReader<'_>,
        node: &NodeId,
        chunk: Row,
        text: &str,
    ) -> heed::Result<()> {
        let dates = dates(text);
        if dates.is_empty() || !self.sentences.insert(normalise_name(text)) {
            return Ok(());
        }
        let document = document_name(reader, chunk)?;
        for date in dates {
            let (node, document) = (node.clone(), document.clone());
            self.events.insert(TimelineEvent { date, text: text.to_owned(), document, node });
        }
        Ok(())
    }

    /// The dates of tables' rows that name one of the entities.
    fn add_rows(&mut self, reader: &StoreReader<'_>) -> heed::Result<()> {
        for node in reader.nodes::<TableRecord>()? {
            let (_, table) = node?;
            if !table.columns.iter().any(ColumnDates::may_be_dated) {
                continue;
            }
            let mut named = vec![];
            for row in table.rows.0..table.rows.1 {
                let Some(record) = reader.node::<RowRecord>(row)? else { continue };
                if !self.admits(record.chunk) {
                    continue;
                }
                let is_named = |cell: &String| self.keys.contains(&normalise_name(cell));
                if let Some(name) = record.cells.iter().find(|cell| is_named(cell)).cloned() {
                    named.push((name, record));
                }
            }
            if !named.is_empty() {
                self.add_dates(reader, &table, &named)?;
            }
        }
        Ok(())
    }

    /// The dates of rows of a table, each with the cell that names an entity.
    fn add_dates(
        &mut self,
        reader: &StoreReader<'_>,
        table: &TableRecord,
        named: &[(String, RowRecord)],
    ) -> heed::Result<()> {
        let caption = table.caption.as_deref().unwrap_or("table");
        for (at, column) in table.columns.iter().enumerate() {
            if !ColumnDates::may_be_dated(column) {
                continue;
            }
            // How a column writes its dates is seen in all of its cells.
            let mut cells = vec![];
            for row in table.rows.0..table.rows.1 {
                let record = reader.node::<RowRecord>(row)?;
                cells.extend(record.and_then(|record| record.cells.into_iter().nth(at)));
            }
            let read = ColumnDates::new(column, &cells);
            for (name, record) in named {
                let Some(date) = record.cells.get(at).and_then(|cell| read.date(cell)) else {
                    continue;
                };
                let text = format!("{caption}: {name}, {}", column.name);
                let document = document_name(reader, record.chunk)?;
                let node = node_id(Layer::Row, record.id);
                self.events.insert(TimelineEvent { date, text, document, node });
            }
        }
        Ok(())
    }
}

fn document_name(reader: &StoreReader<'_>, chunk: Row) -> heed::Result<String> {
    let Some(chunk) = reader.node::<ChunkRecord>(chunk)? else { return Ok(String::new()) };
    let document: DocumentRecord = reader.linked(chunk.document)?;
    Ok(document.names.into_iter().next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use tempfile::tempdir;

    use super::*;
    use crate::base::sample_base;

    #[test]
    fn passages_that_are_too_many_to_read_are_counted() {
        let dir = tempdir().unwrap();
        let base = sample_base::create(dir.path(), "mark");
        let query = TimelineQuery { entity: "shared".into(), limit: 10, ..Default::default() };
        let unread = |max_chunks| base.inspector().timeline_of(&query, max_chunks).unwrap().unread;
        assert_eq!((unread(0), unread(1), unread(2)), (2, 1, 0));
    }
}
