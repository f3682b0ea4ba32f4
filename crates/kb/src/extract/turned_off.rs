//! What was extracted for parts that the configuration has turned off since. It stays until a run is
//! asked to rebuild them, and is taken out then.
use std::sync::Arc;

use halma_core::{Edge, Layer};

use super::tag_collection::collect;
use crate::error::run_blocking;
use crate::store::{
    CommunityRecord, QUESTION_CLASS, Row, StoreWriter, SummaryRecord, TagRecord, Task, UnitKey,
};
use crate::{Base, BasePart, BuildContext, KbError};

/// Takes out the parts that a run is asked to rebuild and that its settings turn off.
pub(super) async fn remove(context: &Arc<BuildContext>) -> Result<(), KbError> {
    let settings = &context.settings;
    let is_off = |part: &BasePart| match part {
        BasePart::Tags => !settings.tags,
        BasePart::Summaries => !settings.summaries,
        BasePart::Communities => !settings.communities,
        _ => false,
    };
    let off: Vec<BasePart> = context.rebuild.iter().copied().filter(is_off).collect();
    if off.is_empty() {
        return Ok(());
    }
    let base = Arc::clone(&context.base);
    run_blocking("removing what is turned off", move || {
        off.into_iter().try_for_each(|part| match part {
            BasePart::Tags => remove_tags(&base),
            BasePart::Summaries => base.store.write(remove_summaries),
            _ => base.store.write(remove_communities),
        })
    })
    .await
}

fn forget_all(writer: &mut StoreWriter<'_>, task: Task) -> heed::Result<()> {
    let keys: Vec<UnitKey> = writer
        .entries(task)?
        .map(|entry| entry.map(|entry| entry.key))
        .collect::<Result<_, _>>()?;
    keys.into_iter().try_for_each(|key| writer.forget_unit(key))?;
    // Those of all documents are looked for again.
    writer.set_scanned_to(task, 0, 0)
}

/// The tags of chunks. What was learned from questions stays in the ledger: it was paid for, and is
/// used again when there are tags again.
fn remove_tags(base: &Base) -> Result<(), KbError> {
    base.store.write(|writer| {
        forget_all(writer, Task::Tag)?;
        forget_all(writer, Task::TagClasses)?;
        let mut rows = vec![];
        for node in writer.nodes::<TagRecord>()? {
            let (row, tag) = node?;
            if tag.class != QUESTION_CLASS {
                rows.push(row);
            }
        }
        rows.into_iter().try_for_each(|row| writer.remove_node::<TagRecord>(row))
    })?;
    collect(base).map(|_| ())
}

/// The summaries of sections and documents. Those of tables stay, since every table has one, and
/// those of chunks belong to how documents are cut.
fn remove_summaries(writer: &mut StoreWriter<'_>) -> heed::Result<()> {
    let whole = |layer: Layer| matches!(layer, Layer::Section | Layer::Document);
    let mut units = vec![];
    for entry in writer.entries(Task::Summarise)? {
        let key = entry?.key;
        if whole(key.layer) {
            units.push(key);
        }
    }
    units.into_iter().try_for_each(|key| writer.forget_unit(key))?;
    let rows: Vec<Row> = writer.all_rows(Layer::Summary)?;
    for row in rows {
        let of = writer.edges_from((Layer::Summary, row), Some(Edge::DerivedFrom))?;
        let Some(link) = of.into_iter().find(|link| whole(link.to.0)) else { continue };
        writer.remove_node::<SummaryRecord>(row)?;
        writer.renew_vector_of(link.to)?;
    }
    Ok(())
}

fn remove_communities(writer: &mut StoreWriter<'_>) -> heed::Result<()> {
    for row in writer.all_rows(Layer::Community)? {
        writer.remove_node::<CommunityRecord>(row)?;
    }
    writer.set_communities_made_of(None)
}
