//! What an estimate expects to be embedded next to chunks and atoms.
use halma_core::Layer;

use crate::read::ParsedDocument;
use crate::stages::{SourceTable, Texts};
use crate::store::{At, Outline, StoreReader, table_summary};
use crate::{Chunks, KbSettings};

/// Rows of one table that have vectors, as `store/records/table.rs` has it.
const ROWS: usize = 1_000;

/// Bytes of a document or section that its vector is made of, and characters of what a cutting
/// model says of a chunk.
const BEGINNING: usize = 2_000;
const CHUNK_SUMMARY: usize = 200;

/// The texts of a document that is not stored yet: of its sections, tables, rows, figures, and of
/// the summaries that come with it.
pub(super) fn layer_texts(
    settings: &KbSettings,
    draft: &ParsedDocument,
    outline: &Outline,
) -> Texts {
    let mut texts = Texts::default();
    let layers = &settings.vectors;
    let whole = draft.parsed.text.len();
    let chunks: usize = outline.sections.iter().map(|section| section.chunks.len()).sum();
    if layers.document && chunks > 1 {
        texts.add(whole.min(BEGINNING));
    }
    for section in outline.sections.iter().filter(|section| section.chunks.len() > 1) {
        if layers.section {
            let (begin, end) = section.place.bytes;
            texts.add((end - begin).min(BEGINNING));
        }
    }
    if layers.summary && settings.chunks == Chunks::Model {
        // Each has its own and, but for the first, what stands before it.
        (1..chunks * 2).for_each(|_| texts.add(CHUNK_SUMMARY));
    }
    for table in &outline.tables {
        if layers.summary {
            texts.add(table_summary(None, table).len());
        }
        if layers.table {
            texts.add(table.columns.iter().map(|column| column.name.len()).sum());
        }
        for row in table.rows.iter().take(ROWS).filter(|_| layers.row) {
            let columns: usize = table.columns.iter().map(|column| column.name.len() + 2).sum();
            texts.add(row.cells.iter().map(|cell| cell.len() + 2).sum::<usize>() + columns);
        }
    }
    for figure in outline.figures.iter().filter(|_| layers.figure) {
        let shown = figure.caption.iter().chain(&figure.description);
        let characters: usize = shown.map(String::len).sum();
        if characters > 0 {
            texts.add(characters);
        }
    }
    texts
}

/// The tables that are summarized by a model.
pub(super) fn tables(text: &str, outline: &Outline) -> Vec<SourceTable> {
    let table = |table: &_| {
        let table: &crate::store::TableDraft = table;
        let heading = outline.sections.get(table.section).and_then(|s| s.name.as_deref());
        SourceTable::of_draft(text, heading, table)
    };
    outline.tables.iter().filter_map(table).collect()
}

/// The nodes of a layer that have a vector of their own when all are embedded.
pub(super) fn embedded_rows(reader: &StoreReader<'_>, layer: Layer) -> heed::Result<Vec<At>> {
    let mut rows = vec![];
    for row in reader.all_rows(layer)? {
        let is_plain = matches!(layer, Layer::Chunk | Layer::Atom);
        if is_plain || reader.record((layer, row))?.is_some_and(|record| record.has_vector()) {
            rows.push((layer, row));
        }
    }
    Ok(rows)
}
