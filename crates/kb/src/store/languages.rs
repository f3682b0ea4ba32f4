//! The languages of a base's documents.
use super::{At, DocumentRecord, Row, StoreReader, StoreWriter};
use crate::terms::{Languages, has_stemmer};

/// The codes of languages that documents have had, of those whose words have stems of their own.
const KEY: &str = "languages";

impl StoreReader<'_> {
    /// The languages of the documents, for cutting texts and queries into terms.
    pub(crate) fn languages(&self) -> heed::Result<Languages> {
        Ok(Languages::new(&self.language_codes()?))
    }

    pub(crate) fn language_codes(&self) -> heed::Result<Vec<String>> {
        Ok(self.meta(KEY)?.unwrap_or_default())
    }
}

impl StoreWriter<'_> {
    /// Notes the language of a new document.
    pub(crate) fn note_language(&mut self, code: Option<&String>) -> heed::Result<()> {
        let Some(code) = code.filter(|code| has_stemmer(code)) else { return Ok(()) };
        let mut codes = self.language_codes()?;
        if codes.contains(code) {
            return Ok(());
        }
        codes.push(code.clone());
        codes.sort();
        self.set_meta(KEY, &codes)
    }
}

/// Looks up the languages of nodes; of those of one document in sequence, once.
pub(crate) struct DocumentLanguages {
    /// In a base of English nothing has to be looked up.
    is_english: bool,
    last: Option<(Row, Option<String>)>,
}

impl DocumentLanguages {
    pub(crate) fn new(languages: &Languages) -> Self {
        Self { is_english: languages.is_english(), last: None }
    }

    pub(crate) fn language(
        &mut self,
        reader: &StoreReader<'_>,
        node: At,
    ) -> heed::Result<Option<String>> {
        if self.is_english {
            return Ok(None);
        }
        let Some(record) = reader.record(node)? else { return Ok(None) };
        let Some(document) = record.document(reader, node.1)? else { return Ok(None) };
        if let Some((_, language)) = self.last.as_ref().filter(|(row, _)| *row == document) {
            return Ok(language.clone());
        }
        let language = reader.node::<DocumentRecord>(document)?.and_then(|record| record.language);
        self.last = Some((document, language.clone()));
        Ok(language)
    }
}
