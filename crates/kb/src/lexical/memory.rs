//! Lexical indexes in memory, for layers that are searched seldom.
use std::path::PathBuf;
use std::sync::Arc;

use halma_core::Layer;
use parking_lot::RwLock;
use tantivy::{Index, ReloadPolicy, TantivyDocument, Term};

use super::index::{TOKENIZER, document, schema};
use super::rows::RowColumns;
use super::writer::WRITER_HEAP;
use super::{IndexedText, Languages, LexicalIndex, analyzer};
use crate::KbError;
use crate::store::Row;

/// The same for a few texts: the least that tantivy takes.
const SMALL_HEAP: usize = 15_000_000;

impl LexicalIndex {
    /// An index of these texts in memory, for a layer that is searched seldom.
    pub(crate) fn in_memory(
        layer: Layer,
        texts: impl Iterator<Item = IndexedText>,
        languages: Arc<Languages>,
    ) -> Result<Self, KbError> {
        let dir = PathBuf::from(layer.name());
        let fail = |source| KbError::Lexical { dir: dir.clone(), source };
        let (schema, row, text) = schema();
        let index = Index::create_in_ram(schema);
        index.tokenizers().register(TOKENIZER, analyzer());
        let mut writer =
            index.writer_with_num_threads::<TantivyDocument>(1, WRITER_HEAP).map_err(fail)?;
        for searched in texts {
            writer.add_document(document(row, text, searched, &languages)).map_err(fail)?;
        }
        writer.commit().map_err(fail)?;
        writer.wait_merging_threads().map_err(fail)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        let reader = reader.map_err(fail)?;
        let (languages, columns) = (RwLock::new(languages), RowColumns::default());
        Ok(Self { layer, dir, index, reader, row, text, languages, columns })
    }

    /// For an index in memory: rows that have another text now, or none.
    pub(crate) fn replace(&self, texts: Vec<(Row, Option<IndexedText>)>) -> Result<(), KbError> {
        let languages = self.languages.read().clone();
        let fail = self.failed();
        let mut writer =
            self.index.writer_with_num_threads::<TantivyDocument>(1, SMALL_HEAP).map_err(&fail)?;
        for (row, searched) in texts {
            writer.delete_term(Term::from_field_u64(self.row, u64::from(row)));
            let Some(searched) = searched else { continue };
            let document = document(self.row, self.text, searched, &languages);
            writer.add_document(document).map_err(&fail)?;
        }
        writer.commit().map_err(&fail)?;
        writer.wait_merging_threads().map_err(&fail)?;
        self.reload()
    }
}
