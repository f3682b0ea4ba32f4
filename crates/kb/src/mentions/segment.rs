//! A part of the chunks with their names, as flat arrays that are followed from either end: from a
//! name to the sentences and chunks that hold it, and from a chunk to its names.
use std::ops::Range;

use crate::store::{ChunkNames, Row, UnitNode};

/// Chunks of one segment, at most.
pub(super) const SEGMENT: usize = 1 << 15;

/// Marks a node that is a chunk among those of sentences.
const IS_CHUNK: u32 = 1 << 31;

/// Lists of different lengths one after the other.
#[derive(Debug, Clone)]
struct Lists<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { starts: vec![0], items: vec![] }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "of one segment: far below 2^32")]
fn short(at: usize) -> u32 {
    at as u32
}

impl<T> Lists<T> {
    fn push(&mut self, items: impl IntoIterator<Item = T>) {
        self.items.extend(items);
        self.starts.push(short(self.items.len()));
    }

    fn range(&self, at: usize) -> Range<usize> {
        self.starts[at] as usize..self.starts[at + 1] as usize
    }

    fn get(&self, at: usize) -> &[T] {
        &self.items[self.range(at)]
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn shrink(&mut self) {
        self.starts.shrink_to_fit();
        self.items.shrink_to_fit();
    }
}

impl<T: Copy + Default> Lists<T> {
    /// The lists that say which of these hold each of `count` items, in order.
    fn inverted(&self, count: usize, key: impl Fn(&T) -> u32) -> Lists<u32> {
        let mut starts = vec![0_u32; count + 1];
        for item in &self.items {
            starts[key(item) as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let (mut next, mut items) = (starts.clone(), vec![0; self.items.len()]);
        for list in 0..self.len() {
            for item in self.get(list) {
                let place = &mut next[key(item) as usize];
                items[*place as usize] = short(list);
                *place += 1;
            }
        }
        Lists { starts, items }
    }
}

/// A name in a chunk, by its place among the entities of the segment, with how often.
#[derive(Debug, Clone, Copy, Default)]
struct NameCount {
    entity: u32,
    count: f32,
}

/// Chunks in the order of their rows. Chunks and entities are named by their places here.
#[derive(Debug, Default)]
pub(super) struct MentionSegment {
    rows: Vec<Row>,
    /// The entities of these chunks, ascending.
    entities: Vec<Row>,
    names: Lists<NameCount>,
    titles: Lists<u32>,
    /// The first sentence of each chunk.
    units: Vec<u32>,
    nodes: Lists<u32>,
    unit_entities: Lists<u32>,
    /// Of entities: the chunks that name them, those under them as a title, and the sentences.
    named_in: Lists<u32>,
    titled: Lists<u32>,
    in_units: Lists<u32>,
}

impl MentionSegment {
    /// Of chunks in the order of their rows.
    pub(super) fn new(chunks: &[(Row, ChunkNames)]) -> Self {
        let mut entities: Vec<Row> = vec![];
        for (_, chunk) in chunks {
            entities.extend(chunk.names.iter().map(|(row, _)| row));
            entities.extend(&chunk.titles);
            entities.extend(chunk.units.iter().flat_map(|unit| &unit.entities));
        }
        entities.sort_unstable();
        entities.dedup();
        entities.shrink_to_fit();
        // By row, because each is looked up dozens of times.
        let first = entities.first().copied().unwrap_or_default();
        let span = entities.last().map_or(0, |last| (last - first) as usize + 1);
        let mut places = vec![0_u32; span];
        for (at, row) in (0..).zip(&entities) {
            places[(row - first) as usize] = at;
        }
        let place = |row: &Row| places[(row - first) as usize];
        let mut segment = Self { units: vec![0], ..Self::default() };
        for (row, chunk) in chunks {
            segment.rows.push(*row);
            let name = |(row, count): &(Row, f32)| NameCount { entity: place(row), count: *count };
            segment.names.push(chunk.names.iter().map(name));
            segment.titles.push(chunk.titles.iter().map(place));
            for unit in &chunk.units {
                let node = |node: &UnitNode| node.row | if node.is_chunk { IS_CHUNK } else { 0 };
                segment.nodes.push(unit.nodes.iter().map(node));
                segment.unit_entities.push(unit.entities.iter().map(place));
            }
            segment.units.push(short(segment.nodes.len()));
        }
        let count = entities.len();
        segment.named_in = segment.names.inverted(count, |name| name.entity);
        segment.titled = segment.titles.inverted(count, |entity| *entity);
        segment.in_units = segment.unit_entities.inverted(count, |entity| *entity);
        segment.entities = entities;
        segment.nodes.shrink();
        segment.unit_entities.shrink();
        segment.names.shrink();
        segment
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn entity_count(&self) -> usize {
        self.entities.len()
    }

    pub(super) fn row(&self, chunk: u32) -> Row {
        self.rows[chunk as usize]
    }

    pub(super) fn find(&self, row: Row) -> Option<u32> {
        let (first, last) = (*self.rows.first()?, *self.rows.last()?);
        if row < first || row > last {
            return None;
        }
        // Rows are mostly without gaps.
        let guess = (row - first) as usize;
        if self.rows.get(guess) == Some(&row) {
            return Some(short(guess));
        }
        self.rows.binary_search(&row).ok().map(short)
    }

    pub(super) fn find_entity(&self, row: Row) -> Option<u32> {
        self.entities.binary_search(&row).ok().map(short)
    }

    pub(super) fn entity_row(&self, entity: u32) -> Row {
        self.entities[entity as usize]
    }

    /// The entities that a chunk names, with how often, in the order of their rows or as stored.
    pub(super) fn names(&self, chunk: u32) -> impl Iterator<Item = (u32, f32)> {
        self.names.get(chunk as usize).iter().map(|name| (name.entity, name.count))
    }

    pub(super) fn titles(&self, chunk: u32) -> &[u32] {
        self.titles.get(chunk as usize)
    }

    /// The different entities that a chunk names or stands under.
    pub(super) fn entities_of(&self, chunk: u32) -> impl Iterator<Item = u32> {
        let named = move |title: &u32| self.names(chunk).any(|(entity, _)| entity == *title);
        let titles = self.titles(chunk).iter().copied().filter(move |title| !named(title));
        self.names(chunk).map(|(entity, _)| entity).chain(titles)
    }

    pub(super) fn units(&self, chunk: u32) -> Range<u32> {
        self.units[chunk as usize]..self.units[chunk as usize + 1]
    }

    pub(super) fn chunk_of_unit(&self, unit: u32) -> u32 {
        short(self.units.partition_point(|first| *first <= unit) - 1)
    }

    pub(super) fn unit_nodes(&self, unit: u32) -> impl Iterator<Item = UnitNode> {
        let nodes = self.nodes.get(unit as usize).iter();
        nodes.map(|node| UnitNode { is_chunk: node & IS_CHUNK != 0, row: node & !IS_CHUNK })
    }

    pub(super) fn unit_entities(&self, unit: u32) -> &[u32] {
        self.unit_entities.get(unit as usize)
    }

    pub(super) fn chunks_naming(&self, entity: u32) -> &[u32] {
        self.named_in.get(entity as usize)
    }

    pub(super) fn chunks_under(&self, entity: u32) -> &[u32] {
        self.titled.get(entity as usize)
    }

    pub(super) fn units_with(&self, entity: u32) -> &[u32] {
        self.in_units.get(entity as usize)
    }

    /// How often a chunk names an entity.
    pub(super) fn count(&self, chunk: u32, entity: u32) -> f32 {
        self.names(chunk).find(|(named, _)| *named == entity).map_or(0.0, |(_, count)| count)
    }

    /// What the segment was made of.
    pub(super) fn record(&self, chunk: u32) -> ChunkNames {
        let rows = |entities: &[u32]| entities.iter().map(|at| self.entity_row(*at)).collect();
        let unit = |unit: u32| crate::store::Unit {
            nodes: self.unit_nodes(unit).collect(),
            entities: rows(self.unit_entities(unit)),
        };
        ChunkNames {
            names: self.names(chunk).map(|(at, count)| (self.entity_row(at), count)).collect(),
            titles: rows(self.titles(chunk)),
            units: self.units(chunk).map(unit).collect(),
        }
    }
}
