//! The entity graph as it is stored: entities, who mentions them, facts, and how they relate.
//! Only what changed is written.
mod chunks;
mod ending;

use std::collections::BTreeSet;

use halma_core::{Edge, Layer};
use serde::{Deserialize, Serialize};

use self::chunks::{Assigned, put_chunk};
use super::extracted_chunk::ExtractedChunk;
use super::resolution::{Resolution, Unanswered, totals};
use super::resolve::Resolved;
use crate::KbError;
use crate::store::{EntityRecord, Id, LeftOut, Profile, Row, Store, StoreWriter, hash};

/// Chunks written in one transaction.
const BATCH: usize = 2000;

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Written {
    pub(crate) entities: usize,
    pub(crate) facts: usize,
    pub(crate) merges: usize,
    pub(crate) left_out: LeftOut,
    /// Whether anything is other than it was.
    pub(crate) changed: bool,
}

pub(crate) fn entity_id(key: &str) -> Id {
    hash(&[key.as_bytes()])
}

/// Brings the stored graph to what was resolved. Killed between its writes, it is done again from
/// the beginning: what is to be resolved is forgotten by the last one.
pub(super) fn write(
    store: &Store,
    resolution: &Resolution,
    left: Unanswered,
) -> Result<Written, KbError> {
    let (rows, mut changed) = write_entities(store, &resolution.resolved)?;
    changed |= write_chunks(store, resolution, &rows)?;
    store.write(|writer| {
        changed |= ending::end(writer, resolution, &rows)?;
        if left == Unanswered::AskAgain {
            for form in resolution.open_forms() {
                writer.touch_form(form)?;
            }
        }
        if changed {
            writer.mark_communities_stale()?;
        }
        writer.set_unsettled(false)?;
        Ok(Written { changed, ..totals(writer)? })
    })
}

/// Returns the row of every entity, and whether anything is other than it was.
pub(super) fn write_entities(
    store: &Store,
    resolved: &Resolved,
) -> Result<(Vec<Row>, bool), KbError> {
    store.write(|writer| {
        let put = put_entities(writer, &resolved.entities)?;
        ending::note_written(writer, resolved, &put.0)?;
        // Until each chunk leads to what it names.
        if put.1 {
            writer.set_unsettled(true)?;
        }
        Ok(put)
    })
}

/// Returns whether anything is other than it was.
pub(super) fn write_chunks(
    store: &Store,
    Resolution { reads, resolved, .. }: &Resolution,
    rows: &[Row],
) -> Result<bool, KbError> {
    let assigned = assign(reads, resolved);
    let wanted: BTreeSet<Row> = rows.iter().copied().collect();
    let mut changed = false;
    for (batch, places) in reads.chunks(BATCH).zip(assigned.chunks(BATCH)) {
        changed |= store.write(|writer| {
            let (mut changed, mut left) = (false, BTreeSet::new());
            for (read, entities) in batch.iter().zip(places) {
                let assigned = Assigned { entities, resolved, rows };
                changed |= put_chunk(writer, read, assigned, &mut left)?;
            }
            // Within the same write: were it the last that is done, nothing would find them again.
            remove_unmentioned(writer, left.difference(&wanted))?;
            Ok(changed)
        })?;
    }
    Ok(changed)
}

/// The place among the entities of every mention of every chunk; `None` for one that stays what it
/// is.
fn assign(reads: &[ExtractedChunk], resolved: &Resolved) -> Vec<Vec<Option<usize>>> {
    let mut assigned: Vec<Vec<Option<usize>>> =
        reads.iter().map(|read| vec![None; read.extract.mentions.len()]).collect();
    for (entity, profile) in resolved.entities.iter().enumerate() {
        for local in &profile.locals {
            for (read, mention) in &resolved.locals[*local].mentions {
                assigned[*read][*mention as usize] = Some(entity);
            }
        }
    }
    assigned
}

/// Puts in what is new or says something else now. Returns the row of every entity.
fn put_entities(
    writer: &mut StoreWriter<'_>,
    profiles: &[Profile],
) -> heed::Result<(Vec<Row>, bool)> {
    let (mut rows, mut changed) = (vec![], false);
    for profile in profiles {
        let id = entity_id(&profile.key);
        let record = EntityRecord {
            id,
            key: profile.key.clone(),
            name: profile.name.clone(),
            kind: profile.kind.clone(),
            description: profile.description.clone(),
            aliases: profile.aliases.clone(),
        };
        let (row, is_new) = writer.put_by_id(&record)?;
        changed |= is_new;
        rows.push(row);
    }
    Ok((rows, changed))
}

/// Takes out those of the entities that nothing mentions.
fn remove_unmentioned<'a>(
    writer: &mut StoreWriter<'_>,
    entities: impl Iterator<Item = &'a Row>,
) -> heed::Result<()> {
    for row in entities {
        if !writer.is_led_to((Layer::Entity, *row), Edge::Mentions)? {
            writer.remove_node::<EntityRecord>(*row)?;
        }
    }
    Ok(())
}
