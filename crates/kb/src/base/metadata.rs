//! Fields that users give to documents, changed without indexing again.
use halma_core::{Metadata, NodeId};

use crate::store::{DocumentRecord, StoreReader, parse_id};
use crate::{Base, KbError};

impl Base {
    /// Gives a document, named or by its id, other fields; those that it had are gone. With several
    /// names it has fields under each; an id stands for the first. Nothing is indexed again, and
    /// searches see the change at once. Returns the name.
    pub fn set_metadata(&self, document: &str, metadata: &Metadata) -> Result<String, KbError> {
        metadata.check()?;
        let missing = || KbError::NoNode { id: document.to_owned() };
        let name = self.store.read(|reader| name_of(reader, document))?.ok_or_else(missing)?;
        let whole = self.whole.as_deref().unwrap_or(self);
        whole.store.write(|writer| match writer.named(&name)? {
            Some(row) => writer.set_metadata(row, &name, metadata).map(drop),
            None => Ok(()),
        })?;
        Ok(name)
    }

    /// The fields of a document by its name; `None` when there is no such document.
    pub fn metadata(&self, name: &str) -> Result<Option<Metadata>, KbError> {
        self.store.read(|reader| {
            let Some(row) = reader.named(name)? else { return Ok(None) };
            let record = reader.node::<DocumentRecord>(row)?;
            Ok(record.map(|record| record.metadata_under(name)))
        })
    }

    /// Whether a name belongs to a document that is not to be seen here, so that a file of this name
    /// would take its place.
    pub fn hides(&self, name: &str) -> Result<bool, KbError> {
        let Some(whole) = &self.whole else { return Ok(false) };
        let exists = whole.store.read(|reader| reader.named(name))?.is_some();
        Ok(exists && self.store.read(|reader| reader.named(name))?.is_none())
    }
}

/// The name that a document is shown under, by the id of it or by any of its names.
fn name_of(reader: &StoreReader<'_>, document: &str) -> heed::Result<Option<String>> {
    if reader.named(document)?.is_some() {
        return Ok(Some(document.to_owned()));
    }
    let Some((halma_core::Layer::Document, id)) = parse_id(&NodeId(document.to_owned())) else {
        return Ok(None);
    };
    let Some(row) = reader.find(halma_core::Layer::Document, id)? else { return Ok(None) };
    let record = reader.node::<DocumentRecord>(row)?;
    Ok(record.and_then(|record| record.names.into_iter().next()))
}
