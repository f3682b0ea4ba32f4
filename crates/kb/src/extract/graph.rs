//! The entity graph as it is stored: entities, who mentions them, facts, and how they relate.
//! Only what changed is written.
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use halma_core::{Edge, Layer};
use serde::{Deserialize, Serialize};

use super::extraction::{ExtractedChunk, LeftOut};
use super::resolve::{MergeRecord, Profile, Resolved};
use crate::KbError;
use crate::store::{
    EntityRecord, FactRecord, Id, Link, Row, Rows, Store, StoreWriter, Task, UnitKey, hash,
};

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

/// What the facts of a chunk were made into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Made {
    /// The entity of each sighting.
    pub(crate) entities: Vec<Row>,
    pub(crate) facts: Rows,
}

/// A merge as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredMerge {
    pub(crate) record: MergeRecord,
    /// The entity that both are now.
    pub(crate) entity: Id,
}

pub(crate) fn entity_id(key: &str) -> Id {
    hash(&[key.as_bytes()])
}

/// Brings the stored graph to what was resolved.
pub(super) fn write(
    store: &Store,
    reads: &[ExtractedChunk],
    resolved: &Resolved,
) -> Result<Written, KbError> {
    let mut written = Written {
        entities: resolved.entities.len(),
        facts: reads.iter().map(|read| read.extract.facts.len()).sum(),
        merges: resolved.merges.len(),
        left_out: LeftOut::default(),
        changed: false,
    };
    for read in reads {
        written.left_out.add(read.extract.left_out);
    }
    let (rows, changed) = store.write(|writer| {
        let put = put_entities(writer, &resolved.entities)?;
        // Until each chunk leads to what it names.
        if put.1 {
            writer.set_unsettled(true)?;
        }
        Ok(put)
    })?;
    written.changed |= changed;
    let assigned = assign(reads, resolved);
    let wanted: BTreeSet<Row> = rows.iter().copied().collect();
    for (batch, places) in reads.chunks(BATCH).zip(assigned.chunks(BATCH)) {
        written.changed |= store.write(|writer| {
            let (mut changed, mut left) = (false, BTreeSet::new());
            for (read, entities) in batch.iter().zip(places) {
                changed |= put_chunk(writer, read, (entities, resolved, &rows), &mut left)?;
            }
            // Within the same write: were it the last that is done, nothing would find them again.
            remove_unmentioned(writer, left.difference(&wanted))?;
            Ok(changed)
        })?;
    }
    written.changed |= store.write(|writer| put_merges(writer, resolved))?;
    Ok(written)
}

/// The place among the entities of every sighting of every chunk.
fn assign(reads: &[ExtractedChunk], resolved: &Resolved) -> Vec<Vec<usize>> {
    let mut assigned: Vec<Vec<usize>> =
        reads.iter().map(|read| vec![usize::MAX; read.extract.sightings.len()]).collect();
    for (entity, profile) in resolved.entities.iter().enumerate() {
        for local in &profile.locals {
            for (read, sighting) in &resolved.locals[*local].sightings {
                assigned[*read][*sighting as usize] = entity;
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

/// Writes the mentions and facts of a chunk unless they are there already. Entities that it
/// mentioned before are put into `left`.
fn put_chunk(
    writer: &mut StoreWriter<'_>,
    read: &ExtractedChunk,
    (entities, resolved, rows): (&[usize], &Resolved, &[Row]),
    left: &mut BTreeSet<Row>,
) -> heed::Result<bool> {
    let print = print(read, (entities, resolved, rows));
    let key = UnitKey::of(Task::Graph, (Layer::Chunk, read.chunk));
    let at = |sighting: u32| rows[entities[sighting as usize]];
    if writer.is_done(key, print)? {
        return Ok(false);
    }
    take_back(writer, read.chunk, left)?;
    let mut weights: BTreeMap<Row, f32> = BTreeMap::new();
    for (number, sighting) in (0_u32..).zip(&read.extract.sightings) {
        #[expect(clippy::cast_precision_loss, reason = "a passage is short")]
        let times = sighting.times as f32;
        *weights.entry(at(number)).or_default() += times;
    }
    let chunk = (Layer::Chunk, read.chunk);
    for (entity, weight) in weights {
        let to = (Layer::Entity, entity);
        writer.put_edge(Link { from: chunk, edge: Edge::Mentions, to, weight })?;
    }
    let facts = facts(read, (entities, resolved, rows));
    let first = writer.take_rows(Layer::Fact, facts.len())?;
    let mut row = first;
    for fact in &facts {
        writer.put_node(row, fact)?;
        writer.weigh_edge(relates(fact), 1.0)?;
        row += 1;
    }
    let entities = entities.iter().map(|entity| rows[*entity]).collect();
    writer.put_done(key, print, &Made { entities, facts: (first, row) })?;
    Ok(true)
}

/// The facts of a chunk between the entities that its sightings came to.
fn facts(
    read: &ExtractedChunk,
    (entities, resolved, rows): (&[usize], &Resolved, &[Row]),
) -> Vec<FactRecord> {
    let at = |sighting: u32| rows[entities[sighting as usize]];
    let key = |sighting: u32| resolved.entities[entities[sighting as usize]].key.as_bytes();
    let mut facts = vec![];
    let mut seen = HashSet::new();
    for stated in &read.extract.facts {
        let (head, tail) = (at(stated.head), at(stated.tail));
        let parts = [key(stated.head), stated.relation.as_bytes(), key(stated.tail)];
        let id = hash(&[&read.chunk_id.to_be_bytes(), parts[0], parts[1], parts[2]]);
        // Two names of one entity say nothing about each other.
        if head != tail && seen.insert(id) {
            let (relation, text) = (stated.relation.clone(), stated.text.clone());
            facts.push(FactRecord { id, chunk: read.chunk, head, relation, tail, text });
        }
    }
    facts
}

fn relates(fact: &FactRecord) -> ((Layer, Row), Edge, (Layer, Row)) {
    ((Layer::Entity, fact.head), Edge::Relates, (Layer::Entity, fact.tail))
}

/// What a chunk's part of the graph is made of. The rows of entities are in it because the same
/// entities may stand in others when they went and came back.
fn print(read: &ExtractedChunk, (entities, resolved, rows): (&[usize], &Resolved, &[Row])) -> Id {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&read.chunk_id.to_be_bytes());
    for (sighting, entity) in read.extract.sightings.iter().zip(entities) {
        let key = &resolved.entities[*entity].key;
        hasher.update(&key.len().to_be_bytes()).update(key.as_bytes());
        hasher.update(&rows[*entity].to_be_bytes()).update(&sighting.times.to_be_bytes());
    }
    for fact in &read.extract.facts {
        hasher.update(&fact.head.to_be_bytes()).update(&fact.tail.to_be_bytes());
        for text in [&fact.relation, &fact.text] {
            hasher.update(&text.len().to_be_bytes()).update(text.as_bytes());
        }
    }
    hash(&[hasher.finalize().as_bytes()])
}

/// Takes out what the facts of a chunk were made into. The entities that it mentioned are put into
/// `left`.
fn take_back(
    writer: &mut StoreWriter<'_>,
    chunk: Row,
    left: &mut BTreeSet<Row>,
) -> heed::Result<()> {
    let key = UnitKey::of(Task::Graph, (Layer::Chunk, chunk));
    let made = writer.result_of::<Made>(key)?.map(|(_, made)| made);
    for row in made.iter().flat_map(|made| made.facts.0..made.facts.1) {
        let Some(fact) = writer.node::<FactRecord>(row)? else { continue };
        writer.weigh_edge(relates(&fact), -1.0)?;
        writer.remove_node::<FactRecord>(row)?;
    }
    writer.forget_unit(key)?;
    let mentions = writer.edges_from((Layer::Chunk, chunk), Some(Edge::Mentions))?;
    left.extend(mentions.iter().map(|link| link.to.1));
    mentions.iter().try_for_each(|link| writer.remove_edge(link))
}

fn put_merges(writer: &mut StoreWriter<'_>, resolved: &Resolved) -> heed::Result<bool> {
    // A last name alone may be one thing here and another there, with one print.
    let mut by_print: HashMap<Id, Vec<usize>> = HashMap::new();
    for (entity, profile) in resolved.entities.iter().enumerate() {
        for local in &profile.locals {
            let held = by_print.entry(resolved.locals[*local].print).or_default();
            if held.last() != Some(&entity) {
                held.push(entity);
            }
        }
    }
    let mut held: BTreeMap<Id, StoredMerge> = writer.all_merges()?.into_iter().collect();
    let mut changed = false;
    for (id, record) in &resolved.merges {
        let entity = entity_of(record, &by_print);
        let entity = entity.map_or(0, |at| entity_id(&resolved.entities[at].key));
        let merge = StoredMerge { record: record.clone(), entity };
        if held.remove(id).as_ref() != Some(&merge) {
            writer.put_merge(*id, &merge)?;
            changed = true;
        }
    }
    for id in held.keys() {
        writer.remove_merge(*id)?;
        changed = true;
    }
    Ok(changed)
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
