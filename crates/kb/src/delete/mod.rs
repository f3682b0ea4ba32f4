//! Deleting documents, so that nothing of them is left in any file of the base.
mod records;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use halma_core::text::composed;
use halma_core::{Layer, NodeId};
use serde::Serialize;

use crate::names::{fits, near};
use crate::store::{DocumentRecord, FileKey, Gone, Row, StoreReader, parse_id, searched};
use crate::{Base, KbError, UnknownNames};

pub use self::records::FileRecord;
use crate::base::WriterLock;

/// What a deletion did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Deleted {
    /// Names that are gone, in order. Replies of models about them are to be forgotten too: see
    /// `Cache::forget` in `connect`.
    pub names: Vec<String>,
    /// Names under which documents of the same text stay.
    pub kept: Vec<String>,
    /// Nodes that went, by layer.
    pub nodes: BTreeMap<Layer, u64>,
    pub elapsed_ms: f64,
}

/// What is to be deleted: rows of documents with the names to take from them; all names where
/// there are none.
#[derive(Default)]
struct Chosen(BTreeMap<Row, BTreeSet<String>>);

impl Chosen {
    fn name(&mut self, row: Row, name: &str) {
        match self.0.get_mut(&row) {
            // It goes with all its names.
            Some(names) if names.is_empty() => {}
            Some(names) => drop(names.insert(name.to_owned())),
            None => drop(self.0.insert(row, BTreeSet::from([name.to_owned()]))),
        }
    }
}

impl Base {
    /// Deletes documents by name, by a pattern of names in which `*` stands for anything, or by
    /// node id; with them goes everything made of them, and with a mail what is attached. A document with several names loses the
    /// ones given and goes with the last. A build that is running makes room and continues
    /// afterwards. When this returns no file of the base holds a word of them in a form that can be read, the folder of cached
    /// replies aside.
    pub fn delete(&self, documents: &[String]) -> Result<Deleted, KbError> {
        self.delete_chosen(|| self.choose(documents))
    }

    /// [`Base::delete`] of the document of exactly this name, if there is one once a build that is
    /// running has made room; nothing is deleted if not.
    pub fn delete_named(&self, name: &str) -> Result<Deleted, KbError> {
        self.delete_chosen(|| {
            let mut chosen = Chosen::default();
            self.store.read(|reader| {
                choose_named(reader, name, &mut chosen)?;
                choose_attached(reader, &mut chosen)
            })?;
            Ok(chosen)
        })
    }

    fn delete_chosen(
        &self,
        choose: impl FnOnce() -> Result<Chosen, KbError>,
    ) -> Result<Deleted, KbError> {
        let began = Instant::now();
        // In a view only names that it shows are chosen.
        let whole = self.whole.as_deref().unwrap_or(self);
        let _lock = WriterLock::take_from_build(&whole.dir, &whole.store)?;
        let chosen = choose()?;
        if chosen.0.is_empty() {
            return Ok(Deleted::default());
        }
        let (mut deleted, mut gone) = (Deleted::default(), Gone::default());
        whole.store.write(|writer| {
            for (row, names) in &chosen.0 {
                let record: DocumentRecord = writer.linked(*row)?;
                let (out, left): (Vec<_>, Vec<_>) = record
                    .names
                    .into_iter()
                    .partition(|name| names.is_empty() || names.contains(name));
                if left.is_empty() {
                    gone.add(&writer.remove_document(*row)?);
                } else {
                    for name in &out {
                        writer.remove_name(*row, name)?;
                    }
                }
                deleted.names.extend(out);
                deleted.kept.extend(left);
            }
            writer.publish()
        })?;
        whole.update_indexes()?;
        whole.store.publish()?;
        self.refresh()?;
        if self.is_restricted() {
            deleted.kept.clear();
        }
        deleted.names.sort();
        deleted.kept.sort();
        deleted.nodes = gone.counts;
        deleted.elapsed_ms = began.elapsed().as_secs_f64() * 1e3;
        Ok(deleted)
    }

    /// Brings the lexical indexes up to date, concurrently: each rewrites segments.
    pub(crate) fn update_indexes(&self) -> Result<(), KbError> {
        self.start_stale_indexes_over()?;
        let layers = Layer::ALL.into_iter().filter(|layer| searched(*layer));
        std::thread::scope(|scope| {
            let update = |layer| self.lexical_on_disk(layer)?.catch_up(&self.store, &|_| ());
            let running: Vec<_> = layers.map(|layer| scope.spawn(move || update(layer))).collect();
            running.into_iter().try_for_each(|layer| {
                let doing = "updating the lexical index";
                layer.join().unwrap_or_else(|panic| Err(KbError::worker_panicked(doing, &panic)))
            })
        })
    }

    /// The names that [`Base::delete`] would delete, in order.
    pub fn names_to_delete(&self, documents: &[String]) -> Result<Vec<String>, KbError> {
        let chosen = self.choose(documents)?;
        let mut names = vec![];
        self.store.read(|reader| {
            for (row, some) in &chosen.0 {
                if some.is_empty() {
                    let record: DocumentRecord = reader.linked(*row)?;
                    names.extend(record.names);
                }
                names.extend(some.iter().cloned());
            }
            Ok(())
        })?;
        names.sort();
        Ok(names)
    }

    fn choose(&self, documents: &[String]) -> Result<Chosen, KbError> {
        let mut chosen = Chosen::default();
        let mut unknown = vec![];
        self.store.read(|reader| {
            let mut names = None;
            for pattern in documents {
                if choose_one(reader, pattern, &mut chosen)? {
                    continue;
                }
                let names = match &mut names {
                    Some(names) => names,
                    none => none.insert(reader.document_names()?),
                };
                let (mut matches, composed) = (false, composed(pattern));
                for (name, row) in names.iter().filter(|(name, _)| fits(&composed, name)) {
                    matches = true;
                    chosen.name(*row, name);
                }
                if !matches {
                    let candidates = names.iter().map(|(name, _)| name.as_str());
                    unknown.push((pattern.clone(), near(pattern, candidates)));
                }
            }
            Ok(())
        })?;
        if unknown.is_empty() {
            self.store.read(|reader| choose_attached(reader, &mut chosen))?;
            Ok(chosen)
        } else {
            Err(KbError::NoDocument { unknown: UnknownNames(unknown) })
        }
    }
}

/// By name, in whatever code points it is written; whether there is one.
fn choose_named(reader: &StoreReader<'_>, name: &str, chosen: &mut Chosen) -> heed::Result<bool> {
    for name in [name, &composed(name)] {
        if let Some(row) = reader.named(name)? {
            chosen.name(row, name);
            return Ok(true);
        }
    }
    Ok(false)
}

/// What is attached to the mails among them.
fn choose_attached(reader: &StoreReader<'_>, chosen: &mut Chosen) -> heed::Result<()> {
    let mut attached = vec![];
    for (row, some) in &chosen.0 {
        let record: DocumentRecord = reader.linked(*row)?;
        for (name, origin) in record.names.iter().zip(&record.origins) {
            if some.is_empty() || some.contains(name) {
                attached.extend(reader.attached(FileKey::of(origin))?);
            }
        }
    }
    for key in attached {
        if let Some(document) = reader.file_document(key)? {
            chosen.name(document.row, &document.name);
        }
    }
    Ok(())
}

/// By node id or exact name; whether there is one.
fn choose_one(reader: &StoreReader<'_>, name: &str, chosen: &mut Chosen) -> heed::Result<bool> {
    if choose_named(reader, name, chosen)? {
        return Ok(true);
    }
    let Some((Layer::Document, id)) = parse_id(&NodeId(name.to_owned())) else {
        return Ok(false);
    };
    let Some(row) = reader.find(Layer::Document, id)? else { return Ok(false) };
    let record: DocumentRecord = reader.linked(row)?;
    // A reader of a part of the base names what it sees; no names stand for all of them.
    let names = if reader.is_restricted() { record.names } else { vec![] };
    chosen.0.insert(row, names.into_iter().collect());
    Ok(true)
}

#[cfg(test)]
mod tests;
