//! A base that is open: the primary store, its indexes, and the vectors held in memory.
mod copy;
pub(crate) mod lock;
mod metadata;
#[cfg(test)]
pub(crate) mod sample_base;
mod shared;
mod sql;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use halma_core::{Embedder, Filter, Layer};
use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};

pub use self::copy::Copied;
pub(crate) use self::lock::WriterLock;
use self::lock::is_held_here;
pub use self::shared::SharedBase;
use crate::error::run_blocking;
use crate::lexical::{LexicalIndex, caught_up};
use crate::memory::{FeedbackIndex, QueryVectorCache, SearchCache};
use crate::store::Store;
use crate::{BaseOptions, FeedbackSettings, KbError, KeptPart, ThresholdSources, cores};

/// A knowledge base that is open. One process opens a folder once and shares it as `Arc<Base>`.
pub struct Base {
    pub(crate) dir: PathBuf,
    pub(crate) store: Store,
    /// What it was opened with.
    pub(crate) options: BaseOptions,
    /// What searches hold in memory.
    pub(crate) caches: Arc<SearchCache>,
    /// A place for each search that may run at the same time, as many as there are processors; the
    /// others wait: they would only wait for each other, and hold memory meanwhile.
    pub(crate) searching: Arc<Semaphore>,
    pub(crate) query_vectors: Arc<QueryVectorCache>,
    pub(crate) tables: crate::tables::SqlTables,
    pub(crate) warned: AtomicBool,
    /// The base that this is a restricted view of.
    pub(crate) whole: Option<Arc<Self>>,
    /// Whether it is to be removed.
    builds_ended: watch::Sender<bool>,
    /// Parts that differ from the configuration, as they were reported.
    reported: Mutex<Vec<KeptPart>>,
}

/// Where the former base is while the restored one takes its name.
pub(crate) fn former_of(dir: &Path) -> PathBuf {
    dir.with_added_extension("replaced")
}

/// Whether a restore to `dir` was killed after the former base had lost its name: making a
/// new base there would hide it.
fn is_half_restored(dir: &Path) -> bool {
    let Ok(dir) = std::path::absolute(dir) else { return false };
    dir.file_name().is_some() && !dir.join("store").exists() && former_of(&dir).exists()
}

/// The folder of the primary store in the folder of a base.
pub(crate) fn store_dir(dir: &Path) -> PathBuf {
    dir.join("store")
}

impl Base {
    /// Opens the base in `dir`, which is made when there is none.
    pub fn create_or_open(dir: &Path, options: BaseOptions) -> Result<Arc<Self>, KbError> {
        Self::refuse_unfinished(dir)?;
        for folder in [store_dir(dir), dir.join("bm25"), dir.join("cache")] {
            std::fs::create_dir_all(&folder).map_err(|e| KbError::io(folder, "create", e))?;
        }
        Self::open_there(dir, options)
    }

    /// Whether there is a base in `dir`.
    pub fn exists(dir: &Path) -> bool {
        Store::exists(&store_dir(dir))
    }

    /// When something was last written to the base in `dir`, by whichever program; `None` when there
    /// is no base, and where the system does not say.
    pub fn changed(dir: &Path) -> Option<SystemTime> {
        Store::changed(&store_dir(dir))
    }

    /// Opens the base in `dir`; [`KbError::NoBase`] when there is none.
    pub fn open(dir: &Path, options: BaseOptions) -> Result<Arc<Self>, KbError> {
        Self::refuse_unfinished(dir)?;
        if !Self::exists(dir) {
            return Err(KbError::NoBase { dir: dir.to_owned() });
        }
        Self::open_there(dir, options)
    }

    /// A restore was killed before the base had its place again.
    fn refuse_unfinished(dir: &Path) -> Result<(), KbError> {
        if is_half_restored(dir) {
            return Err(KbError::HalfRestored { dir: dir.to_owned() });
        }
        Ok(())
    }

    fn open_there(dir: &Path, options: BaseOptions) -> Result<Arc<Self>, KbError> {
        Self::open_with(dir, Store::open(&store_dir(dir))?, options)
    }

    fn open_with(dir: &Path, store: Store, options: BaseOptions) -> Result<Arc<Self>, KbError> {
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
            remove_dangling_feedback(&store);
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
            caches: Arc::new(SearchCache::new(chunks, atoms, generation)),
            searching: Arc::new(Semaphore::new(cores())),
            query_vectors: Arc::default(),
            whole: None,
            builds_ended: watch::Sender::new(false),
            tables: crate::tables::SqlTables::new(options.workers.clone()),
            options,
            warned: AtomicBool::new(false),
            reported: Mutex::default(),
        }))
    }

    /// The same base for readers who see only the documents that all of these filters admit, and
    /// what was made of those alone: whatever is searched, listed, computed or followed from it, the
    /// others are not there. Only names, formats, dates and fields of documents are looked at. Vectors
    /// and lexical indexes are shared; nothing can be written but deletions and fields.
    pub fn restricted(self: &Arc<Self>, filters: Vec<Filter>) -> Arc<Self> {
        let mut feedback = self.options.feedback;
        feedback.search &= filters.iter().all(|filter| filter.feedback != Some(false));
        let caches = Arc::new(SearchCache::restricted(&self.caches, &self.store));
        self.view(self.store.restricted(filters), caches, feedback)
    }

    /// The same base for readers to whom what was accepted from answers is not there.
    pub fn without_feedback(self: &Arc<Self>) -> Arc<Self> {
        let feedback = FeedbackSettings { search: false, ..self.options.feedback };
        self.view(self.store.clone(), Arc::clone(&self.caches), feedback)
    }

    fn view(
        self: &Arc<Self>,
        store: Store,
        caches: Arc<SearchCache>,
        feedback: FeedbackSettings,
    ) -> Arc<Self> {
        Arc::new(Self {
            dir: self.dir.clone(),
            store,
            options: BaseOptions { feedback, ..self.options.clone() },
            caches,
            searching: Arc::clone(&self.searching),
            query_vectors: Arc::clone(&self.query_vectors),
            tables: crate::tables::SqlTables::new(self.options.workers.clone()),
            warned: AtomicBool::new(true),
            builds_ended: watch::Sender::new(false),
            whole: Some(self.whole.as_ref().map_or_else(|| Arc::clone(self), Arc::clone)),
            reported: Mutex::default(),
        })
    }

    /// Distinguishes this base from every other one, also from one that is made later in the same
    /// folder; a restored backup is the same base. 16 hexadecimal digits.
    pub fn id(&self) -> Result<String, KbError> {
        Ok(format!("{:016x}", self.store.read(|reader| reader.uid())?))
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
            Layer::Chunk => Ok(&self.caches.chunks),
            Layer::Atom => Ok(&self.caches.atoms),
            _ => Err(KbError::NotSearched { layer: layer.name() }),
        }
    }

    /// Questions that were accepted or marked wrong, loaded by the first search.
    pub(crate) async fn feedback_index(&self) -> Result<Arc<FeedbackIndex>, KbError> {
        let (store, caches) = (self.store.clone(), Arc::clone(&self.caches));
        let load = move || caches.refresh(&store)?.feedback();
        run_blocking("loading feedback", load).await
    }

    /// Sees what was published since the last search.
    pub(crate) fn refresh(&self) -> Result<(), KbError> {
        self.caches.refresh(&self.store).map(|_| ())
    }

    /// The open embedder of this name, with its thresholds.
    pub(crate) fn opened(&self, model: &str) -> Option<(&Arc<dyn Embedder>, ThresholdSources)> {
        if let Some(embedder) = self.options.embedder.as_ref().filter(|e| e.model() == model) {
            return Some((embedder, self.options.thresholds));
        }
        let former =
            self.options.former.as_ref().filter(|former| former.embedder.model() == model)?;
        Some((&former.embedder, former.thresholds))
    }

    /// Whether this was not reported before: a folder that is watched is indexed again and again.
    pub(crate) fn is_news(&self, part: &KeptPart) -> bool {
        let mut reported = self.reported.lock();
        let news = !reported.contains(part);
        if news {
            reported.push(part.clone());
        }
        news
    }

    /// Whether a build of this or another process has the lock.
    pub(crate) fn is_being_built(&self) -> bool {
        is_held_here(&self.store) || matches!(WriterLock::try_take(&self.dir), Ok(None))
    }

    /// Whether this is the name of the embedder that is configured.
    pub(crate) fn is_configured(&self, model: &str) -> bool {
        self.options.embedder.as_ref().is_some_and(|embedder| embedder.model() == model)
    }

    /// Ends the work of builds that waits for models, also of builds that were dropped: it continues
    /// otherwise, so that what is paid for comes into the cache. No build can be done afterwards.
    pub fn end_builds(&self) {
        self.builds_ended.send_replace(true);
    }

    /// Returns when the builds are to end, with the error that says so.
    pub(crate) fn builds_ended(&self) -> impl Future<Output = KbError> + Send + use<> {
        let (mut ended, dir) = (self.builds_ended.subscribe(), self.dir.clone());
        async move {
            // An error means that the base is gone, which those who wait for this use.
            let _ = ended.wait_for(|ended| *ended).await;
            KbError::Removed { dir }
        }
    }

    /// What waits up to a time until nothing uses the store any more, and says whether that is so. It
    /// does not use it itself.
    pub fn closing(&self) -> impl Fn(Duration) -> bool + Send + Sync + use<> {
        let event = self.store.closing();
        move |within| event.wait_timeout(within)
    }
}

/// Such feedback would make every backup of the base one that cannot be restored.
fn remove_dangling_feedback(store: &Store) {
    match store.remove_dangling_feedback() {
        Ok(0) => {}
        Ok(removed) => tracing::warn!(
            "{removed} records of feedback quoted documents that are deleted, and are removed"
        ),
        Err(e) => tracing::warn!(
            "feedback that quotes deleted documents cannot be removed: {e}; `halma kb verify` \
             lists it"
        ),
    }
}
