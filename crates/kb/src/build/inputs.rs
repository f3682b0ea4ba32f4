//! The inputs as both a build and its estimate see them: which files there are, what is known of
//! them, and what they are cut into.
use std::path::PathBuf;

use halma_core::Layer;

use super::desk::Desk;
use super::options::Selection;
use crate::cut::{CutSettings, Outline, cut_now};
use crate::read::{Draft, InputFile, Walked, walk};
use crate::store::{FileKey, Id, hash};
use crate::{Base, Chunks, IndexOptions, KbError, KbSettings};

/// The files of the inputs. An empty folder is no reason to remove everything that was in it.
pub(super) fn look(
    base: &Base,
    inputs: &[PathBuf],
    (options, selection): (&IndexOptions, &Selection),
) -> Result<Walked, KbError> {
    let walked = walk(inputs, &base.dir, selection)?;
    let empty = walked.roots.iter().find(|root| !root.found);
    match empty.filter(|_| options.prune) {
        Some(root) => Err(KbError::NothingFound { path: root.path.clone() }),
        None => Ok(walked),
    }
}

/// How a document would be cut; by the structure where a model or the embedder would say.
pub(super) fn cut(draft: &Draft, settings: &KbSettings) -> Outline {
    let (title, settings) = (title_of(draft), CutSettings::of(settings));
    let structure = CutSettings { chunks: Chunks::Structure, ..settings };
    let cut = cut_now(&draft.parsed, title, &settings);
    cut.or_else(|| cut_now(&draft.parsed, title, &structure)).unwrap_or_default().outline
}

/// Names the settings that a document is cut with.
pub(super) fn cut_with(settings: &KbSettings) -> Id {
    CutSettings::of(settings).fingerprint()
}

/// Names how files are read: another version may read more of them.
pub(super) fn read_with(options: &IndexOptions, cut_with: Id) -> Id {
    let format = format!("{:?}", options.format);
    let version = env!("CARGO_PKG_VERSION");
    hash(&[format.as_bytes(), version.as_bytes(), &cut_with.to_be_bytes()])
}

/// The document that a file became, if neither has changed since.
pub(super) fn unchanged(
    base: &Base,
    (file, bytes): (&InputFile, &[u8]),
    (options, desk): (&IndexOptions, &Desk),
) -> Result<Option<Id>, KbError> {
    let store = &base.store;
    store.read(|txn| {
        let Some(record) = store.file(txn, FileKey::of(&file.origin))? else { return Ok(None) };
        let same = record.read_with == read_with(options, desk.cut_with)
            && record.content == *blake3::hash(bytes).as_bytes();
        let row = if same { store.find(txn, Layer::Document, record.document)? } else { None };
        let Some(row) = row else { return Ok(None) };
        let stays = !desk.is_cut_otherwise((store, txn), row)?;
        Ok(stays.then_some(record.document))
    })
}

pub(super) fn title_of(draft: &Draft) -> &str {
    draft.title.as_deref().unwrap_or("").trim()
}
