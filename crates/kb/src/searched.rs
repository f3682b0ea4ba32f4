//! What of a node of each layer is searched for by words.
use halma_core::Layer;

use crate::hit::row_text;
use crate::store::{
    CommunityRecord, DocumentRecord, EntityRecord, FactRecord, FigureRecord, Reading, Row,
    RowRecord, SectionRecord, Store, SummaryRecord, TableRecord, TagRecord,
};

/// Of a document or section its beginning is searched: what it is about stands there, and the rest
/// is found in its chunks. In bytes.
const BEGINNING: usize = 4000;

/// `None` when the node is gone.
pub(crate) fn searched_text(
    store: &Store,
    txn: &Reading<'_>,
    (layer, row): (Layer, Row),
) -> heed::Result<Option<String>> {
    let parts: Vec<String> = match layer {
        Layer::Chunk | Layer::Atom => return store.searched_text(txn, layer, row),
        Layer::Document => {
            let Some(record) = store.node::<DocumentRecord>(txn, row)? else { return Ok(None) };
            let mut parts = vec![record.title.clone(), record.names.join(" ")];
            for section in record.sections.0..record.sections.1 {
                let section = store.node::<SectionRecord>(txn, section)?;
                parts.extend(section.and_then(|section| section.name));
            }
            parts.push(beginning(store, txn, (row, (0, store.text_bytes(txn, row)?)))?);
            parts
        }
        Layer::Section => {
            let Some(record) = store.node::<SectionRecord>(txn, row)? else { return Ok(None) };
            let document: DocumentRecord = store.linked(txn, record.document)?;
            let text = beginning(store, txn, (record.document, record.place.bytes))?;
            vec![document.title, record.name.unwrap_or_default(), text]
        }
        Layer::Table => {
            let Some(record) = store.node::<TableRecord>(txn, row)? else { return Ok(None) };
            let mut parts = vec![title_of(store, txn, record.document)?];
            parts.extend(record.caption.into_iter().chain(record.relation));
            parts.extend(record.columns.into_iter().map(|column| column.name));
            parts
        }
        Layer::Figure => {
            let Some(record) = store.node::<FigureRecord>(txn, row)? else { return Ok(None) };
            let mut parts = vec![title_of(store, txn, Some(record.document))?];
            parts.extend(record.caption.into_iter().chain(record.description));
            parts
        }
        Layer::Row => {
            let Some(record) = store.node::<RowRecord>(txn, row)? else { return Ok(None) };
            let table: TableRecord = store.linked(txn, record.table)?;
            let text = row_text(&table, &record.cells);
            vec![table.caption.unwrap_or_default(), text]
        }
        Layer::Summary => {
            let Some(record) = store.node::<SummaryRecord>(txn, row)? else { return Ok(None) };
            vec![title_of(store, txn, Some(record.document))?, record.text]
        }
        Layer::Tag => {
            let Some(record) = store.node::<TagRecord>(txn, row)? else { return Ok(None) };
            vec![record.class, record.name]
        }
        Layer::Entity => {
            let Some(record) = store.node::<EntityRecord>(txn, row)? else { return Ok(None) };
            vec![record.name, record.aliases.join("; "), record.kind, record.description]
        }
        Layer::Fact => {
            let Some(record) = store.node::<FactRecord>(txn, row)? else { return Ok(None) };
            vec![record.text]
        }
        Layer::Community => {
            let Some(record) = store.node::<CommunityRecord>(txn, row)? else { return Ok(None) };
            vec![record.title, record.summary]
        }
    };
    Ok(Some(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")))
}

fn title_of(store: &Store, txn: &Reading<'_>, document: Option<Row>) -> heed::Result<String> {
    let Some(row) = document else { return Ok(String::new()) };
    Ok(store.linked::<DocumentRecord>(txn, row)?.title)
}

fn beginning(
    store: &Store,
    txn: &Reading<'_>,
    (document, (start, end)): (Row, (usize, usize)),
) -> heed::Result<String> {
    let text = store.slice(txn, document, (start, end))?;
    let mut length = text.len().min(BEGINNING);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    Ok(text[..length].to_owned())
}
