//! A lexical index in memory, for the layers that have none on disk.
use std::sync::Arc;

use halma_core::Layer;

use crate::KbError;
use crate::lexical::{IndexedText, LexicalIndex};
use crate::store::{Changed, DocumentLanguages, Row, Store, StoreReader};
use crate::terms::Languages;

/// A lexical index in memory, and to where in the log of changes it is up to date.
#[derive(Clone)]
pub(super) struct MemoryIndex {
    position: u64,
    pub(super) index: Arc<LexicalIndex>,
}

impl MemoryIndex {
    pub(super) fn load(store: &Store, layer: Layer) -> Result<Self, KbError> {
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
    pub(super) fn update(&mut self, store: &Store, layer: Layer) -> Result<bool, KbError> {
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
