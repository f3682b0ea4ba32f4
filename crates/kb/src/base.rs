//! A base that is open: the truth, its indexes, and the vectors held in memory.
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halma_core::{Embedder, Filter, Layer};
use tokio::sync::OnceCell;

use crate::asked::Asked;
use crate::error::beside;
use crate::filter::{Rows, allowed};
use crate::graph::{GraphSettings, Memory};
use crate::lock::WriterLock;
use crate::report::{Stats, VectorStats};
use crate::store::{EmbedderRecord, FORMAT, Reader, Store};
use crate::vectors::Matrix;
use crate::words::WordIndex;
use crate::{BaseOptions, Former, KbError, Thresholds};

/// A knowledge base that is open. One process opens a folder once and shares it as `Arc<Base>`.
pub struct Base {
    pub(crate) dir: PathBuf,
    pub(crate) store: Store,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    /// How the embedder is opened, for the record.
    pub(crate) origin: String,
    pub(crate) former: Option<Former>,
    pub(crate) thresholds: Thresholds,
    pub(crate) graph: GraphSettings,
    chunks: Arc<WordIndex>,
    atoms: Arc<WordIndex>,
    view: Mutex<View>,
    pub(crate) asked: Asked,
    pub(crate) tables: crate::tables::Kept,
    warned: AtomicBool,
}

/// What searches see of one generation, each part loaded when first needed.
#[derive(Default)]
struct View {
    generation: u64,
    matrices: HashMap<Layer, Loaded<Matrix>>,
    /// Of the layers that have no index on disk.
    words: HashMap<Layer, Loaded<WordIndex>>,
    memory: Arc<Memory>,
    filters: HashMap<(Layer, String), Arc<Rows>>,
}

type Loaded<T> = Arc<OnceCell<Arc<T>>>;

/// Filters whose rows are kept; beyond it they are worked out anew.
const FILTERS: usize = 64;

fn truth(dir: &Path) -> PathBuf {
    dir.join("truth")
}

impl Base {
    /// Opens the base in `dir`, which is made when there is none.
    pub fn create_or_open(dir: &Path, options: BaseOptions) -> Result<Arc<Self>, KbError> {
        for folder in [truth(dir), dir.join("bm25"), dir.join("cache")] {
            std::fs::create_dir_all(&folder).map_err(|e| KbError::file(folder, "create", e))?;
        }
        Self::open_there(dir, options)
    }

    /// Opens the base in `dir`; [`KbError::NoBase`] when there is none.
    pub fn open(dir: &Path, options: BaseOptions) -> Result<Arc<Self>, KbError> {
        if !Store::exists(&truth(dir)) {
            return Err(KbError::NoBase { dir: dir.to_owned() });
        }
        Self::open_there(dir, options)
    }

    fn open_there(dir: &Path, options: BaseOptions) -> Result<Arc<Self>, KbError> {
        let store = Store::open(&truth(dir))?;
        let words = |layer: Layer| dir.join("bm25").join(layer.name());
        let open = || {
            let chunks = WordIndex::open(&words(Layer::Chunk), Layer::Chunk)?;
            Ok::<_, KbError>((chunks, WordIndex::open(&words(Layer::Atom), Layer::Atom)?))
        };
        // While somebody else indexes, what they have entered so far is searched. Otherwise the
        // word index is brought up to the truth here, should a run have been killed.
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
            let up = |layer| caught_up(&words(layer), layer, &store);
            (up(Layer::Chunk)?, up(Layer::Atom)?)
        };
        let generation = store.read(|reader| reader.generation())?;
        Ok(Arc::new(Self {
            dir: dir.to_owned(),
            store,
            embedder: options.embedder,
            origin: options.origin,
            former: options.former,
            thresholds: options.thresholds,
            graph: options.graph,
            chunks: Arc::new(chunks),
            atoms: Arc::new(atoms),
            view: Mutex::new(View { generation, ..View::default() }),
            asked: Asked::default(),
            tables: crate::tables::Kept::default(),
            warned: AtomicBool::new(false),
        }))
    }

    /// The folder for what may be thrown away: replies of models and the like.
    pub fn cache_dir(&self) -> PathBuf {
        self.dir.join("cache")
    }

    /// The folder for knowledge graphs that stand beside the documents.
    pub fn kg_dir(&self) -> PathBuf {
        self.dir.join("kg")
    }

    /// Figures about what the base holds.
    pub fn stats(&self) -> Result<Stats, KbError> {
        let store = &self.store;
        let bytes_on_disk = size_of(&truth(&self.dir)) + size_of(&self.dir.join("bm25"));
        store.read(|reader| {
            let (created, updated) = reader.times()?;
            let ledger = reader.ledger_counts()?;
            let mut vectors = vec![];
            for (number, record) in (0u8..).zip(reader.embedders()?) {
                let EmbedderRecord { model, dimensions, .. } = record;
                let chunks = reader.count_vectors(number, Layer::Chunk)?;
                let atoms = reader.count_vectors(number, Layer::Atom)?;
                if chunks + atoms > 0 {
                    vectors.push(VectorStats { embedder: model, dimensions, chunks, atoms });
                }
            }
            let mut hasher = blake3::Hasher::new();
            for id in reader.ids(Layer::Document)? {
                hasher.update(&id.to_be_bytes());
            }
            Ok(Stats {
                format: FORMAT,
                documents: reader.count(Layer::Document)?,
                sections: reader.count(Layer::Section)?,
                chunks: reader.count(Layer::Chunk)?,
                atoms: reader.count(Layer::Atom)?,
                vectors,
                failed_units: ledger.failed,
                pending_units: ledger.pending,
                figures: self.figures(reader)?,
                bytes_on_disk,
                fingerprint: hasher.finalize().to_hex()[..16].to_owned(),
                created,
                updated,
            })
        })
    }

    /// The word index of a layer that has one on disk.
    pub(crate) fn words(&self, layer: Layer) -> Result<&WordIndex, KbError> {
        match layer {
            Layer::Chunk => Ok(&self.chunks),
            Layer::Atom => Ok(&self.atoms),
            _ => Err(KbError::NotSearched { layer: layer.name() }),
        }
    }

    /// The word index of any layer. Those of the smaller ones are made in memory by the first
    /// search, so that nothing of them is left on disk when a document is deleted.
    pub(crate) async fn words_of(&self, layer: Layer) -> Result<Arc<WordIndex>, KbError> {
        match layer {
            Layer::Chunk => return Ok(Arc::clone(&self.chunks)),
            Layer::Atom => return Ok(Arc::clone(&self.atoms)),
            _ => {}
        }
        let cell = Arc::clone(self.view().words.entry(layer).or_default());
        let store = self.store.clone();
        let load = || beside("indexing words", move || words_in_memory(&store, layer));
        let loaded = cell.get_or_try_init(|| async { load().await.map(Arc::new) }).await?;
        Ok(Arc::clone(loaded))
    }

    fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees what was published since the last search.
    pub(crate) fn refresh(&self) -> Result<(), KbError> {
        let generation = self.store.read(|reader| reader.generation())?;
        let mut view = self.view();
        if view.generation != generation {
            self.chunks.reload()?;
            self.atoms.reload()?;
            *view = View { generation, ..View::default() };
        }
        Ok(())
    }

    /// The vectors of a layer, loaded by the first search that needs them.
    pub(crate) async fn matrix(&self, embedder: u8, layer: Layer) -> Result<Arc<Matrix>, KbError> {
        let cell = Arc::clone(self.view().matrices.entry(layer).or_default());
        let store = self.store.clone();
        let load = || beside("loading vectors", move || Matrix::load(&store, embedder, layer));
        let loaded = cell.get_or_try_init(|| async { load().await.map(Arc::new) }).await?;
        // Searches moved on to another embedder after the view was made.
        if loaded.embedder() != embedder {
            let store = self.store.clone();
            let load = move || Matrix::load(&store, embedder, layer);
            return beside("loading vectors", load).await.map(Arc::new);
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

    /// What graph searches have read so far.
    pub(crate) fn memory(&self) -> Arc<Memory> {
        Arc::clone(&self.view().memory)
    }

    /// The rows of a layer that a filter lets in; `None` for a filter that asks for nothing.
    pub(crate) fn allowed(
        &self,
        reader: &Reader<'_>,
        (filter, layer): (&Filter, Layer),
    ) -> heed::Result<Option<Arc<Rows>>> {
        if filter.is_empty() {
            return Ok(None);
        }
        let key = (layer, format!("{filter:?}"));
        if let Some(known) = self.view().filters.get(&key) {
            return Ok(Some(Arc::clone(known)));
        }
        let rows = Arc::new(allowed(reader, (filter, layer))?);
        let mut view = self.view();
        if view.filters.len() >= FILTERS {
            view.filters.clear();
        }
        view.filters.insert(key, Arc::clone(&rows));
        Ok(Some(rows))
    }

    /// Says once that only words are searched, unless there is nothing to search. The layers
    /// beside chunks and atoms are searched by words in every base.
    pub(crate) fn warn_words_only(&self, layer: Layer) -> Result<(), KbError> {
        if !matches!(layer, Layer::Chunk | Layer::Atom) {
            return Ok(());
        }
        let held = self.store.read(|reader| reader.count(layer))?;
        if held == 0 || self.warned.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let layer = layer.name();
        let active = self.store.read(|reader| reader.active_embedder())?;
        if let Some((_, record)) = active.filter(|(_, record)| self.opened(&record.model).is_none())
        {
            tracing::warn!(
                "the base's vectors are of `{}`, which is not open: only words are searched until \
                 `halma index` has embedded it anew",
                record.model
            );
        } else if let Some(embedder) = &self.embedder {
            tracing::warn!(
                "the base has no {layer} vectors of `{}`: only words are searched; run `halma \
                 index` again to embed it",
                embedder.model()
            );
        } else {
            tracing::warn!("there is no embedder: only words are searched");
        }
        Ok(())
    }
}

fn words_in_memory(store: &Store, layer: Layer) -> Result<WordIndex, KbError> {
    let texts = store.read(|reader| {
        let mut texts = vec![];
        for row in reader.rows(layer, 0, usize::MAX)? {
            texts.extend(reader.searched_text(layer, row)?.map(|text| (row, text)));
        }
        Ok(texts)
    })?;
    WordIndex::in_memory(layer, texts.into_iter())
}

/// The word index of a layer, up to the truth. One that cannot be brought there is built again: it
/// may be the copy of one that was just being written. The caller holds the lock.
fn caught_up(dir: &Path, layer: Layer, store: &Store) -> Result<WordIndex, KbError> {
    let mut index = WordIndex::open_or_mend(dir, layer)?;
    if !index.is_behind(store)? {
        return Ok(index);
    }
    match index.catch_up(store, &|_| ()) {
        Err(reason @ KbError::Words { .. }) => {
            tracing::warn!("{reason}: it is built again");
            drop(index);
            WordIndex::clear(dir)?;
            index = WordIndex::open(dir, layer)?;
            index.catch_up(store, &|_| ())?;
        }
        done => done?,
    }
    store.write(|writer| writer.publish())?;
    Ok(index)
}

/// Bytes that a folder takes up.
fn size_of(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => size_of(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    };
    entries.filter_map(Result::ok).map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_of_a_newer_format_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let base = Base::create_or_open(dir.path(), BaseOptions::default()).unwrap();
        base.store.pretend_format(FORMAT + 1);
        drop(base);
        for opened in [
            Base::open(dir.path(), BaseOptions::default()),
            Base::create_or_open(dir.path(), BaseOptions::default()),
        ] {
            let said = opened.err().unwrap().to_string();
            let found = format!("format {}", FORMAT + 1);
            assert!(said.contains(&found) && said.contains("upgrade"), "{said}");
        }
    }

    #[test]
    fn a_folder_without_a_base_is_told_from_a_base() {
        let dir = tempfile::tempdir().unwrap();
        let said = Base::open(dir.path(), BaseOptions::default()).err().unwrap().to_string();
        assert!(said.contains("halma index"), "{said}");
        let _open = Base::create_or_open(dir.path(), BaseOptions::default()).unwrap();
        let said = Base::open(dir.path(), BaseOptions::default()).err().unwrap().to_string();
        assert!(said.contains("open already"), "{said}");
    }

    #[test]
    fn a_damaged_store_is_an_error_that_says_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("truth")).unwrap();
        std::fs::write(dir.path().join("truth/data.mdb"), vec![7; 100_000]).unwrap();
        let said = Base::open(dir.path(), BaseOptions::default()).err().unwrap().to_string();
        assert!(said.contains("index again"), "{said}");
    }
}
