//! The last write after resolving: merges, what is kept of entities by their names, and that it is
//! done.
use std::collections::{BTreeMap, BTreeSet, HashMap};

use halma_core::{Edge, Layer};

use super::entity_id;
use crate::extract::name_index::put_forms_of_prints;
use crate::extract::resolution::{Resolution, Scope};
use crate::extract::resolve::{Resolved, form_id};
use crate::store::{
    EntityRecord, FormKey, FormsState, Id, MergeRecord, Row, StoreWriter, StoredMerge,
};
use crate::terms::form;

/// Ends a resolution whose entities and chunks have been written. Returns whether that changed
/// anything.
pub(super) fn end(
    writer: &mut StoreWriter<'_>,
    resolution: &Resolution,
    rows: &[Row],
) -> heed::Result<bool> {
    let mut changed = put_merges(writer, resolution)?;
    changed |= note_entities(writer, resolution, rows)?;
    put_forms_of_prints(writer, &resolution.forms_of_prints)?;
    match &resolution.scope {
        Scope::Everything => writer.delete_form_entries(FormKey::Touched(0))?,
        Scope::Touched { touched, .. } => {
            for form in touched {
                writer.delete_form_entry(FormKey::Touched(*form))?;
            }
        }
    }
    for read in resolution.reads.iter() {
        writer.delete_form_entry(FormKey::ChangedChunk(read.chunk))?;
    }
    Ok(changed)
}

/// The keys of the kind of this one that are kept of the names that were resolved.
fn stored_keys(
    writer: &StoreWriter<'_>,
    scope: &Scope,
    of: impl Fn(Id) -> FormKey,
) -> heed::Result<Vec<FormKey>> {
    match scope {
        Scope::Everything => writer.form_keys(of(0))?.collect(),
        Scope::Touched { forms, .. } => {
            let mut keys = vec![];
            for form in forms {
                for key in writer.form_keys_of(of(*form))? {
                    keys.push(key?);
                }
            }
            Ok(keys)
        }
    }
}

/// Merges of what was resolved, each kept by one of the names in it.
fn put_merges(writer: &mut StoreWriter<'_>, resolution: &Resolution) -> heed::Result<bool> {
    let resolved = &resolution.resolved;
    let forms: HashMap<Id, Id> =
        resolved.locals.iter().map(|local| (local.print, form_id(&local.name.form))).collect();
    let by_print = entities_by_print(resolved);
    let mut stale: BTreeSet<(Id, Id)> = BTreeSet::new();
    for key in stored_keys(writer, &resolution.scope, |form| FormKey::Merge(form, 0))? {
        if let FormKey::Merge(form, id) = key {
            stale.insert((form, id));
        }
    }
    let mut ids: BTreeSet<Id> = stale.iter().map(|(_, id)| *id).collect();
    if let Scope::Everything = resolution.scope {
        ids.extend(writer.all_merges::<StoredMerge>()?.into_iter().map(|(id, _)| id));
    }
    let mut changed = false;
    for (id, record) in &resolved.merges {
        let entity = entity_of(record, &by_print);
        let entity = entity.map_or(0, |at| entity_id(&resolved.entities[at].key));
        let merge = StoredMerge { record: record.clone(), entity };
        if writer.merge(*id)?.as_ref() != Some(&merge) {
            writer.put_merge(*id, &merge)?;
            changed = true;
        }
        ids.remove(id);
        let print = record.one.prints.first();
        let form = print.and_then(|print| forms.get(print)).copied().unwrap_or_default();
        if !stale.remove(&(form, *id)) {
            writer.put_form_entry(FormKey::Merge(form, *id), &())?;
        }
    }
    for (form, id) in stale {
        writer.delete_form_entry(FormKey::Merge(form, id))?;
    }
    for id in ids {
        if writer.merge::<StoredMerge>(id)?.is_some() {
            writer.remove_merge(id)?;
            changed = true;
        }
    }
    Ok(changed)
}

/// Places of the entities with each print. A last name alone may be one thing here and another there,
/// with one print.
fn entities_by_print(resolved: &Resolved) -> HashMap<Id, Vec<usize>> {
    let mut by_print: HashMap<Id, Vec<usize>> = HashMap::new();
    for (entity, profile) in resolved.entities.iter().enumerate() {
        for local in &profile.locals {
            let entities = by_print.entry(resolved.locals[*local].print).or_default();
            if entities.last() != Some(&entity) {
                entities.push(entity);
            }
        }
    }
    by_print
}

/// The entity that holds most of what was joined.
fn entity_of(record: &MergeRecord, by_print: &HashMap<Id, Vec<usize>>) -> Option<usize> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for print in record.one.prints.iter().chain(&record.two.prints) {
        for entity in by_print.get(print).into_iter().flatten() {
            *counts.entry(*entity).or_default() += 1;
        }
    }
    counts.into_iter().max_by_key(|(at, count)| (*count, std::cmp::Reverse(*at))).map(|(at, _)| at)
}

/// Keeps entities by their names in the write that puts them in: were it the last that is done, what
/// no chunk is resolved to later would not be found again.
pub(super) fn note_written(
    writer: &mut StoreWriter<'_>,
    resolved: &Resolved,
    rows: &[Row],
) -> heed::Result<()> {
    let mut new = 0;
    for (profile, row) in resolved.entities.iter().zip(rows) {
        let key = FormKey::Entity(form_id(&form(&profile.name)), *row);
        if !writer.has_form_entry(key)? {
            writer.put_form_entry(key, &())?;
            new += 1;
        }
    }
    let state = writer.forms_state()?.unwrap_or_default();
    writer
        .put_form_entry(FormKey::State, &FormsState { entities: state.entities + new, ..state })?;
    Ok(())
}

/// Keeps which entities there are by their names, and how many in all. What is left of an entity
/// that no chunk is resolved to any more goes, unless something else mentions it.
fn note_entities(
    writer: &mut StoreWriter<'_>,
    resolution: &Resolution,
    rows: &[Row],
) -> heed::Result<bool> {
    let mut gone: BTreeSet<(Id, Row)> = BTreeSet::new();
    for key in stored_keys(writer, &resolution.scope, |form| FormKey::Entity(form, 0))? {
        if let FormKey::Entity(form, row) = key {
            gone.insert((form, row));
        }
    }
    let before = gone.len() as u64;
    for (profile, row) in resolution.resolved.entities.iter().zip(rows) {
        let of_name = form_id(&form(&profile.name));
        if !gone.remove(&(of_name, *row)) {
            writer.put_form_entry(FormKey::Entity(of_name, *row), &())?;
        }
    }
    let wanted: BTreeSet<Row> = rows.iter().copied().collect();
    let mut changed = false;
    for (form, row) in gone {
        writer.delete_form_entry(FormKey::Entity(form, row))?;
        if !wanted.contains(&row) && !writer.is_led_to((Layer::Entity, row), Edge::Mentions)? {
            writer.remove_node::<EntityRecord>(row)?;
            changed = true;
        }
    }
    let state = writer.forms_state()?.unwrap_or_default();
    let entities = state.entities + rows.len() as u64 - before;
    let state = FormsState { entities, everything: false, ..state };
    writer.put_form_entry(FormKey::State, &state)?;
    Ok(changed)
}
