//! What searches hold in memory, for as long as the base is open. Each part is loaded when a search
//! first needs it; later it is brought up to date by reading what has changed since.
mod aliases;
mod feedback_index;
mod filter;
mod filter_rows;
mod graph_cache;
pub(crate) mod memory_index;
mod query_vectors;
mod snapshot;
mod tag_index;

use std::collections::HashMap;
use std::sync::Arc;

use halma_core::Layer;
use parking_lot::Mutex;

pub(crate) use self::aliases::entities_named;
pub(crate) use self::feedback_index::{FeedbackIndex, KnownQuestion, terms_of};
pub(crate) use self::filter::allowed;
use self::filter_rows::FilterRows;
pub(crate) use self::graph_cache::GraphCache;
use self::memory_index::MemoryIndex;
pub(crate) use self::query_vectors::QueryVectorCache;
pub(crate) use self::snapshot::Snapshot;
use self::tag_index::TagIndex;
pub(crate) use self::tag_index::{Expansion, NamedTag, expansion, moved};
use crate::KbError;
use crate::lexical::LexicalIndex;
use crate::store::Store;
use crate::vectors::Matrix;

/// Something that is held, with the generation of the base that it was brought up to.
type Cell<T> = Arc<Mutex<Option<(u64, Arc<T>)>>>;

/// What is held of one base.
pub(crate) struct SearchCache {
    pub(crate) chunks: Arc<LexicalIndex>,
    pub(crate) atoms: Arc<LexicalIndex>,
    /// What was published last, as far as searches know.
    generation: Mutex<u64>,
    /// By embedder and layer, so that searches that began before and after the base moved on to
    /// another embedder do not share one.
    matrices: Mutex<HashMap<(u8, Layer), Cell<Matrix>>>,
    /// Of the layers that have no index on disk.
    lexical: Mutex<HashMap<Layer, Cell<MemoryIndex>>>,
    filters: Mutex<HashMap<(Layer, String), Cell<FilterRows>>>,
    graph: Cell<GraphCache>,
    tags: Cell<TagIndex>,
    feedback: Cell<FeedbackIndex>,
    /// For a view of some documents: the whole base, of which it shares the vectors and the indexes
    /// on disk. Everything else it reads through its own store and holds for itself.
    whole: Option<(Store, Arc<Self>)>,
}

impl SearchCache {
    pub(crate) fn new(chunks: LexicalIndex, atoms: LexicalIndex, generation: u64) -> Self {
        let cache = Self::empty(Arc::new(chunks), Arc::new(atoms));
        Self { generation: Mutex::new(generation), ..cache }
    }

    /// Of a view of some documents of the base that `caches` are of.
    pub(crate) fn restricted(caches: &Arc<Self>, store: &Store) -> Self {
        let whole = caches.whole.clone();
        let (whole, caches) = whole.unwrap_or_else(|| (store.whole(), Arc::clone(caches)));
        let cache = Self::empty(Arc::clone(&caches.chunks), Arc::clone(&caches.atoms));
        Self { whole: Some((whole, caches)), ..cache }
    }

    fn empty(chunks: Arc<LexicalIndex>, atoms: Arc<LexicalIndex>) -> Self {
        Self {
            chunks,
            atoms,
            generation: Mutex::default(),
            matrices: Mutex::default(),
            lexical: Mutex::default(),
            filters: Mutex::default(),
            graph: Cell::default(),
            tags: Cell::default(),
            feedback: Cell::default(),
            whole: None,
        }
    }

    /// Sees what was published since the last search. The generation of a view also grows when any
    /// document changes, since fields, which decide what is visible, change without a new
    /// generation.
    pub(crate) fn refresh<'a>(&'a self, store: &'a Store) -> Result<Snapshot<'a>, KbError> {
        if let Some((whole, caches)) = &self.whole {
            caches.refresh(whole)?;
            let generation =
                store.read(|reader| Ok(reader.generation()? + reader.document_changes()?))?;
            return Ok(Snapshot { caches: self, store, generation });
        }
        let generation = store.generation()?;
        let mut last_seen = self.generation.lock();
        if *last_seen != generation {
            let languages = Arc::new(store.read(|reader| reader.languages())?);
            for index in [&self.chunks, &self.atoms] {
                index.reload()?;
                index.use_languages(Arc::clone(&languages));
            }
            *last_seen = generation;
        }
        Ok(Snapshot { caches: self, store, generation })
    }
}

#[cfg(test)]
impl SearchCache {
    /// As if the base had just been opened.
    pub(crate) fn forget(&self) {
        self.matrices.lock().clear();
        self.lexical.lock().clear();
        self.filters.lock().clear();
        *self.graph.lock() = None;
        *self.tags.lock() = None;
        *self.feedback.lock() = None;
    }
}

#[cfg(test)]
mod tests;
