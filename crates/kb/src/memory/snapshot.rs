//! What a search reads of what is held: each part is brought up to the same generation when it is
//! asked for.
use std::sync::Arc;

use halma_core::{Filter, Layer};

use super::feedback_index::FeedbackIndex;
use super::filter_rows::FilterRows;
use super::graph_cache::GraphCache;
use super::memory_index::MemoryIndex;
use super::tag_index::TagIndex;
use super::{Cell, SearchCache};
use crate::KbError;
use crate::lexical::LexicalIndex;
use crate::mentions::MentionGraph;
use crate::store::{RowSet, Store};
use crate::vectors::Matrix;

/// Filters whose rows are held; beyond it they are computed again.
const FILTERS: usize = 64;

/// What is held of a base, as of one generation.
#[derive(Clone, Copy)]
pub(crate) struct Snapshot<'a> {
    pub(super) caches: &'a SearchCache,
    pub(crate) store: &'a Store,
    pub(super) generation: u64,
}

/// What is held, brought up to this generation by `renew`, which gets what there is so far.
fn current<T>(
    cell: &Cell<T>,
    generation: u64,
    renew: impl FnOnce(Option<Arc<T>>) -> Result<Arc<T>, KbError>,
) -> Result<Arc<T>, KbError> {
    let mut entry = cell.lock();
    match entry.take() {
        Some((loaded_at, value)) if loaded_at >= generation => {
            *entry = Some((loaded_at, Arc::clone(&value)));
            Ok(value)
        }
        former => {
            let value = renew(former.map(|(_, value)| value))?;
            *entry = Some((generation, Arc::clone(&value)));
            Ok(value)
        }
    }
}

impl Snapshot<'_> {
    /// The vectors of a layer by an embedder.
    pub(crate) fn matrix(&self, embedder: u8, layer: Layer) -> Result<Arc<Matrix>, KbError> {
        if let Some((whole, caches)) = &self.caches.whole {
            return caches.refresh(whole)?.matrix(embedder, layer);
        }
        let cell = {
            let mut matrices = self.caches.matrices.lock();
            if !matrices.contains_key(&(embedder, layer)) {
                // Searches moved on to another embedder.
                matrices.retain(|(_, other_layer), _| *other_layer != layer);
            }
            Arc::clone(matrices.entry((embedder, layer)).or_default())
        };
        current(&cell, self.generation, |former| {
            if let Some(mut matrix) = former
                && Arc::make_mut(&mut matrix).update(self.store)?
            {
                return Ok(matrix);
            }
            Matrix::load(self.store, embedder, layer).map(Arc::new)
        })
    }

    /// The lexical index of any layer. Those of the smaller ones are in memory, so that nothing of
    /// them is left on disk when a document is deleted.
    pub(crate) fn lexical(&self, layer: Layer) -> Result<Arc<LexicalIndex>, KbError> {
        match layer {
            Layer::Chunk => return Ok(Arc::clone(&self.caches.chunks)),
            Layer::Atom => return Ok(Arc::clone(&self.caches.atoms)),
            _ => {}
        }
        let cell = Arc::clone(self.caches.lexical.lock().entry(layer).or_default());
        let memory_index = current(&cell, self.generation, |former| {
            if let Some(mut memory_index) = former.filter(|_| !self.store.is_restricted())
                && Arc::make_mut(&mut memory_index).update(self.store, layer)?
            {
                return Ok(memory_index);
            }
            MemoryIndex::load(self.store, layer).map(Arc::new)
        })?;
        Ok(Arc::clone(&memory_index.index))
    }

    /// The rows of a layer that a filter lets in; `None` for a filter that asks for nothing.
    pub(crate) fn allowed(
        &self,
        filter: &Filter,
        layer: Layer,
    ) -> Result<Option<Arc<RowSet>>, KbError> {
        if filter.feedback == Some(true) {
            return self.accepted(filter, layer).map(Some);
        }
        // What is not to be found of it is among what is excluded.
        let filter = &Filter { feedback: None, ..filter.clone() };
        if filter.is_empty() && !self.store.is_restricted() {
            return Ok(None);
        }
        // Fields change without a new generation.
        let generation = if filter.metadata.is_empty() || self.store.is_restricted() {
            self.generation
        } else {
            self.generation + self.store.read(|reader| reader.document_changes())?
        };
        let cell = {
            let mut filters = self.caches.filters.lock();
            let key = (layer, format!("{filter:?}"));
            if filters.len() >= FILTERS && !filters.contains_key(&key) {
                filters.clear();
            }
            Arc::clone(filters.entry(key).or_default())
        };
        let cached = current(&cell, generation, |former| {
            if let Some(mut rows) = former.filter(|_| !self.store.is_restricted())
                && Arc::make_mut(&mut rows).update(self.store, filter)?
            {
                return Ok(rows);
            }
            FilterRows::load(self.store, filter, layer).map(Arc::new)
        })?;
        Ok(Some(Arc::clone(&cached.rows)))
    }

    /// The rows of a layer that were accepted from answers and that the rest of a filter lets in.
    fn accepted(&self, filter: &Filter, layer: Layer) -> Result<Arc<RowSet>, KbError> {
        let mut rows = RowSet::default();
        if layer == Layer::Atom {
            let rest = Filter { feedback: None, ..filter.clone() };
            let others = self.allowed(&rest, layer)?;
            for row in self.store.read(|reader| reader.accepted_atoms())? {
                if others.as_ref().is_none_or(|others| others.contains(row)) {
                    rows.insert(row);
                }
            }
        }
        Ok(Arc::new(rows))
    }

    /// What graph searches share.
    pub(crate) fn graph(&self) -> Result<Arc<GraphCache>, KbError> {
        current(&self.caches.graph, self.generation, |former| {
            if let Some(former) = former.filter(|_| !self.store.is_restricted()) {
                let mut walk = Arc::clone(&former.walk);
                // So that the walk is changed in place, unless a search still uses it.
                drop(former);
                if Arc::make_mut(&mut walk).update(self.store)? {
                    return Ok(Arc::new(GraphCache::new(walk)));
                }
            }
            Ok(Arc::new(GraphCache::new(Arc::new(MentionGraph::load(self.store)?))))
        })
    }

    /// Questions that were accepted or marked wrong.
    pub(crate) fn feedback(&self) -> Result<Arc<FeedbackIndex>, KbError> {
        current(&self.caches.feedback, self.generation, |former| {
            // What may be seen of the same records can change.
            let former = former.filter(|_| !self.store.is_restricted());
            self.store.read(|reader| FeedbackIndex::load(reader, former.as_deref())).map(Arc::new)
        })
    }

    /// The tags by everything that they go by.
    pub(crate) fn tags(&self) -> Result<Arc<TagIndex>, KbError> {
        let load = |_| self.store.read(TagIndex::load).map(Arc::new);
        current(&self.caches.tags, self.generation, load)
    }
}
