//! What the facts of a chunk are made into: mentions, and facts between entities.
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use halma_core::{Edge, Layer};

use crate::extract::extracted_chunk::ExtractedChunk;
use crate::extract::resolve::Resolved;
use crate::store::{
    ChunkGraph, EntityRecord, FactRecord, Id, Link, Row, StoreWriter, Task, UnitKey, hash,
};

/// What a mention came to.
struct MentionedEntity<'a> {
    row: Row,
    key: Cow<'a, str>,
}

/// What the mentions of a chunk were resolved to.
#[derive(Clone, Copy)]
pub(super) struct Assigned<'a> {
    /// The place of each mention among the entities; `None` for one that stays what it is.
    pub(super) entities: &'a [Option<usize>],
    pub(super) resolved: &'a Resolved,
    /// The rows of all entities.
    pub(super) rows: &'a [Row],
}

/// Writes the mentions and facts of a chunk unless they are there already. Entities that it
/// mentioned before are put into `left`.
pub(super) fn put_chunk(
    writer: &mut StoreWriter<'_>,
    read: &ExtractedChunk,
    assigned: Assigned<'_>,
    left: &mut BTreeSet<Row>,
) -> heed::Result<bool> {
    if is_as_before(read, assigned) {
        return Ok(false);
    }
    let mentioned = mentioned(writer, read, assigned)?;
    let print = print(read, &mentioned);
    let key = UnitKey::of(Task::Graph, (Layer::Chunk, read.chunk));
    if writer.is_done(key, print)? {
        return Ok(false);
    }
    take_back(writer, read.chunk, left)?;
    let mut weights: BTreeMap<Row, f32> = BTreeMap::new();
    for (mention, entity) in read.extract.mentions.iter().zip(&mentioned) {
        #[expect(clippy::cast_precision_loss, reason = "a passage is short")]
        let times = mention.times as f32;
        *weights.entry(entity.row).or_default() += times;
    }
    let chunk = (Layer::Chunk, read.chunk);
    for (entity, weight) in weights {
        let to = (Layer::Entity, entity);
        writer.put_edge(Link { from: chunk, edge: Edge::Mentions, to, weight })?;
    }
    let facts = facts(read, &mentioned);
    let first = writer.take_rows(Layer::Fact, facts.len())?;
    let mut row = first;
    for fact in &facts {
        writer.put_node(row, fact)?;
        writer.weigh_edge(fact.relates(1.0))?;
        row += 1;
    }
    let entities = mentioned.iter().map(|entity| entity.row).collect();
    writer.put_done(key, print, &ChunkGraph { entities, facts: (first, row) })?;
    Ok(true)
}

/// Whether the mentions that were resolved are what they were. Known only where others were not: a
/// chunk that has changed is resolved as a whole.
fn is_as_before(read: &ExtractedChunk, assigned: Assigned<'_>) -> bool {
    let Some(outside) = &read.outside else { return false };
    let rows = assigned.rows;
    let now = assigned.entities.iter().map(|entity| entity.map(|entity| rows[entity]));
    now.zip(&outside.entities).all(|(now, before)| now.is_none_or(|now| now == *before))
}

/// What each mention of a chunk is, resolved now or before.
fn mentioned<'a>(
    writer: &StoreWriter<'_>,
    read: &ExtractedChunk,
    assigned: Assigned<'a>,
) -> heed::Result<Vec<MentionedEntity<'a>>> {
    let Assigned { entities, resolved, rows } = assigned;
    let mut mentioned = vec![];
    for (number, entity) in (0_u32..).zip(entities) {
        mentioned.push(if let Some(entity) = entity {
            let key = Cow::Borrowed(resolved.entities[*entity].key.as_str());
            MentionedEntity { row: rows[*entity], key }
        } else {
            let row = read.entity_outside(number).unwrap_or(Row::MAX);
            let record: EntityRecord = writer.linked(row)?;
            MentionedEntity { row, key: Cow::Owned(record.key) }
        });
    }
    Ok(mentioned)
}

/// The facts of a chunk between the entities that its mentions came to.
fn facts(read: &ExtractedChunk, mentioned: &[MentionedEntity<'_>]) -> Vec<FactRecord> {
    let mut facts = vec![];
    let mut seen = HashSet::new();
    for stated in &read.extract.facts {
        let [head, tail] = [stated.head, stated.tail].map(|end| &mentioned[end as usize]);
        let parts = [head.key.as_bytes(), stated.relation.as_bytes(), tail.key.as_bytes()];
        let id = hash(&[&read.chunk_id.to_be_bytes(), parts[0], parts[1], parts[2]]);
        // Two names of one entity say nothing about each other.
        if head.row != tail.row && seen.insert(id) {
            let (relation, text) = (stated.relation.clone(), stated.text.clone());
            let (head, tail) = (head.row, tail.row);
            facts.push(FactRecord { id, chunk: read.chunk, head, relation, tail, text });
        }
    }
    facts
}

/// What a chunk's part of the graph is made of. The rows of entities are in it because the same
/// entities may stand in others when they went and came back.
fn print(read: &ExtractedChunk, mentioned: &[MentionedEntity<'_>]) -> Id {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&read.chunk_id.to_be_bytes());
    for (mention, entity) in read.extract.mentions.iter().zip(mentioned) {
        hasher.update(&entity.key.len().to_be_bytes()).update(entity.key.as_bytes());
        hasher.update(&entity.row.to_be_bytes()).update(&mention.times.to_be_bytes());
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
    let made = writer.result_of::<ChunkGraph>(key)?.map(|(_, made)| made);
    for row in made.iter().flat_map(|made| made.facts.0..made.facts.1) {
        let Some(fact) = writer.node::<FactRecord>(row)? else { continue };
        writer.weigh_edge(fact.relates(-1.0))?;
        writer.remove_node::<FactRecord>(row)?;
    }
    writer.forget_unit(key)?;
    let mentions = writer.edges_from((Layer::Chunk, chunk), Some(Edge::Mentions))?;
    left.extend(mentions.iter().map(|link| link.to.1));
    mentions.iter().try_for_each(|link| writer.remove_edge(link))
}
