//! The fields that a document gets from what is read, so that those that a user has changed since
//! stay as long as the input says the same.
use halma_core::Metadata;

use super::resolver::IngestAction;
use crate::store::{DocumentRecord, FieldsKey, Id, StoreReader, StoreWriter, hash};

/// What an input file says of the fields of a document.
#[derive(Clone, Copy)]
pub(super) struct Stated<'a> {
    /// `None`: nothing, which leaves those that the document has.
    pub(super) metadata: Option<&'a Metadata>,
    /// Where the file lies.
    pub(super) origin: &'a str,
}

impl Stated<'_> {
    /// What identifies the fields that are said, and under which key that is stored.
    fn identity(&self, name: &str) -> heed::Result<Option<(FieldsKey, Id)>> {
        let Some(metadata) = self.metadata else { return Ok(None) };
        let json = serde_json::to_vec(metadata).map_err(|e| heed::Error::Encoding(e.into()))?;
        Ok(Some((FieldsKey::of(self.origin, name), hash(&[&json]))))
    }
}

/// The fields that a document gets under its name.
pub(super) struct Fields {
    /// `None` where the document keeps its names and so its fields.
    name: Option<String>,
    metadata: Metadata,
    /// What the input said, where that is new.
    stated: Option<(FieldsKey, Id)>,
}

impl Fields {
    /// Those that are said of a document, where its input says others than in the last run; or else
    /// those that the document of its name has; and in their place those of this run.
    pub(super) fn of(
        reader: &StoreReader<'_>,
        action: &IngestAction,
        stated: Stated<'_>,
        run: &Metadata,
    ) -> heed::Result<Self> {
        let is_said = stated.metadata.is_some() || !run.is_empty();
        let name = match action {
            IngestAction::Keep { name: Some((name, _)), .. }
            | IngestAction::Rechunk { name, .. }
            | IngestAction::Add { name, .. } => Some(name.clone()),
            // It keeps its names; fields that are said of it are those of the one that is shown.
            IngestAction::Keep { row, .. } if is_said => {
                reader.linked::<DocumentRecord>(*row)?.names.into_iter().next()
            }
            IngestAction::Keep { .. } => None,
        };
        let Some(name) = name else {
            return Ok(Self { name: None, metadata: Metadata::default(), stated: None });
        };
        let stored = match reader.named(&name)? {
            Some(row) => Some(reader.linked::<DocumentRecord>(row)?.metadata_under(&name)),
            None => None,
        };
        let (mut before, mut new) = (stored.clone().unwrap_or_default(), None);
        if let (Some(metadata), Some((key, id))) = (stated.metadata, stated.identity(&name)?) {
            let is_same = reader.stated_fields(key)? == Some(id);
            if !is_same || stored.is_none() {
                before = metadata.clone();
            }
            new = (!is_same).then_some((key, id));
        }
        Ok(Self { name: Some(name), metadata: before.overlaid(run), stated: new })
    }

    /// Whether there is nothing to store for a document without any.
    pub(super) fn is_empty(&self) -> bool {
        self.metadata.is_empty() && self.stated.is_none()
    }

    /// Returns whether the document had others.
    pub(super) fn store(self, writer: &mut StoreWriter<'_>) -> heed::Result<bool> {
        let Some(name) = self.name else { return Ok(false) };
        let Some(row) = writer.named(&name)? else { return Ok(false) };
        if let Some((key, id)) = self.stated {
            writer.put_stated_fields(key, id)?;
        }
        writer.set_metadata(row, &name, &self.metadata)
    }
}
