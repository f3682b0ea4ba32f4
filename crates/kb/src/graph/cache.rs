//! What graph searches share: the walk, and what they have read of single nodes. It is cheap to
//! make, and made again when the base changes; the walk lives on.
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

use halma_core::Layer;
use halma_core::text::normalise_name;

use crate::store::{EntityRecord, Row, StoreReader};
use crate::walk::{Walk, chunk_terms};

/// Entries of one kind that are kept; beyond it the cache starts over.
const MOST: usize = 20_000;

#[derive(Debug, Default)]
pub(crate) struct GraphCache {
    pub(crate) walk: Arc<Walk>,
    keys: Cached<Arc<str>>,
    names: Cached<Arc<str>>,
    terms: Cached<Arc<[u32]>>,
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
    pub(crate) fn new(walk: Arc<Walk>) -> Self {
        Self { walk, ..Self::default() }
    }

    /// Hashes of the terms of a chunk as it is searched, ascending.
    pub(crate) fn terms(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Arc<[u32]>> {
        cached(&self.terms, row, || {
            if let Some(stored) = reader.chunk_terms(row)? {
                return Ok(stored.into());
            }
            let text = reader.searched_text(Layer::Chunk, row)?.unwrap_or_default();
            Ok(chunk_terms(&text).into())
        })
    }

    /// The name of an entity as it is shown.
    pub(crate) fn name(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Arc<str>> {
        cached(&self.names, row, || {
            let record = reader.node::<EntityRecord>(row)?;
            Ok(record.map(|record| record.name).unwrap_or_default().into())
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
