//! What graph searches share: the walk, and what they have read of single nodes. It is cheap to
//! make, and made again when the base changes; the walk lives on.
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use halma_core::text::normalise_name;
use halma_core::{Edge, Layer};
use parking_lot::RwLock;

use super::aliases::AliasIndex;
use crate::mentions::{MentionGraph, chunk_terms};
use crate::store::{DocumentLanguages, EntityRecord, Row, RowMap, StoreReader};
use crate::terms::{Languages, TermHashes};

/// Entries of one kind that are kept; beyond it the cache starts over.
const MAX_ENTRIES: usize = 20_000;

/// Entities that facts lead to from one, at most.
const MAX_RELATED: usize = 32;

/// Chunks that one tag leads to, at most.
const MAX_TAGGED: usize = 20_000;

#[derive(Debug, Default)]
pub(crate) struct GraphCache {
    pub(crate) walk: Arc<MentionGraph>,
    keys: Cached<Arc<str>>,
    names: Cached<Arc<str>>,
    terms: Cached<Arc<[u32]>>,
    tagged: Cached<Arc<[Row]>>,
    languages: OnceLock<Languages>,
    aliases: OnceLock<AliasIndex>,
    related: Cached<Arc<[(Row, f32)]>>,
}

type Cached<T> = RwLock<RowMap<T>>;

/// What is cached under `key`, computed when it is missing.
fn cached<T: Clone>(
    map: &Cached<T>,
    key: Row,
    make: impl FnOnce() -> heed::Result<T>,
) -> heed::Result<T> {
    if let Some(value) = map.read().get(&key) {
        return Ok(value.clone());
    }
    let value = make()?;
    let mut map = map.write();
    if map.len() >= MAX_ENTRIES {
        map.clear();
    }
    map.insert(key, value.clone());
    Ok(value)
}

impl GraphCache {
    pub(crate) fn new(walk: Arc<MentionGraph>) -> Self {
        Self { walk, ..Self::default() }
    }

    /// Hashes of the terms of a chunk as it is searched, ascending.
    pub(crate) fn terms(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Arc<[u32]>> {
        cached(&self.terms, row, || {
            if let Some(stored) = reader.chunk_terms(row)? {
                return Ok(stored.into());
            }
            let text = reader.searched_text(Layer::Chunk, row)?.unwrap_or_default();
            let languages = if let Some(languages) = self.languages.get() {
                languages
            } else {
                let read = reader.languages()?;
                self.languages.get_or_init(|| read)
            };
            let mut of = DocumentLanguages::new(languages);
            let language = of.language(reader, (Layer::Chunk, row))?;
            let mut terms = TermHashes::default();
            Ok(chunk_terms(&mut terms, languages, &text, language.as_deref()).into())
        })
    }

    /// The name of an entity as it is shown.
    pub(crate) fn name(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Arc<str>> {
        cached(&self.names, row, || {
            let record = reader.node::<EntityRecord>(row)?;
            Ok(record.map(|record| record.name).unwrap_or_default().into())
        })
    }

    /// The first chunks that have a tag, ascending.
    pub(crate) fn tagged(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Arc<[Row]>> {
        cached(&self.tagged, row, || {
            let chunks = reader.first_edges_to((Layer::Tag, row), Edge::Tagged, MAX_TAGGED)?;
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
            related.truncate(MAX_RELATED);
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
