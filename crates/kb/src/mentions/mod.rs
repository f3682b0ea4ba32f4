//! Names with the sentences and chunks that hold them, in memory: what graph search walks over. A
//! list of segments; what has changed is a new segment, and its chunks in older ones are marked.
mod draft;
mod record;
mod segment;
mod units;

use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) use draft::{DraftName, DraftNames, fill};
pub(crate) use record::{ChunkSource, chunk_terms, short_hash};

use self::record::NameKeys;
use self::segment::{MentionSegment, SEGMENT};
use crate::KbError;
use crate::parallel::in_order;
use crate::store::{ChunkNames, Row, RowSet, Store, StoreReader, UnitNode};

/// What is walked over.
#[derive(Debug, Clone, Default)]
pub(crate) struct MentionGraph {
    /// To where in the log of changes it is up to date.
    position: u64,
    parts: Vec<Part>,
}

/// A segment with what of it still counts.
#[derive(Debug, Clone)]
struct Part {
    segment: Arc<MentionSegment>,
    alive: Arc<Alive>,
}

#[derive(Debug, Clone, Default)]
struct Alive {
    /// Places of chunks that were removed or replaced.
    dead: RowSet,
    chunks: usize,
    /// For each entity how many of the chunks name it or stand under it.
    frequencies: Vec<u32>,
}

/// A chunk in one of the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ChunkPlace {
    part: u32,
    chunk: u32,
}

/// A sentence in one of the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UnitPlace {
    part: u32,
    unit: u32,
}

/// An entity: its places in the parts that have it.
#[derive(Debug, Clone)]
pub(crate) struct EntityPlaces {
    places: Vec<(u32, u32)>,
    /// Chunks that name it or stand under it.
    pub(crate) frequency: usize,
}

impl EntityPlaces {
    /// i(e) = 1 / log₂(1 + df), df counting the chunks that name the entity or stand under it.
    pub(crate) fn importance(&self) -> f32 {
        importance(self.frequency)
    }
}

/// i(e) = 1 / log₂(1 + df) of what stands in df chunks.
pub(crate) fn importance(count: usize) -> f32 {
    let count = u16::try_from(count).unwrap_or(u16::MAX).max(1);
    1.0 / (1.0 + f32::from(count)).log2()
}

impl Part {
    fn new(chunks: &[(Row, ChunkNames)]) -> Self {
        let segment = MentionSegment::new(chunks);
        let mut alive = Alive {
            dead: RowSet::default(),
            chunks: segment.len(),
            frequencies: vec![0; segment.entity_count()],
        };
        for chunk in 0..u32::try_from(segment.len()).unwrap_or(u32::MAX) {
            for entity in segment.entities_of(chunk) {
                alive.frequencies[entity as usize] += 1;
            }
        }
        Self { segment: Arc::new(segment), alive: Arc::new(alive) }
    }

    /// The place of a chunk that still counts.
    fn find(&self, row: Row) -> Option<u32> {
        self.segment.find(row).filter(|chunk| !self.alive.dead.contains(*chunk))
    }

    fn remove(&mut self, chunk: u32) {
        let alive = Arc::make_mut(&mut self.alive);
        alive.dead.insert(chunk);
        alive.chunks -= 1;
        for entity in self.segment.entities_of(chunk) {
            alive.frequencies[entity as usize] -= 1;
        }
    }

    fn records(&self) -> impl Iterator<Item = (Row, ChunkNames)> {
        let chunks = 0..u32::try_from(self.segment.len()).unwrap_or(u32::MAX);
        let alive = chunks.filter(|chunk| !self.alive.dead.contains(*chunk));
        alive.map(|chunk| (self.segment.row(chunk), self.segment.record(chunk)))
    }
}

impl MentionGraph {
    /// Reads everything, on all cores; what the build has not made is made here. What is published
    /// meanwhile may be in it, and [`MentionGraph::update`] takes it in again.
    pub(crate) fn load(store: &Store) -> Result<Self, KbError> {
        let (position, rows) = store.read(|reader| {
            Ok((reader.change_position()?, reader.all_rows(halma_core::Layer::Chunk)?))
        })?;
        let mut walk = Self { position, parts: vec![] };
        let segments: Vec<&[Row]> = rows.chunks(SEGMENT).collect();
        let read = |keys: &mut NameKeys, rows: &&[Row]| {
            let records = store.read(|reader| records(reader, keys, rows))?;
            Ok(Part::new(&records))
        };
        in_order(&segments, read, |part| {
            walk.parts.push(part);
            Ok(())
        })?;
        Ok(walk)
    }

    /// Takes in what has changed; `false` when that is not known any more.
    pub(crate) fn update(&mut self, store: &Store) -> Result<bool, KbError> {
        store.read(|reader| {
            let Some(changes) = reader.changes_since(self.position)? else { return Ok(false) };
            let touched = reader.chunks_touched_by(&changes)?;
            for row in &touched {
                for part in &mut self.parts {
                    if let Some(chunk) = part.find(*row) {
                        part.remove(chunk);
                    }
                }
            }
            let records = records(reader, &mut NameKeys::default(), &touched)?;
            for records in records.chunks(SEGMENT) {
                self.parts.push(Part::new(records));
            }
            self.position = reader.change_position()?;
            self.merge();
            Ok(true)
        })
    }

    /// Keeps the number of parts small: the last ones are joined while they fit into one segment
    /// and the one before is not much larger, and one of which little counts is made smaller.
    fn merge(&mut self) {
        self.parts.retain(|part| part.alive.chunks > 0);
        for part in &mut self.parts {
            if part.alive.chunks * 2 < part.segment.len() {
                *part = Part::new(&part.records().collect::<Vec<_>>());
            }
        }
        while let [.., before, last] = self.parts.as_slice() {
            let (larger, smaller) = (before.alive.chunks, last.alive.chunks);
            if larger + smaller > SEGMENT || larger > smaller.saturating_mul(4).max(64) {
                break;
            }
            let joined: BTreeMap<Row, ChunkNames> =
                before.records().chain(last.records()).collect();
            let joined = Part::new(&joined.into_iter().collect::<Vec<_>>());
            self.parts.truncate(self.parts.len() - 2);
            self.parts.push(joined);
        }
    }

    pub(crate) fn find(&self, row: Row) -> Option<ChunkPlace> {
        let mut parts = (0..).zip(&self.parts);
        parts.find_map(|(part, slice)| Some(ChunkPlace { part, chunk: slice.find(row)? }))
    }

    pub(crate) fn entity(&self, row: Row) -> EntityPlaces {
        let mut entity = EntityPlaces { places: vec![], frequency: 0 };
        for (part, slice) in (0..).zip(&self.parts) {
            if let Some(number) = slice.segment.find_entity(row) {
                entity.places.push((part, number));
                entity.frequency += slice.alive.frequencies[number as usize] as usize;
            }
        }
        entity
    }

    /// [`EntityPlaces::importance`] of an entity whose places are not needed.
    pub(crate) fn importance(&self, row: Row) -> f32 {
        let frequency = |part: &Part| {
            let entity = part.segment.find_entity(row)?;
            Some(part.alive.frequencies[entity as usize] as usize)
        };
        importance(self.parts.iter().filter_map(frequency).sum())
    }

    fn part(&self, part: u32) -> &Part {
        &self.parts[part as usize]
    }

    /// The chunks that name an entity, with how often.
    pub(crate) fn chunks_naming<'w>(
        &'w self,
        entity: &'w EntityPlaces,
    ) -> impl Iterator<Item = (Row, f32)> + 'w {
        entity.places.iter().flat_map(|(part, entity)| {
            let part = self.part(*part);
            let alive = |chunk: &&u32| !part.alive.dead.contains(**chunk);
            let chunks = part.segment.chunks_naming(*entity).iter().filter(alive);
            chunks.map(|chunk| (part.segment.row(*chunk), part.segment.count(*chunk, *entity)))
        })
    }

    /// The chunks under a title or heading that is the name of an entity.
    pub(crate) fn chunks_under<'w>(
        &'w self,
        entity: &'w EntityPlaces,
    ) -> impl Iterator<Item = Row> + 'w {
        entity.places.iter().flat_map(|(part, entity)| {
            let part = self.part(*part);
            let alive = |chunk: &&u32| !part.alive.dead.contains(**chunk);
            let chunks = part.segment.chunks_under(*entity).iter().filter(alive);
            chunks.map(|chunk| part.segment.row(*chunk))
        })
    }

    /// The sentences that hold an entity.
    pub(crate) fn units_with<'w>(
        &'w self,
        entity: &'w EntityPlaces,
    ) -> impl Iterator<Item = UnitPlace> + 'w {
        entity.places.iter().flat_map(|(part, entity)| {
            let slice = self.part(*part);
            let no_dead = slice.alive.chunks == slice.segment.len();
            let alive = move |unit: &&u32| {
                no_dead || !slice.alive.dead.contains(slice.segment.chunk_of_unit(**unit))
            };
            let units = slice.segment.units_with(*entity).iter().filter(alive);
            units.map(|unit| UnitPlace { part: *part, unit: *unit })
        })
    }

    /// The sentences of a chunk that hold an entity.
    pub(crate) fn units_of<'w>(
        &'w self,
        place: ChunkPlace,
        entity: &EntityPlaces,
    ) -> impl Iterator<Item = UnitPlace> + 'w {
        let segment = &self.part(place.part).segment;
        let in_part = entity.places.iter().find(|(part, _)| *part == place.part);
        let in_part = in_part.map(|(_, entity)| *entity);
        let units = if in_part.is_some() { segment.units(place.chunk) } else { 0..0 };
        let holds = move |unit: &u32| {
            in_part.is_some_and(|entity| segment.unit_entities(*unit).contains(&entity))
        };
        units.filter(holds).map(move |unit| UnitPlace { part: place.part, unit })
    }

    pub(crate) fn unit_nodes(&self, place: UnitPlace) -> impl Iterator<Item = UnitNode> {
        self.part(place.part).segment.unit_nodes(place.unit)
    }

    pub(crate) fn unit_entities(&self, place: UnitPlace) -> impl Iterator<Item = Row> {
        let segment = &self.part(place.part).segment;
        segment.unit_entities(place.unit).iter().map(|entity| segment.entity_row(*entity))
    }

    /// The entities that a chunk names.
    pub(crate) fn names(&self, place: ChunkPlace) -> impl Iterator<Item = Row> {
        let segment = &self.part(place.part).segment;
        segment.names(place.chunk).map(|(entity, _)| segment.entity_row(entity))
    }

    /// The entities that are titles or headings of a chunk.
    pub(crate) fn titles(&self, place: ChunkPlace) -> impl Iterator<Item = Row> {
        let segment = &self.part(place.part).segment;
        segment.titles(place.chunk).iter().map(|entity| segment.entity_row(*entity))
    }

    /// How often a chunk names an entity, and whether it stands under it.
    pub(crate) fn ties(&self, place: ChunkPlace, entity: &EntityPlaces) -> (f32, bool) {
        let in_part = entity.places.iter().find(|(part, _)| *part == place.part);
        let Some((part, entity)) = in_part else { return (0.0, false) };
        let segment = &self.part(*part).segment;
        (segment.count(place.chunk, *entity), segment.titles(place.chunk).contains(entity))
    }
}

/// The records of chunks; of those that are gone there is none.
fn records(
    reader: &StoreReader<'_>,
    keys: &mut NameKeys,
    rows: &[Row],
) -> heed::Result<Vec<(Row, ChunkNames)>> {
    let mut records = Vec::with_capacity(rows.len());
    for row in rows {
        let stored = reader.chunk_names(*row)?;
        let record = match stored {
            Some(record) => Some(record),
            None => match ChunkSource::load(reader, *row)? {
                Some(source) => Some(record::names_of(reader, keys, &source)?),
                None => None,
            },
        };
        records.extend(record.map(|record| (*row, record)));
    }
    Ok(records)
}
