//! The rows of the documents of an index. Opening the column that holds them costs more than reading
//! a thousand of them, so it stays open until the index has changed.
use std::sync::Arc;

use parking_lot::RwLock;
use tantivy::columnar::Column;
use tantivy::{DocAddress, Searcher};

use crate::store::Row;

/// The open columns of an index.
#[derive(Default)]
pub(super) struct RowColumns(RwLock<Option<OpenColumns>>);

/// A column for each segment that a searcher sees.
#[derive(Clone)]
struct OpenColumns {
    /// Of the searcher.
    generation: u64,
    columns: Arc<[Column<u64>]>,
}

/// The rows of the documents that a searcher sees.
pub(super) struct DocumentRows(Arc<[Column<u64>]>);

impl DocumentRows {
    pub(super) fn row(&self, at: DocAddress) -> Option<Row> {
        let row = self.0.get(at.segment_ord as usize)?.first(at.doc_id)?;
        Row::try_from(row).ok()
    }
}

impl RowColumns {
    pub(super) fn of(&self, searcher: &Searcher) -> tantivy::Result<DocumentRows> {
        let generation = searcher.generation().generation_id();
        let held = self.0.read().clone();
        if let Some(held) = held.filter(|held| held.generation == generation) {
            return Ok(DocumentRows(held.columns));
        }
        let segments = searcher.segment_readers().iter();
        let columns = segments.map(|segment| segment.fast_fields().u64("row"));
        let columns: Arc<[Column<u64>]> = columns.collect::<tantivy::Result<_>>()?;
        let mut held = self.0.write();
        // A search that began before the index changed keeps what it opened to itself.
        if held.as_ref().is_none_or(|held| held.generation < generation) {
            *held = Some(OpenColumns { generation, columns: Arc::clone(&columns) });
        }
        Ok(DocumentRows(columns))
    }
}
