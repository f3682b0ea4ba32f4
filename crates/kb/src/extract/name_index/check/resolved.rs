//! Pairs that were asked about, and what names were resolved to.
use std::collections::{BTreeMap, BTreeSet};

use super::{Differences, count, entry, readable};
use crate::extract::resolve::form_id;
use crate::store::{
    ChunkGraph, EntityRecord, FormKey, Id, PairVerdict, Row, StoreReader, StoredMerge, Task,
};
use crate::terms::form;

/// Pairs by their units and by their prints.
pub(super) fn check_pairs(
    reader: &StoreReader<'_>,
    differences: &mut Differences<'_>,
) -> heed::Result<()> {
    let mut pairs: BTreeMap<Id, (Id, Id)> = BTreeMap::new();
    for measured in reader.results::<(Id, Id, f32)>(Task::Near)? {
        let measured = readable(measured)?;
        pairs.extend(measured.map(|(key, (one, two, _))| (key.at, (one, two))));
    }
    for verdict in reader.results::<PairVerdict>(Task::SameEntity)? {
        let verdict = readable(verdict)?;
        pairs.extend(verdict.map(|(key, verdict)| (key.at, (verdict.one, verdict.two))));
    }
    // Of those whose results have changed, what is kept is of the former ones.
    let mut changed = BTreeSet::new();
    for key in reader.form_keys(FormKey::ChangedPair(0))? {
        if let FormKey::ChangedPair(id) = key? {
            changed.insert(id);
        }
    }
    for (id, prints) in pairs.iter().filter(|(id, _)| !changed.contains(id)) {
        if entry(reader, FormKey::Pair(*id))? != Some(*prints) {
            differences.note("pairs");
        }
    }
    let mut by_print = BTreeSet::new();
    for key in reader.form_keys(FormKey::Pair(0))? {
        let FormKey::Pair(id) = key? else { continue };
        if !pairs.contains_key(&id) && !changed.contains(&id) {
            differences.note("pairs");
        }
        let prints: Option<(Id, Id)> = entry(reader, FormKey::Pair(id))?;
        by_print.extend(prints.into_iter().flat_map(|(one, two)| [(one, id), (two, id)]));
    }
    for (print, id) in &by_print {
        if !reader.has_form_entry(FormKey::PairOfPrint(*print, *id))? {
            differences.note("pairs");
        }
    }
    let entries = count(reader, FormKey::PairOfPrint(0, 0))?;
    differences.compare_counts("pairs", by_print.len(), entries);
    Ok(())
}

/// Entities under the forms of their names.
pub(super) fn check_entities(
    reader: &StoreReader<'_>,
    total: u64,
    differences: &mut Differences<'_>,
) -> heed::Result<()> {
    let mut rows: BTreeSet<Row> = BTreeSet::new();
    for made in reader.results::<ChunkGraph>(Task::Graph)? {
        rows.extend(readable(made)?.into_iter().flat_map(|(_, made)| made.entities));
    }
    for row in &rows {
        let record = readable(reader.node::<EntityRecord>(*row))?.flatten();
        let key = record.map(|record| FormKey::Entity(form_id(&form(&record.name)), *row));
        let is_held = key.map_or(Ok(true), |key| reader.has_form_entry(key))?;
        differences.note_many("entities", u64::from(!is_held));
    }
    let entries = count(reader, FormKey::Entity(0, 0))?;
    differences.compare_counts("entities", rows.len(), entries);
    differences.note_many("totals", u64::from(entries as u64 != total));
    Ok(())
}

/// Merges under the form of a name in each.
pub(super) fn check_merges(
    reader: &StoreReader<'_>,
    differences: &mut Differences<'_>,
) -> heed::Result<()> {
    let Some(merges) = readable(reader.all_merges::<StoredMerge>())? else { return Ok(()) };
    let mut merges: BTreeSet<Id> = merges.into_iter().map(|(id, _)| id).collect();
    for key in reader.form_keys(FormKey::Merge(0, 0))? {
        if let FormKey::Merge(_, id) = key?
            && !merges.remove(&id)
        {
            differences.note("merges");
        }
    }
    differences.note_many("merges", merges.len() as u64);
    Ok(())
}
