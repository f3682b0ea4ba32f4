//! A node of any layer as a hit, without scores.
use halma_core::{Hit, Layer, NodeId, Span};

use crate::Base;
use crate::store::{
    AtomRecord, ChunkRecord, CommunityRecord, DocumentRecord, EntityRecord, FactRecord,
    FigureRecord, Id, Reading, Row, RowRecord, SectionRecord, SummaryRecord, TableRecord,
    TagRecord, node_id,
};

impl Base {
    /// `None` when the node is gone.
    pub(crate) fn resolve(
        &self,
        txn: &Reading<'_>,
        layer: Layer,
        row: Row,
    ) -> heed::Result<Option<Hit>> {
        let store = &self.store;
        match layer {
            Layer::Document => {
                let Some(record) = store.node::<DocumentRecord>(txn, row)? else { return Ok(None) };
                let text = store.slice(txn, row, (0, store.text_bytes(txn, row)?))?;
                let end = text.chars().count();
                let hit = of_document(&record, layer, record.id, Span { start: 0, end });
                Ok(Some(Hit { text, ..hit }))
            }
            Layer::Section => {
                let Some(record) = store.node::<SectionRecord>(txn, row)? else { return Ok(None) };
                let document: DocumentRecord = store.linked(txn, record.document)?;
                let text = store.slice(txn, record.document, record.place.bytes)?;
                let hit = of_document(&document, layer, record.id, record.place.span());
                let parent = Some(node_id(Layer::Document, document.id));
                Ok(Some(Hit { parent, text, section: record.name, ..hit }))
            }
            Layer::Chunk => {
                let Some(record) = store.node::<ChunkRecord>(txn, row)? else { return Ok(None) };
                let text = store.chunk_text(txn, &record)?;
                let hit = self.in_chunk(txn, &record, (layer, record.id))?;
                let section: SectionRecord = store.linked(txn, record.section)?;
                let parent = Some(node_id(Layer::Section, section.id));
                Ok(Some(Hit { parent, text, ..hit }))
            }
            Layer::Atom => {
                let Some(record) = store.node::<AtomRecord>(txn, row)? else { return Ok(None) };
                let chunk: ChunkRecord = store.linked(txn, record.chunk)?;
                let hit = self.in_chunk(txn, &chunk, (layer, record.id))?;
                let span = Span { start: record.start, end: record.end };
                Ok(Some(Hit { parent: Some(chunk_id(&chunk)), text: record.text, span, ..hit }))
            }
            Layer::Row => {
                let Some(record) = store.node::<RowRecord>(txn, row)? else { return Ok(None) };
                let chunk: ChunkRecord = store.linked(txn, record.chunk)?;
                let table: TableRecord = store.linked(txn, record.table)?;
                let hit = self.in_chunk(txn, &chunk, (layer, record.id))?;
                let (text, span) = (row_text(&table, &record.cells), record.place.span());
                Ok(Some(Hit { parent: Some(chunk_id(&chunk)), text, span, ..hit }))
            }
            Layer::Fact => {
                let Some(record) = store.node::<FactRecord>(txn, row)? else { return Ok(None) };
                let chunk: ChunkRecord = store.linked(txn, record.chunk)?;
                let hit = self.in_chunk(txn, &chunk, (layer, record.id))?;
                Ok(Some(Hit { parent: Some(chunk_id(&chunk)), text: record.text, ..hit }))
            }
            Layer::Table | Layer::Figure => self.resolve_part(txn, layer, row),
            Layer::Summary | Layer::Tag | Layer::Entity | Layer::Community => {
                self.resolve_distilled(txn, layer, row)
            }
        }
    }

    /// A table or figure.
    fn resolve_part(&self, txn: &Reading<'_>, layer: Layer, row: Row) -> heed::Result<Option<Hit>> {
        let store = &self.store;
        let (id, document, section, place, title, text) = if layer == Layer::Table {
            let Some(table) = store.node::<TableRecord>(txn, row)? else { return Ok(None) };
            let Some((document, section)) = table.document.zip(table.section) else {
                let title = table.relation.clone().or(table.caption).unwrap_or_default();
                let names: Vec<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
                let hit = apart(layer, table.id, &title, names.join("; "));
                return Ok(Some(hit));
            };
            let text = store.slice(txn, document, table.place.bytes)?;
            (table.id, document, section, table.place, table.caption, text)
        } else {
            let Some(figure) = store.node::<FigureRecord>(txn, row)? else { return Ok(None) };
            let parts: Vec<String> =
                figure.caption.iter().chain(&figure.description).cloned().collect();
            let text = parts.join("\n");
            (figure.id, figure.document, figure.section, figure.place, figure.caption, text)
        };
        let document: DocumentRecord = store.linked(txn, document)?;
        let section: SectionRecord = store.linked(txn, section)?;
        let hit = of_document(&document, layer, id, place.span());
        let parent = Some(node_id(Layer::Section, section.id));
        let title = title.unwrap_or(hit.title);
        Ok(Some(Hit { parent, text, title, section: section.name, ..hit }))
    }

    /// What belongs to no single place of a document.
    fn resolve_distilled(
        &self,
        txn: &Reading<'_>,
        layer: Layer,
        row: Row,
    ) -> heed::Result<Option<Hit>> {
        let store = &self.store;
        Ok(match layer {
            Layer::Summary => {
                let Some(record) = store.node::<SummaryRecord>(txn, row)? else { return Ok(None) };
                let document: DocumentRecord = store.linked(txn, record.document)?;
                let hit = of_document(&document, layer, record.id, Span::default());
                let parent = Some(node_id(Layer::Document, document.id));
                Some(Hit { parent, text: record.text, ..hit })
            }
            Layer::Tag => store
                .node::<TagRecord>(txn, row)?
                .map(|tag| apart(layer, tag.id, &tag.class, tag.name)),
            Layer::Entity => store
                .node::<EntityRecord>(txn, row)?
                .map(|entity| apart(layer, entity.id, &entity.name, entity.description)),
            _ => store
                .node::<CommunityRecord>(txn, row)?
                .map(|community| apart(layer, community.id, &community.title, community.summary)),
        })
    }

    fn in_chunk(
        &self,
        txn: &Reading<'_>,
        chunk: &ChunkRecord,
        (layer, id): (Layer, Id),
    ) -> heed::Result<Hit> {
        let document: DocumentRecord = self.store.linked(txn, chunk.document)?;
        let section: SectionRecord = self.store.linked(txn, chunk.section)?;
        let hit = of_document(&document, layer, id, chunk.place.span());
        Ok(Hit { section: section.name, ..hit })
    }
}

fn chunk_id(chunk: &ChunkRecord) -> NodeId {
    node_id(Layer::Chunk, chunk.id)
}

/// A row with the names of its columns; empty values are left out.
pub(crate) fn row_text(table: &TableRecord, cells: &[String]) -> String {
    let named = |(i, value): (usize, &String)| {
        let name = table.columns.get(i).map_or("", |column| column.name.trim());
        let value = value.trim();
        match (name, value) {
            (_, "") => None,
            ("", value) => Some(format!("column {}: {value}", i + 1)),
            (name, value) => Some(format!("{name}: {value}")),
        }
    };
    cells.iter().enumerate().filter_map(named).collect::<Vec<_>>().join("; ")
}

/// What a hit takes from its document.
fn of_document(record: &DocumentRecord, layer: Layer, id: Id, span: Span) -> Hit {
    let name = record.names.first().cloned().unwrap_or_default();
    let page = record.pages.iter().rev().find(|(_, start)| *start <= span.start);
    Hit {
        title: if record.title.is_empty() { name.clone() } else { record.title.clone() },
        document: name,
        page: page.map(|(number, _)| *number).filter(|_| layer != Layer::Document),
        span,
        ..apart(layer, id, "", String::new())
    }
}

/// A node that belongs to no document.
fn apart(layer: Layer, id: Id, title: &str, text: String) -> Hit {
    Hit {
        id: node_id(layer, id),
        layer,
        parent: None,
        title: title.to_owned(),
        document: String::new(),
        section: None,
        page: None,
        text,
        score: 0.0,
        cosine: None,
        parts: vec![],
        span: Span::default(),
    }
}
