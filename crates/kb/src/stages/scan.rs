//! Which documents may have units left of a stage.
use std::collections::BTreeSet;
use std::sync::Arc;

use halma_core::Layer;

use super::{Backlog, SourceDocument, Stage};
use crate::KbError;
use crate::error::run_blocking;
use crate::store::{ChunkRecord, Id, Row, StoreReader, Task};

/// The documents of the base that have units left.
pub(super) fn scan<S: Stage>(stage: &S, reader: &StoreReader<'_>) -> heed::Result<Backlog> {
    let mut backlog = Backlog::default();
    let rows = match stage.scanned_by() {
        Some((task, with)) => unscanned(reader, task, with)?,
        None => reader.all_rows(Layer::Document)?,
    };
    for row in rows {
        let Some(document) = SourceDocument::load(reader, row)? else { continue };
        let units = stage.units(reader, &document)?.len();
        if units > 0 {
            backlog.documents.push(row);
            backlog.units += units;
        }
    }
    Ok(backlog)
}

/// Documents that came since a task was last complete, and those of its failed units, in order.
fn unscanned(reader: &StoreReader<'_>, task: Task, with: Id) -> heed::Result<Vec<Row>> {
    let from = reader.scanned_to(task, with)?;
    let mut rows: BTreeSet<Row> =
        reader.rows(Layer::Document, from, usize::MAX)?.into_iter().collect();
    for chunk in reader.open_rows(task, Layer::Chunk)? {
        rows.extend(reader.node::<ChunkRecord>(chunk)?.map(|chunk| chunk.document));
    }
    Ok(rows.into_iter().collect())
}

/// Notes that no document before this row has units left but those that failed.
pub(super) async fn note_scanned<S: Stage>(stage: &Arc<S>, next: Row) -> Result<(), KbError> {
    let Some((task, with)) = stage.scanned_by() else { return Ok(()) };
    let stage = Arc::clone(stage);
    run_blocking("storing results", move || {
        let store = stage.context().store();
        if store.read(|reader| reader.scanned_to(task, with))? == next {
            return Ok(());
        }
        store.write(|writer| writer.set_scanned_to(task, with, next))
    })
    .await
}
