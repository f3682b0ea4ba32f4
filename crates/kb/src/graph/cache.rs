//! Entities with the chunks that name them, and chunks with the entities in each of their sentences,
//! read from the store when a search first needs them and kept until the base changes. So opening
//! costs nothing, whatever the size of the base, and a question pays for what it touches.
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use halma_core::text::normalise_name;
use halma_core::{Edge, Layer};

use super::aliases::AliasIndex;
use super::units::{NamedEntity, Unit, units};
use crate::lexical::Languages;
use crate::store::{
    At, ChunkRecord, DocumentLanguages, DocumentRecord, EntityRecord, Row, SectionRecord,
    StoreReader,
};

/// Entries of one kind that are kept; beyond it the cache starts over.
const MOST: usize = 200_000;

/// Entities that facts lead to from one, at most.
const MOST_RELATED: usize = 32;

/// Chunks that one tag leads to, at most.
const MOST_TAGGED: usize = 20_000;

/// An entity with where it is named.
#[derive(Debug)]
pub(crate) struct CachedEntity {
    pub(crate) name: String,
    /// Rows of chunks that name it, ascending, with how often.
    pub(crate) chunks: Vec<(Row, f32)>,
    /// Rows of chunks under a title or heading that is its name, ascending.
    pub(crate) titles: Vec<Row>,
    /// i(e): 1 for what one chunk names, less for what many name.
    pub(crate) importance: f32,
}

/// A chunk with the entities that it names and stands under.
#[derive(Debug)]
pub(crate) struct CachedChunk {
    pub(crate) units: Vec<Unit>,
    pub(crate) titles: Vec<Row>,
    pub(crate) names: Vec<Row>,
}

#[derive(Debug, Default)]
pub(crate) struct GraphCache {
    entities: Cached<Arc<CachedEntity>>,
    keys: Cached<Arc<str>>,
    chunks: Cached<Arc<CachedChunk>>,
    terms: Cached<Arc<[u32]>>,
    tagged: Cached<Arc<[Row]>>,
    languages: OnceLock<Languages>,
    aliases: OnceLock<AliasIndex>,
    related: Cached<Arc<[(Row, f32)]>>,
}

type Cached<T> = RwLock<HashMap<Row, T>>;

/// What is cached under `key`, computed when it is missing.
fn cached<K: Eq + Hash + Copy, T: Clone>(
    map: &RwLock<HashMap<K, T>>,
    key: K,
    make: impl FnOnce() -> heed::Result<T>,
) -> heed::Result<T> {
    if let Some(found) = map.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(found.clone());
    }
    let value = make()?;
    let mut map = map.write().unwrap_or_else(PoisonError::into_inner);
    if map.len() >= MOST {
        map.clear();
    }
    map.insert(key, value.clone());
    Ok(value)
}

impl GraphCache {
    pub(crate) fn entity(
        &self,
        reader: &StoreReader<'_>,
        row: Row,
    ) -> heed::Result<Arc<CachedEntity>> {
        cached(&self.entities, row, || {
            let name = reader.node::<EntityRecord>(row)?.map(|record| record.name);
            let mut entity = CachedEntity {
                name: name.unwrap_or_default(),
                chunks: vec![],
                titles: vec![],
                importance: 0.0,
            };
            for link in reader.edges_to((Layer::Entity, row), Some(Edge::Mentions))? {
                match link.from {
                    (Layer::Chunk, chunk) => entity.chunks.push((chunk, link.weight)),
                    (Layer::Document, document) => {
                        let record: DocumentRecord = reader.linked(document)?;
                        entity.titles.extend(record.chunks.0..record.chunks.1);
                    }
                    (Layer::Section, section) => {
                        let record: SectionRecord = reader.linked(section)?;
                        entity.titles.extend(record.chunks.0..record.chunks.1);
                    }
                    _ => {}
                }
            }
            entity.chunks.sort_unstable_by_key(|(row, _)| *row);
            entity.titles.sort_unstable();
            entity.titles.dedup();
            entity.importance = importance(places(&entity));
            Ok(Arc::new(entity))
        })
    }

    pub(crate) fn chunk(
        &self,
        reader: &StoreReader<'_>,
        row: Row,
    ) -> heed::Result<Arc<CachedChunk>> {
        cached(&self.chunks, row, || {
            let mut chunk = CachedChunk { units: vec![], titles: vec![], names: vec![] };
            let Some(record) = reader.node::<ChunkRecord>(row)? else {
                return Ok(Arc::new(chunk));
            };
            let named = |at: At| -> heed::Result<Vec<Row>> {
                let links = reader.edges_from(at, Some(Edge::Mentions))?;
                Ok(links.into_iter().map(|link| link.to.1).collect())
            };
            chunk.names = named((Layer::Chunk, row))?;
            chunk.titles = named((Layer::Document, record.document))?;
            chunk.titles.extend(named((Layer::Section, record.section))?);
            let mut all: Vec<NamedEntity> = vec![];
            for entity in chunk.names.iter().chain(&chunk.titles) {
                if !all.iter().any(|known| known.row == *entity) {
                    let key = self.key(reader, *entity)?.to_string();
                    let is_title = chunk.titles.contains(entity);
                    all.push(NamedEntity { row: *entity, key, is_title });
                }
            }
            chunk.units = units(reader, row, &all)?;
            Ok(Arc::new(chunk))
        })
    }

    /// Hashes of the terms of a chunk as it is searched, ascending.
    pub(crate) fn terms(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Arc<[u32]>> {
        cached(&self.terms, row, || {
            let text = reader.searched_text(Layer::Chunk, row)?.unwrap_or_default();
            let languages = if let Some(languages) = self.languages.get() {
                languages
            } else {
                let read = reader.languages()?;
                self.languages.get_or_init(|| read)
            };
            let mut of = DocumentLanguages::new(languages);
            let language = of.language(reader, (Layer::Chunk, row))?;
            Ok(languages.term_hashes(&text, language.as_deref()).into())
        })
    }

    /// The first chunks that have a tag, ascending.
    pub(crate) fn tagged(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Arc<[Row]>> {
        cached(&self.tagged, row, || {
            let chunks = reader.first_edges_to((Layer::Tag, row), Edge::Tagged, MOST_TAGGED)?;
            let chunks = chunks.into_iter().filter(|(layer, _)| *layer == Layer::Chunk);
            let mut chunks: Vec<Row> = chunks.map(|(_, row)| row).collect();
            chunks.sort_unstable();
            Ok(chunks.into())
        })
    }

    /// The entities by their other names.
    pub(crate) fn aliases(&self, reader: &StoreReader<'_>) -> heed::Result<&AliasIndex> {
        if let Some(aliases) = self.aliases.get() {
            return Ok(aliases);
        }
        let read = AliasIndex::load(reader)?;
        Ok(self.aliases.get_or_init(|| read))
    }

    /// The entities that facts tie to one, with the number of facts; those of the most first.
    pub(crate) fn related(
        &self,
        reader: &StoreReader<'_>,
        row: Row,
    ) -> heed::Result<Arc<[(Row, f32)]>> {
        cached(&self.related, row, || {
            let entity = (Layer::Entity, row);
            let mut weights: BTreeMap<Row, f32> = BTreeMap::new();
            for link in reader.edges_from(entity, Some(Edge::Relates))? {
                *weights.entry(link.to.1).or_default() += link.weight;
            }
            for link in reader.edges_to(entity, Some(Edge::Relates))? {
                *weights.entry(link.from.1).or_default() += link.weight;
            }
            let mut related: Vec<(Row, f32)> = weights.into_iter().collect();
            related.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            related.truncate(MOST_RELATED);
            Ok(related.into())
        })
    }

    /// The normalised name of an entity.
    pub(crate) fn key(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Arc<str>> {
        cached(&self.keys, row, || {
            let record = reader.node::<EntityRecord>(row)?;
            Ok(record.map(|record| normalise_name(&record.name)).unwrap_or_default().into())
        })
    }
}

/// Chunks that name an entity or stand under it.
fn places(entity: &CachedEntity) -> usize {
    let named = |row: &Row| entity.chunks.binary_search_by_key(row, |(row, _)| *row).is_ok();
    entity.chunks.len() + entity.titles.iter().filter(|row| !named(row)).count()
}

/// i(e) = 1 / log₂(1 + df) of what stands in df chunks.
pub(super) fn importance(count: usize) -> f32 {
    let count = u16::try_from(count).unwrap_or(u16::MAX).max(1);
    1.0 / (1.0 + f32::from(count)).log2()
}
