//! A chunk as the stages ask about it.
use halma_core::Setup;

use crate::store::{ChunkRecord, DocumentRecord, Id, Reading, Row, SectionRecord, Store, hash};
use crate::{Base, KbError};

/// A chunk with what is known about where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Passage {
    /// The document's name.
    pub(crate) document: String,
    pub(crate) title: String,
    pub(crate) section: Option<String>,
    pub(crate) text: String,
}

impl Passage {
    /// `None` when the chunk was replaced.
    pub(crate) fn read(base: &Base, row: Row) -> Result<Option<Self>, KbError> {
        base.store.read(|txn| Self::of(&base.store, txn, row))
    }

    pub(crate) fn of(store: &Store, txn: &Reading<'_>, row: Row) -> heed::Result<Option<Self>> {
        let Some(chunk) = store.node::<ChunkRecord>(txn, row)? else { return Ok(None) };
        let document: DocumentRecord = store.linked(txn, chunk.document)?;
        let section: SectionRecord = store.linked(txn, chunk.section)?;
        let text = store.chunk_text(txn, &chunk)?.trim().to_owned();
        let name = document.names.first().cloned().unwrap_or_default();
        Ok(Some(Self { document: name, title: document.title, section: section.name, text }))
    }

    /// Hash of the passage and of what it is asked with.
    pub(crate) fn input(&self, prompt: Id) -> Id {
        let section = self.section.as_deref().unwrap_or("");
        let (title, text) = (self.title.as_bytes(), self.text.as_bytes());
        hash(&[&prompt.to_be_bytes(), title, section.as_bytes(), text])
    }

    /// All that a model is shown of it.
    pub(crate) fn whole(&self) -> String {
        let section = self.section.as_deref().unwrap_or("");
        format!("{}\n{section}\n{}", self.title, self.text)
    }
}

/// Hash of a prompt's text as it is in use.
pub(crate) fn prompt_hash(setup: &Setup, name: &str) -> Id {
    let list = setup.prompts.list();
    let held = list.iter().find(|info| info.name == name);
    hash(&[name.as_bytes(), held.map_or("", |info| info.hash.as_str()).as_bytes()])
}
