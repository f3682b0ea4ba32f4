//! A base that is open: the primary store, its indexes, and the vectors held in memory.
mod accepted;
mod lexical;
#[cfg(test)]
mod restricted_tests;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halma_core::{Embedder, Filter, Layer};
use tokio::sync::OnceCell;

use self::lexical::{caught_up, index_in_memory};
use crate::error::run_blocking;
use crate::feedback::FeedbackIndex;
use crate::graph::GraphCache;
use crate::kept::KeptPart;
use crate::lexical::LexicalIndex;
use crate::lock::WriterLock;
use crate::search::filter::allowed;
use crate::search::matrix::Matrix;
use crate::search::query_vectors::QueryVectorCache;
use crate::store::{RowSet, Store, StoreReader};
use crate::tags::TagIndex;
use crate::{
    BaseOptions, FeedbackSettings, Former, GraphSettings, KbError, SearchSettings, Thresholds,
};

/// A knowledge base that is open. One process opens a folder once and shares it as `Arc<Base>`.
pub struct Base {
    pub(crate) dir: PathBuf,
    pub(crate) store: Store,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    /// How the embedder is opened, for the record.
    pub(crate) origin: String,
    pub(crate) former: Option<Former>,
    pub(crate) thresholds: Thresholds,
    pub(crate) search: SearchSettings,
    pub(crate) graph: GraphSettings,
    pub(crate) feedback_settings: FeedbackSettings,
    chunks: Arc<LexicalIndex>,
    atoms: Arc<LexicalIndex>,
    caches: Mutex<Caches>,
    pub(crate) query_vectors: Arc<QueryVectorCache>,
    pub(crate) tables: crate::tables::SqlTables,
    pub(crate) workers: Option<Arc<crate::workers::Workers>>,
    warned: AtomicBool,
    /// The base that this is a restricted view of.
    pub(crate) whole: Option<Arc<Self>>,
    /// Parts that differ from the configuration, as they were reported.
    reported: Mutex<Vec<KeptPart>>,
}

/// What searches read of one generation, each part loaded when first needed.
#[derive(Default)]
struct Caches {
    generation: u64,
    matrices: HashMap<Layer, Loaded<Matrix>>,
    /// Of the layers that have no index on disk.
    lexical: HashMap<Layer, Loaded<LexicalIndex>>,
    graph: Arc<GraphCache>,
    tags: Loaded<TagIndex>,
    feedback: Loaded<FeedbackIndex>,
    filters: HashMap<(Layer, String), Arc<RowSet>>,
}

type Loaded<T> = Arc<OnceCell<Arc<T>>>;

/// Filters whose rows are cached; beyond it they are computed again.
const FILTERS: usize = 64;

/// The folder of the primary store in the folder of a base.
pub(crate) fn store_dir(dir: &Path) -> PathBuf {
    dir.join("store")
}

impl Base {
    /// Opens the base in `dir`, which is made when there is none.
    pub fn create_or_open(dir: &Path, options: BaseOptions) -> Result<Arc<Self>, KbError> {
        if Self::is_half_converted(dir) {
            return Err(KbError::HalfConverted { dir: dir.to_owned() });
        }
        for folder in [store_dir(dir), dir.join("bm25"), dir.join("cache")] {
            std::fs::create_dir_all(&folder).map_err(|e| KbError::io(folder, "create", e))?;
        }
        Self::open_there(dir, options)
    }

    /// Whether there is a base in `dir`.
    pub fn exists(dir: &Path) -> bool {
        Store::exists(&store_dir(dir))
    }

    /// Opens the base in `dir`; [`KbError::NoBase`] when there is none.
    pub fn open(dir: &Path, options: BaseOptions) -> Result<Arc<Self>, KbError> {
        if Self::is_half_converted(dir) {
            return Err(KbError::HalfConverted { dir: dir.to_owned() });
        }
        if !Self::exists(dir) {
            return Err(KbError::NoBase { dir: dir.to_owned() });
        }
        Self::open_there(dir, options)
    }

    fn open_there(dir: &Path, options: BaseOptions) -> Result<Arc<Self>, KbError> {
        let store = Store::open(&store_dir(dir))?;
        let lexical = |layer: Layer| dir.join("bm25").join(layer.name());
        let open = || {
            let chunks = LexicalIndex::open(&lexical(Layer::Chunk), Layer::Chunk)?;
            Ok::<_, KbError>((chunks, LexicalIndex::open(&lexical(Layer::Atom), Layer::Atom)?))
        };
        // While another process indexes, what it has added so far is searched. Otherwise the
        // lexical index is brought up to date here, should a run have been killed.
        let writable = store.is_writable();
        let lock = if writable { WriterLock::try_take(dir)? } else { None };
        let opened = match lock {
            Some(_) => None,
            None if writable => open().ok(),
            None => Some(open()?),
        };
        let (chunks, atoms) = if let Some(opened) = opened {
            opened
        } else {
            let _lock = lock.map_or_else(|| WriterLock::take(dir), Ok)?;
            store.settle()?;
            let up = |layer| caught_up(&lexical(layer), layer, &store);
            (up(Layer::Chunk)?, up(Layer::Atom)?)
        };
        let (generation, languages) =
            store.read(|reader| Ok((reader.generation()?, reader.languages()?)))?;
        let languages = Arc::new(languages);
        chunks.use_languages(Arc::clone(&languages));
        atoms.use_languages(languages);
        Ok(Arc::new(Self {
            dir: dir.to_owned(),
            store,
            embedder: options.embedder,
            origin: options.origin,
            former: options.former,
            thresholds: options.thresholds,
            search: options.search,
            graph: options.graph,
            feedback_settings: options.feedback,
            chunks: Arc::new(chunks),
            atoms: Arc::new(atoms),
            caches: Mutex::new(Caches { generation, ..Caches::default() }),
            query_vectors: Arc::default(),
            whole: None,
            tables: crate::tables::SqlTables::new(options.workers.clone()),
            workers: options.workers,
            warned: AtomicBool::new(false),
            reported: Mutex::default(),
        }))
    }

    /// The same base for readers who see only the documents that all of these filters admit, and
    /// what was made of those alone: whatever is searched, listed, computed or followed from it, the
    /// others are not there. Only names, formats, dates and fields of documents are looked at. Vectors
    /// and lexical indexes are shared; nothing can be written but deletions and fields.
    pub fn restricted(self: &Arc<Self>, filters: Vec<Filter>) -> Arc<Self> {
        let mut feedback = self.feedback_settings;
        feedback.search &= filters.iter().all(|filter| filter.feedback != Some(false));
        self.view(self.store.restricted(filters), feedback)
    }

    fn view(self: &Arc<Self>, store: Store, feedback_settings: FeedbackSettings) -> Arc<Self> {
        Arc::new(Self {
            dir: self.dir.clone(),
            store,
            embedder: self.embedder.clone(),
            origin: self.origin.clone(),
            former: self.former.clone(),
            thresholds: self.thresholds,
            search: self.search,
            graph: self.graph,
            feedback_settings,
            chunks: Arc::clone(&self.chunks),
            atoms: Arc::clone(&self.atoms),
            caches: Mutex::default(),
            query_vectors: Arc::clone(&self.query_vectors),
            tables: crate::tables::SqlTables::new(self.workers.clone()),
            workers: self.workers.clone(),
            warned: AtomicBool::new(true),
            whole: Some(self.whole.as_ref().map_or_else(|| Arc::clone(self), Arc::clone)),
            reported: Mutex::default(),
        })
    }

    /// Whether this is a view of some documents of a base.
    pub fn is_restricted(&self) -> bool {
        self.store.is_restricted()
    }

    /// Reads one value of the store; an error says why it cannot be used.
    pub fn probe(&self) -> Result<(), KbError> {
        self.store.generation().map(drop)
    }

    /// The folder for what may be thrown away: replies of models and the like.
    pub fn cache_dir(&self) -> PathBuf {
        self.dir.join("cache")
    }

    /// The folder for knowledge graphs that are loaded next to the documents.
    pub fn kg_dir(&self) -> PathBuf {
        self.dir.join("kg")
    }

    /// The lexical index of a layer that has one on disk.
    pub(crate) fn lexical_on_disk(&self, layer: Layer) -> Result<&LexicalIndex, KbError> {
        match layer {
            Layer::Chunk => Ok(&self.chunks),
            Layer::Atom => Ok(&self.atoms),
            _ => Err(KbError::NotSearched { layer: layer.name() }),
        }
    }

    /// The lexical index of any layer. Those of the smaller ones are made in memory by the first
    /// search, so that nothing of them is left on disk when a document is deleted.
    pub(crate) async fn lexical(&self, layer: Layer) -> Result<Arc<LexicalIndex>, KbError> {
        match layer {
            Layer::Chunk => return Ok(Arc::clone(&self.chunks)),
            Layer::Atom => return Ok(Arc::clone(&self.atoms)),
            _ => {}
        }
        let cell = Arc::clone(self.caches().lexical.entry(layer).or_default());
        let store = self.store.clone();
        let load = || run_blocking("indexing text", move || index_in_memory(&store, layer));
        let loaded = cell.get_or_try_init(|| async { load().await.map(Arc::new) }).await?;
        Ok(Arc::clone(loaded))
    }

    /// The tags by everything that they go by, loaded by the first search.
    pub(crate) async fn tag_index(&self) -> Result<Arc<TagIndex>, KbError> {
        let cell = Arc::clone(&self.caches().tags);
        let store = self.store.clone();
        let load = || run_blocking("loading tags", move || store.read(TagIndex::load));
        let loaded = cell.get_or_try_init(|| async { load().await.map(Arc::new) }).await?;
        Ok(Arc::clone(loaded))
    }

    fn caches(&self) -> MutexGuard<'_, Caches> {
        self.caches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees what was published since the last search.
    pub(crate) fn refresh(&self) -> Result<(), KbError> {
        if let Some(whole) = &self.whole {
            whole.refresh()?;
        }
        let generation = self.store.generation()?;
        let mut caches = self.caches();
        if caches.generation != generation {
            let languages = Arc::new(self.store.read(|reader| reader.languages())?);
            for index in [&self.chunks, &self.atoms] {
                index.reload()?;
                index.use_languages(Arc::clone(&languages));
            }
            *caches = Caches { generation, ..Caches::default() };
        }
        Ok(())
    }

    /// The vectors of a layer, loaded by the first search that needs them.
    pub(crate) async fn matrix(&self, embedder: u8, layer: Layer) -> Result<Arc<Matrix>, KbError> {
        // Views share the vectors of the whole base, of which they may read some.
        let whole = self.whole.as_deref().unwrap_or(self);
        let cell = Arc::clone(whole.caches().matrices.entry(layer).or_default());
        let store = whole.store.clone();
        let load =
            || run_blocking("loading vectors", move || Matrix::load(&store, embedder, layer));
        let loaded = cell.get_or_try_init(|| async { load().await.map(Arc::new) }).await?;
        // Searches moved on to another embedder after the view was made.
        if loaded.embedder() != embedder {
            let store = whole.store.clone();
            let load = move || Matrix::load(&store, embedder, layer);
            return run_blocking("loading vectors", load).await.map(Arc::new);
        }
        Ok(Arc::clone(loaded))
    }

    /// The open embedder of this name, with its thresholds.
    pub(crate) fn opened(&self, model: &str) -> Option<(&Arc<dyn Embedder>, Thresholds)> {
        if let Some(embedder) = self.embedder.as_ref().filter(|e| e.model() == model) {
            return Some((embedder, self.thresholds));
        }
        let former = self.former.as_ref().filter(|former| former.embedder.model() == model)?;
        Some((&former.embedder, former.thresholds))
    }

    /// Whether this was not reported before: a folder that is watched is indexed again and again.
    pub(crate) fn is_news(&self, part: &KeptPart) -> bool {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let news = !reported.contains(part);
        if news {
            reported.push(part.clone());
        }
        news
    }

    /// Whether this is the name of the embedder that is configured.
    pub(crate) fn is_configured(&self, model: &str) -> bool {
        self.embedder.as_ref().is_some_and(|embedder| embedder.model() == model)
    }

    /// What graph searches have read so far.
    pub(crate) fn graph_cache(&self) -> Arc<GraphCache> {
        Arc::clone(&self.caches().graph)
    }

    /// The rows of a layer that a filter lets in; `None` where that is all of them.
    pub(crate) fn allowed(
        &self,
        reader: &StoreReader<'_>,
        filter: &Filter,
        layer: Layer,
    ) -> heed::Result<Option<Arc<RowSet>>> {
        if filter.feedback == Some(true) {
            return self.accepted(reader, filter, layer).map(Some);
        }
        // What is not to be found of it is among what is excluded.
        let filter = &Filter { feedback: None, ..filter.clone() };
        if filter.is_empty() && !self.store.is_restricted() {
            return Ok(None);
        }
        // Fields change without a new generation.
        let by_fields = self.store.is_restricted() || !filter.metadata.is_empty();
        let changes = if by_fields { reader.document_changes()? } else { 0 };
        let key = (layer, format!("{changes} {filter:?}"));
        if let Some(known) = self.caches().filters.get(&key) {
            return Ok(Some(Arc::clone(known)));
        }
        let rows = Arc::new(allowed(reader, filter, layer)?);
        let mut caches = self.caches();
        if caches.filters.len() >= FILTERS {
            caches.filters.clear();
        }
        caches.filters.insert(key, Arc::clone(&rows));
        Ok(Some(rows))
    }

    /// Warns once that only BM25 is searched, unless there is nothing to search. The layers other
    /// than chunks and atoms are searched by BM25 in every base.
    pub(crate) fn warn_lexical_only(&self, layer: Layer) -> Result<(), KbError> {
        if !matches!(layer, Layer::Chunk | Layer::Atom) {
            return Ok(());
        }
        let held = self.store.read(|reader| reader.count(layer))?;
        if held == 0 || self.warned.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let layer = layer.name();
        let active =
            self.store.read(|reader| Ok(reader.active_embedder()?.map(|(_, record)| record)))?;
        if let Some(record) = active.filter(|record| self.opened(&record.model).is_none()) {
            tracing::warn!(
                "the base's vectors are of `{}`, which is not open: only BM25 is searched until \
                 `halma index` has embedded the base again",
                record.model
            );
        } else if let Some(embedder) = &self.embedder {
            tracing::warn!(
                "the base has no {layer} vectors of `{}`: only BM25 is searched; run `halma \
                 index` again to embed it",
                embedder.model()
            );
        } else {
            tracing::warn!("there is no embedder: only BM25 is searched");
        }
        Ok(())
    }
}
