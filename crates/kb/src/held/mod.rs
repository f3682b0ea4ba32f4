//! What searches hold in memory, for as long as the base is open. Each part is loaded when a search
//! first needs it; later it is brought up to date by reading what has changed since.
use std::collections::HashMap;
use std::sync::Arc;

use halma_core::{Filter, Layer};
use parking_lot::Mutex;

use crate::KbError;
use crate::feedback::FeedbackIndex;
use crate::graph::GraphCache;
use crate::lexical::{IndexedText, Languages, LexicalIndex};
use crate::search::filter_cache::FilterRows;
use crate::search::matrix::Matrix;
use crate::store::RowSet;
use crate::store::{Changed, DocumentLanguages, Row, Store, StoreReader};
use crate::tags::TagIndex;
use crate::walk::Walk;

/// Filters whose rows are held; beyond it they are computed again.
const FILTERS: usize = 64;

/// Something that is held, with the generation of the base that it was brought up to.
type Cell<T> = Arc<Mutex<Option<(u64, Arc<T>)>>>;

/// What is held of one base.
pub(crate) struct Held {
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

/// A lexical index in memory, and to where in the log of changes it is up to date.
#[derive(Clone)]
struct MemoryIndex {
    position: u64,
    index: Arc<LexicalIndex>,
}

/// What is held, brought up to this generation by `renew`, which gets what there is so far.
fn current<T>(
    cell: &Cell<T>,
    generation: u64,
    renew: impl FnOnce(Option<Arc<T>>) -> Result<Arc<T>, KbError>,
) -> Result<Arc<T>, KbError> {
    let mut held = cell.lock();
    match held.take() {
        Some((known, value)) if known >= generation => {
            *held = Some((known, Arc::clone(&value)));
            Ok(value)
        }
        former => {
            let value = renew(former.map(|(_, value)| value))?;
            *held = Some((generation, Arc::clone(&value)));
            Ok(value)
        }
    }
}

impl Held {
    pub(crate) fn new(chunks: LexicalIndex, atoms: LexicalIndex, generation: u64) -> Self {
        Self {
            chunks: Arc::new(chunks),
            atoms: Arc::new(atoms),
            generation: Mutex::new(generation),
            matrices: Mutex::default(),
            lexical: Mutex::default(),
            filters: Mutex::default(),
            graph: Cell::default(),
            tags: Cell::default(),
            feedback: Cell::default(),
            whole: None,
        }
    }

    /// Of a view of some documents of the base that `held` is of.
    pub(crate) fn restricted(held: &Arc<Self>, store: &Store) -> Self {
        let whole = held.whole.clone();
        let (whole, held) = whole.unwrap_or_else(|| (store.whole(), Arc::clone(held)));
        Self {
            chunks: Arc::clone(&held.chunks),
            atoms: Arc::clone(&held.atoms),
            generation: Mutex::default(),
            matrices: Mutex::default(),
            lexical: Mutex::default(),
            filters: Mutex::default(),
            graph: Cell::default(),
            tags: Cell::default(),
            feedback: Cell::default(),
            whole: Some((whole, held)),
        }
    }

    /// Sees what was published since the last search; returns the generation. That of a view also
    /// grows when any document changes, since fields, which decide what is visible, change without a
    /// new generation.
    pub(crate) fn refresh(&self, store: &Store) -> Result<u64, KbError> {
        if let Some((whole, held)) = &self.whole {
            held.refresh(whole)?;
            return store.read(|reader| Ok(reader.generation()? + reader.document_changes()?));
        }
        let generation = store.generation()?;
        let mut known = self.generation.lock();
        if *known != generation {
            let languages = Arc::new(store.read(|reader| reader.languages())?);
            for index in [&self.chunks, &self.atoms] {
                index.reload()?;
                index.use_languages(Arc::clone(&languages));
            }
            *known = generation;
        }
        Ok(generation)
    }

    /// The vectors of a layer by an embedder.
    pub(crate) fn matrix(
        &self,
        store: &Store,
        (embedder, layer): (u8, Layer),
        generation: u64,
    ) -> Result<Arc<Matrix>, KbError> {
        if let Some((whole, held)) = &self.whole {
            let generation = held.refresh(whole)?;
            return held.matrix(whole, (embedder, layer), generation);
        }
        let cell = {
            let mut matrices = self.matrices.lock();
            if !matrices.contains_key(&(embedder, layer)) {
                // Searches moved on to another embedder.
                matrices.retain(|(_, known), _| *known != layer);
            }
            Arc::clone(matrices.entry((embedder, layer)).or_default())
        };
        current(&cell, generation, |former| {
            if let Some(mut matrix) = former
                && Arc::make_mut(&mut matrix).update(store)?
            {
                return Ok(matrix);
            }
            Matrix::load(store, embedder, layer).map(Arc::new)
        })
    }

    /// The lexical index of any layer. Those of the smaller ones are in memory, so that nothing of
    /// them is left on disk when a document is deleted.
    pub(crate) fn lexical(
        &self,
        store: &Store,
        layer: Layer,
        generation: u64,
    ) -> Result<Arc<LexicalIndex>, KbError> {
        match layer {
            Layer::Chunk => return Ok(Arc::clone(&self.chunks)),
            Layer::Atom => return Ok(Arc::clone(&self.atoms)),
            _ => {}
        }
        let cell = Arc::clone(self.lexical.lock().entry(layer).or_default());
        let held = current(&cell, generation, |former| {
            if let Some(mut held) = former.filter(|_| !store.is_restricted())
                && Arc::make_mut(&mut held).update(store, layer)?
            {
                return Ok(held);
            }
            MemoryIndex::load(store, layer).map(Arc::new)
        })?;
        Ok(Arc::clone(&held.index))
    }

    /// The rows of a layer that a filter lets in; `None` for a filter that asks for nothing.
    pub(crate) fn allowed(
        &self,
        store: &Store,
        (filter, layer): (&Filter, Layer),
        generation: u64,
    ) -> Result<Option<Arc<RowSet>>, KbError> {
        if filter.feedback == Some(true) {
            return self.accepted(store, (filter, layer), generation).map(Some);
        }
        // What is not to be found of it is among what is excluded.
        let filter = &Filter { feedback: None, ..filter.clone() };
        if filter.is_empty() && !store.is_restricted() {
            return Ok(None);
        }
        // Fields change without a new generation.
        let generation = if filter.metadata.is_empty() || store.is_restricted() {
            generation
        } else {
            generation + store.read(|reader| reader.document_changes())?
        };
        let cell = {
            let mut filters = self.filters.lock();
            let key = (layer, format!("{filter:?}"));
            if filters.len() >= FILTERS && !filters.contains_key(&key) {
                filters.clear();
            }
            Arc::clone(filters.entry(key).or_default())
        };
        let held = current(&cell, generation, |former| {
            if let Some(mut rows) = former.filter(|_| !store.is_restricted())
                && Arc::make_mut(&mut rows).update(store, filter)?
            {
                return Ok(rows);
            }
            FilterRows::load(store, filter, layer).map(Arc::new)
        })?;
        Ok(Some(Arc::clone(&held.rows)))
    }

    /// The rows of a layer that were accepted from answers and that the rest of a filter lets in.
    fn accepted(
        &self,
        store: &Store,
        (filter, layer): (&Filter, Layer),
        generation: u64,
    ) -> Result<Arc<RowSet>, KbError> {
        let mut rows = RowSet::default();
        if layer == Layer::Atom {
            let rest = Filter { feedback: None, ..filter.clone() };
            let others = self.allowed(store, (&rest, layer), generation)?;
            for row in store.read(|reader| reader.accepted_atoms())? {
                if others.as_ref().is_none_or(|others| others.contains(row)) {
                    rows.insert(row);
                }
            }
        }
        Ok(Arc::new(rows))
    }

    /// What graph searches share.
    pub(crate) fn graph(&self, store: &Store, generation: u64) -> Result<Arc<GraphCache>, KbError> {
        current(&self.graph, generation, |former| {
            if let Some(former) = former.filter(|_| !store.is_restricted()) {
                let mut walk = Arc::clone(&former.walk);
                // So that the walk is changed in place, unless a search still uses it.
                drop(former);
                if Arc::make_mut(&mut walk).update(store)? {
                    return Ok(Arc::new(GraphCache::new(walk)));
                }
            }
            Ok(Arc::new(GraphCache::new(Arc::new(Walk::load(store)?))))
        })
    }

    /// Questions that were accepted or marked wrong.
    pub(crate) fn feedback(
        &self,
        store: &Store,
        generation: u64,
    ) -> Result<Arc<FeedbackIndex>, KbError> {
        current(&self.feedback, generation, |former| {
            // What may be seen of the same records can change.
            let former = former.filter(|_| !store.is_restricted());
            store.read(|reader| FeedbackIndex::load(reader, former.as_deref())).map(Arc::new)
        })
    }

    /// The tags by everything that they go by.
    pub(crate) fn tags(&self, store: &Store, generation: u64) -> Result<Arc<TagIndex>, KbError> {
        current(&self.tags, generation, |_| store.read(TagIndex::load).map(Arc::new))
    }
}

impl MemoryIndex {
    fn load(store: &Store, layer: Layer) -> Result<Self, KbError> {
        let (position, texts, languages) = store.read(|reader| {
            let languages = reader.languages()?;
            let rows = reader.all_rows(layer)?;
            let texts = searched_texts(reader, &languages, layer, &rows)?;
            Ok((reader.change_position()?, texts, languages))
        })?;
        let texts = texts.into_iter().filter_map(|(_, text)| text);
        let index = Arc::new(LexicalIndex::in_memory(layer, texts, Arc::new(languages))?);
        Ok(Self { position, index })
    }

    /// Takes in what has changed; `false` when that is not known any more.
    fn update(&mut self, store: &Store, layer: Layer) -> Result<bool, KbError> {
        let changed = store.read(|reader| {
            let Some(changes) = reader.changes_since(self.position)? else { return Ok(None) };
            let languages = reader.languages()?;
            let rows = changes.of(Changed::Node, layer);
            let texts = searched_texts(reader, &languages, layer, rows)?;
            Ok(Some((reader.change_position()?, texts, languages)))
        })?;
        let Some((position, texts, languages)) = changed else { return Ok(false) };
        self.index.use_languages(Arc::new(languages));
        if !texts.is_empty() {
            self.index.replace(texts)?;
        }
        self.position = position;
        Ok(true)
    }
}

/// A lexical index of these rows alone, in memory.
pub(crate) fn index_rows(
    reader: &StoreReader<'_>,
    layer: Layer,
    rows: &[Row],
) -> heed::Result<Result<LexicalIndex, KbError>> {
    let languages = reader.languages()?;
    let texts = searched_texts(reader, &languages, layer, rows)?;
    let texts = texts.into_iter().filter_map(|(_, text)| text);
    Ok(LexicalIndex::in_memory(layer, texts, Arc::new(languages)))
}

/// The texts of rows as they are searched, in the languages of their documents; `None` for what
/// has none.
fn searched_texts(
    reader: &StoreReader<'_>,
    languages: &Languages,
    layer: Layer,
    rows: &[Row],
) -> heed::Result<Vec<(Row, Option<IndexedText>)>> {
    let (mut texts, mut of) = (vec![], DocumentLanguages::new(languages));
    for row in rows.iter().copied() {
        let Some(text) = reader.searched_text(layer, row)? else {
            texts.push((row, None));
            continue;
        };
        let language = of.language(reader, (layer, row))?;
        texts.push((row, Some(IndexedText { row, text, language })));
    }
    Ok(texts)
}

#[cfg(test)]
impl Held {
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
