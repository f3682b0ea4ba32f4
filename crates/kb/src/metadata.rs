//! Fields that users give to documents: read from files next to them, changed without indexing again.
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use halma_core::{Metadata, NodeId};
use serde_json::error::Category;

use crate::read::{Refusal, refusal};
use crate::store::{DocumentRecord, StoreReader, parse_id};
use crate::{Base, KbError};

/// What the name of a file with the fields of another one ends with.
const ENDING: &str = ".meta.json";

/// The largest of them, in bytes.
const LARGEST: u64 = 1_000_000;

/// Whether a file holds the fields of another one, by its name.
pub fn is_metadata_file(name: &str) -> bool {
    name.len() > ENDING.len() && name.to_lowercase().ends_with(ENDING)
}

/// The file with the fields of a file: `report.pdf.meta.json` next to `report.pdf`.
pub fn metadata_file(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ENDING);
    name.into()
}

/// The fields in the file next to a file; `None` where there is none. The error says why the file
/// is not valid, so that a document is not taken in with fewer fields than it should have.
pub fn read_metadata_file(path: &Path) -> Result<Option<Metadata>, Refusal> {
    let path = metadata_file(path);
    let shown = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let about = match std::fs::metadata(&path) {
        // Where the longer name is too long, there is no file of that name.
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::InvalidFilename) => {
            return Ok(None);
        }
        about => about,
    };
    let unreadable = |e: std::io::Error| {
        refusal(format!("its fields in `{shown}` cannot be read: {e}"), "check that file")
    };
    if about.map_err(unreadable)?.len() > LARGEST {
        return Err(refusal(format!("`{shown}` is too large"), "it holds a few fields only"));
    }
    let text = std::fs::read_to_string(&path).map_err(unreadable)?;
    let hint = "write one JSON object of texts, numbers, truths and lists";
    let metadata: Metadata = serde_json::from_str(&text).map_err(|e| {
        let reason = match e.classify() {
            Category::Data => format!("`{shown}` does not fit: {e}"),
            _ => format!("`{shown}` is not valid JSON: {e}"),
        };
        refusal(reason, hint)
    })?;
    metadata.check().map_err(|e| refusal(format!("`{shown}`: {e}"), hint))?;
    Ok(Some(metadata))
}

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
