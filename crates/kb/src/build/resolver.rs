//! Resolving a document that comes in: it is known, new, or takes the place of another. Nothing is
//! written here, so that an estimate resolves in the same way.
use std::collections::{HashMap, HashSet};
use std::path::Path;

use halma_core::Layer;

use super::reader::is_cut_otherwise;
use crate::Base;
use crate::read::{InputFile, Naming, ParsedDocument, file_of, origin_of, stamp_of};
use crate::store::{DocumentRecord, FileKey, Id, Row, StoreReader, hash};

/// A document as it is distinguished from others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Incoming<'a> {
    pub(super) id: Id,
    pub(super) name: &'a str,
    pub(super) naming: Naming,
    pub(super) source: &'a str,
    /// The file it comes from.
    pub(super) origin: &'a str,
}

impl<'a> Incoming<'a> {
    pub(super) fn of_draft(id: Id, draft: &'a ParsedDocument, file: &'a InputFile) -> Self {
        let ParsedDocument { name, naming, source, .. } = draft;
        Self { id, name, naming: *naming, source, origin: &file.origin }
    }

    /// The document that a file became when it was last read.
    pub(super) fn of_file(id: Id, file: &'a InputFile) -> Self {
        let (name, origin) = (file.name.as_str(), file.origin.as_str());
        Self { id, name, naming: Naming::Stable, source: name, origin }
    }
}

/// What is to be done with a document that comes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum IngestAction {
    /// The base holds it in this row.
    Keep {
        row: Row,
        /// Whether this run meets the file that it is shown by for the first time; others are copies.
        first: bool,
        /// The name it gets, and the document that has to give it up; `None`: it keeps its names.
        name: Option<(String, Option<Row>)>,
    },
    /// The base has it, but chunked with other settings.
    Rechunk { row: Row, name: String, first: bool },
    /// The base does not have it; `replaces` is the document that had its name.
    Add { name: String, replaces: Option<Row> },
}

/// Resolves the documents of one run of `index`.
pub(super) struct DocumentResolver {
    /// Names the settings that documents are chunked with.
    pub(super) cut_with: Id,
    /// The folder of the base, in which uploaded files lie, as in [`InputFile::origin`], with a `/`.
    base_origin: String,
    met: HashSet<Id>,
    /// Those of which the file that they are shown by was met.
    shown: HashSet<Id>,
    /// Names given in this run, with how often they were asked for.
    last_numbers: HashMap<String, usize>,
    given: HashMap<String, Id>,
}

impl DocumentResolver {
    pub(super) fn new(cut_with: Id, base: &Base) -> Self {
        let (met, shown) = (HashSet::new(), HashSet::new());
        let (last_numbers, given) = (HashMap::new(), HashMap::new());
        Self { cut_with, base_origin: origin_of(&base.dir), met, shown, last_numbers, given }
    }

    pub(super) fn resolve(
        &mut self,
        reader: &StoreReader<'_>,
        incoming: Incoming<'_>,
    ) -> heed::Result<IngestAction> {
        let existing = reader.find(Layer::Document, incoming.id)?;
        let first = self.met.insert(incoming.id);
        let recut = match existing {
            Some(row) if first => is_cut_otherwise(reader, row, self.cut_with)?,
            _ => false,
        };
        if let (Some(row), Naming::Pooled, false) = (existing, incoming.naming, recut) {
            return Ok(IngestAction::Keep { row, first, name: None });
        }
        let (name, named) = self.name(reader, incoming)?;
        let is_copy = match existing {
            Some(row) => is_copy(reader, row, (&name, incoming.origin))?,
            None => false,
        };
        let first = !is_copy && self.shown.insert(incoming.id);
        Ok(match existing {
            Some(row) if recut => IngestAction::Rechunk { row, name, first },
            Some(row) => {
                let gives_up = named.filter(|other| *other != row);
                IngestAction::Keep { row, first, name: Some((name, gives_up)) }
            }
            None => IngestAction::Add { name, replaces: named },
        })
    }

    /// Whether a document is chunked with other settings than in this run.
    pub(super) fn is_cut_otherwise(
        &self,
        reader: &StoreReader<'_>,
        row: Row,
    ) -> heed::Result<bool> {
        is_cut_otherwise(reader, row, self.cut_with)
    }

    /// Whether this run has met a document.
    pub(super) fn has_met(&self, id: Id) -> bool {
        self.met.contains(&id)
    }

    /// Whether this run has given a name.
    pub(super) fn has_given(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// The name a document gets, and the document that has it now: the document itself, or the
    /// one it replaces. A name of another document gets a number.
    fn name(
        &mut self,
        reader: &StoreReader<'_>,
        incoming: Incoming<'_>,
    ) -> heed::Result<(String, Option<Row>)> {
        let Incoming { id, naming, source, origin, .. } = incoming;
        let kept = if naming == Naming::Stable { name_of_file(reader, origin)? } else { None };
        let wanted = kept.as_deref().unwrap_or(incoming.name);
        // By where it lies, since it may have been renamed, or by its path below the folder that is
        // given, which may have moved: two files that are both there are two documents.
        let below = origin.strip_prefix(&self.base_origin).map(|below| format!("/{below}"));
        let of_file = |holder: &DocumentRecord, name: &str| {
            let at = holder.names.iter().position(|other| other == name);
            let lies = at.and_then(|at| holder.origins.get(at)).map_or("", String::as_str);
            // The uploads of a base that was copied are the same as those of the other one.
            let is_upload = below.as_ref().is_some_and(|below| lies.ends_with(below));
            let moved = || is_upload || !Path::new(file_of(lies)).is_file();
            lies == origin || holder.source == source && moved()
        };
        let last_number = self.last_numbers.get(wanted).copied().unwrap_or(0);
        for number in std::iter::once(1).chain(last_number.max(1) + 1..) {
            let name = match number {
                1 => wanted.to_owned(),
                number => format!("{wanted} ({number})"),
            };
            let row = reader.named(&name)?;
            let holder = row.map(|row| reader.linked::<DocumentRecord>(row)).transpose()?;
            let given = self.given.get(&name);
            let fits = match (given, &holder) {
                (Some(given), _) => *given == id,
                (None, None) => true,
                (None, Some(holder)) if holder.id == id => true,
                (None, Some(holder)) => naming == Naming::Stable && of_file(holder, &name),
            };
            if fits {
                let count = self.last_numbers.entry(wanted.to_owned()).or_default();
                *count = number.max(*count);
                self.given.insert(name.clone(), id);
                return Ok((name, row));
            }
        }
        let none = format!("there is no name left for `{wanted}`");
        Err(heed::Error::Encoding(none.into()))
    }
}

/// The name that the document of a file has, which it keeps when the file is given in another way: by
/// itself, or below another folder.
fn name_of_file(reader: &StoreReader<'_>, origin: &str) -> heed::Result<Option<String>> {
    Ok(reader.file_document(FileKey::of(origin))?.map(|document| document.name))
}

/// Whether a document is shown by another file, which lies where it did and is as it was: one that was
/// moved or has changed gives its document up.
fn is_copy(reader: &StoreReader<'_>, row: Row, (name, origin): (&str, &str)) -> heed::Result<bool> {
    let DocumentRecord { id, names, origins, .. } = reader.linked(row)?;
    let is_other = |lies: &&String| *lies != origin && names.first().is_some_and(|n| n != name);
    let Some(shown_by) = origins.first().filter(is_other) else { return Ok(false) };
    let (path, recorded) = (Path::new(file_of(shown_by)), reader.file(FileKey::of(shown_by))?);
    let file = reader.file(FileKey::of(file_of(shown_by)))?;
    let (Some(recorded), Some(file)) = (recorded, file) else { return Ok(path.is_file()) };
    let is_same = || std::fs::read(path).is_ok_and(|bytes| blake3::hash(&bytes) == file.content);
    let is_stamped = stamp_of(path).is_some_and(|stamp| file.stamp == Some(stamp));
    Ok(recorded.document == id && (is_stamped || is_same()))
}

/// The id of a document of this title and text.
pub(super) fn document_id(title: &str, text: &str) -> Id {
    hash(&[title.as_bytes(), text.as_bytes()])
}
