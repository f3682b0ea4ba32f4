//! The primary store: everything a base holds, in one LMDB environment. Indexes are made from it.
mod atoms;
mod changes;
mod check;
#[cfg(test)]
mod damage;
mod databases;
mod documents;
mod edges;
mod env;
mod extracted;
mod feedback;
mod growth;
mod history;
mod languages;
mod ledger;
mod name_index;
mod names;
mod nodes;
mod readers;
mod records;
pub(crate) mod replica;
mod restriction;
mod rows;
mod schema;
mod sealed;
mod vectors;
mod view;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::SystemTime;

use halma_core::Filter;
use halma_store::seal::{Keys, SealError};
use heed::{Env, WithoutTls};

pub(crate) use atoms::{AtomDraft, atoms_input, atoms_key};
pub(crate) use changes::{Changed, Changes, RemovedDocuments};
pub(crate) use check::{CheckedCounts, LOST_VECTOR};
#[cfg(test)]
pub(crate) use damage::Damage;
use databases::Databases;
pub(crate) use documents::{
    ChunkDraft, DocumentDraft, FieldsKey, FigureDraft, FileDocument, FileKey, FileRecord,
    FileStamp, Gone, Outline, Places, RowDraft, SectionDraft, TableDraft, sameness,
    section_sameness, table_summary,
};
pub(crate) use edges::Link;
pub(crate) use env::Access;
pub(crate) use feedback::{
    CandidateRecord, FeedbackRecord, accepted_id, feedback_id, parse_feedback_id,
};
use growth::Growth;
pub(crate) use history::{Cost, History, Past};
pub(crate) use languages::DocumentLanguages;
pub(crate) use ledger::{Entry, LinkTarget, Task, UnitCounts, UnitKey, UnitState};
pub(crate) use name_index::{ChunkForms, DocumentNames, FormKey, FormsState, NameKey, NameRecord};
pub(crate) use nodes::searched;
pub(crate) use records::{
    AcceptedAtom, AtomRecord, ChunkRecord, Column, CommunityRecord, DocumentRecord, EntityRecord,
    FactRecord, FigureRecord, LayerRecord, NodeRecord, Owner, RowRecord, SectionRecord,
    SummaryRecord, TableRecord, TagRecord, forward_id, summary_id, under_headings,
};
pub use records::{AcceptedDetails, ColumnDetails, Details};
pub(crate) use replica::{
    Extent, IndexAccess, Leading, PendingPush, RemovalListener, ReplicaState, Replication, Urgency,
};
pub use replica::{Head, IsUrgent, Lease, NextSegment, Push, Upstream};
use restriction::Scope;
pub(crate) use restriction::{admits_document, admits_name};
pub(crate) use schema::{
    At, EmbedderRecord, FORMAT, Id, Row, Rows, TextPlace, hash, node_id, parse_id,
};
pub(crate) use vectors::{Comparand, Precision, Slots, VectorFile, rounded};
pub(crate) use view::{StoreReader, StoreWriter};

use self::databases::table::Table;
pub(crate) use self::extracted::{
    CLASSES_KEY, ChunkGraph, ChunkTag, ClusterSnapshot, EntityMention, Extraction, LearnedTerms,
    MergeRecord, PairVerdict, Profile, QUESTION_CLASS, StatedFact, Statements, StoredMerge,
    TagClass, TagVocabulary, Tags, UNDONE,
};
pub use self::extracted::{LeftOut, MergeRule};
pub use self::feedback::{CandidateKind, CandidateState, Check, Verdict};
pub(crate) use self::names::{ChunkNames, Unit, UnitNode};
use self::readers::StaleReaders;
pub(crate) use self::rows::{Admitted, RowMap, RowSet, SparseRows};
use self::vectors::VectorFiles;
use crate::KbError;
use crate::error::no_space;

/// The system's number for a failed read or write.
const EIO: i32 = 5;

/// Cheap to clone; every clone is the same store.
#[derive(Clone)]
pub(crate) struct Store {
    env: Env<WithoutTls>,
    dir: PathBuf,
    db: Databases,
    keys: Arc<Keys>,
    vectors: Arc<VectorFiles>,
    access: Access,
    growth: Arc<Growth>,
    stale_readers: Arc<StaleReaders>,
    /// How many locks for writing this process holds.
    pub(crate) writers: Arc<AtomicUsize>,
    /// For a replica, how it is shared with others.
    pub(crate) replication: Option<Arc<Replication>>,
    /// What it is restricted to.
    scope: Option<Arc<Scope>>,
}

impl Store {
    /// The folder of the store.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Tells when the environment is closed.
    pub(crate) fn closing(&self) -> heed::EnvClosingEvent {
        self.env.clone().prepare_for_closing()
    }

    pub(crate) fn exists(dir: &Path) -> bool {
        dir.join("data.mdb").is_file()
    }

    /// When something was last written to the store in `dir`.
    pub(crate) fn changed(dir: &Path) -> Option<SystemTime> {
        std::fs::metadata(dir.join("data.mdb")).and_then(|file| file.modified()).ok()
    }

    /// Opens the store in `dir`, which exists; an empty folder becomes an empty store. One that
    /// cannot be written to is opened for reading.
    pub(crate) fn open(dir: &Path) -> Result<Self, KbError> {
        let denied = match Self::open_for(dir, Access::Write) {
            Err(KbError::Store { source: heed::Error::Io(e), .. }) if is_denied(&e) => e,
            Err(KbError::Keys(e)) if is_denied(&e.source) => e.source,
            opened => return opened,
        };
        let opened = Self::open_for(dir, Access::Read)?;
        tracing::warn!("the base in `{}` can only be searched: {denied}", dir.display());
        Ok(opened)
    }

    pub(crate) fn open_for(dir: &Path, access: Access) -> Result<Self, KbError> {
        let store = Self::open_any(dir, access, None)?;
        if store.db.replica.is_some() {
            let name = store.replica_state()?.name;
            return Err(KbError::IsReplica { dir: dir.to_owned(), name });
        }
        if store.read(|reader| reader.meta::<u32>("format"))?.is_none() {
            store.write(|writer| writer.begin_base(dir))?;
        }
        Ok(store)
    }

    /// Opens or makes the store of a replica. A new one holds nothing, not even its format, until
    /// what is shared is taken in.
    pub(crate) fn open_replica(
        dir: &Path,
        replication: &Arc<Replication>,
    ) -> Result<Self, KbError> {
        Self::open_any(dir, Access::Write, Some(Arc::clone(replication)))
    }

    fn open_any(
        dir: &Path,
        access: Access,
        replication: Option<Arc<Replication>>,
    ) -> Result<Self, KbError> {
        let fail = |source| match source {
            heed::Error::EnvAlreadyOpened => KbError::OpenTwice { dir: dir.to_owned() },
            source => KbError::of_store(dir, source),
        };
        let env = env::open(dir, access).map_err(fail)?;
        let format = databases::format(&env).map_err(fail)?;
        check_format(dir, format)?;
        let path = dir.join("keys");
        let (db, keys) = if access == Access::Read {
            (Databases::open(&env), Keys::open_read_only(&path)?)
        } else {
            env.clear_stale_readers().map_err(fail)?;
            // A store that is only being made has no format yet, and no key of worth.
            let is_replica = replication.is_some();
            let keys = match format {
                Some(_) => Keys::open(&path)?,
                // The keys of a replica are shared in another place.
                None if is_replica => Keys::create(&path)?,
                None => new_keys(&path)?,
            };
            (Databases::create(&env, is_replica), keys)
        };
        if keys.were_restored() {
            tracing::warn!(
                "a key file was missing and is made from its copy: `{}`",
                path.display()
            );
        }
        let (db, keys) = (db.map_err(fail)?, Arc::new(keys));
        let vectors = Arc::new(VectorFiles::new(dir, access != Access::Read));
        Ok(Self {
            env,
            dir: dir.to_owned(),
            db,
            keys,
            vectors,
            access,
            growth: Arc::default(),
            stale_readers: Arc::default(),
            writers: Arc::default(),
            replication,
            scope: None,
        })
    }

    /// The same store for readers who see the documents that all of these filters admit, under the
    /// names that they admit, and what was made of these alone. It cannot be written to.
    pub(crate) fn restricted(&self, filters: Vec<Filter>) -> Self {
        let existing = self.scope.iter().flat_map(|scope| scope.filters().to_vec());
        let filters = existing.chain(filters).collect();
        Self { scope: Some(Arc::new(Scope::new(filters))), ..self.clone() }
    }

    /// The same store for readers who see everything.
    pub(crate) fn whole(&self) -> Self {
        Self { scope: None, ..self.clone() }
    }

    pub(crate) fn is_restricted(&self) -> bool {
        self.scope.is_some()
    }

    /// Whether the store can be written to.
    pub(crate) fn is_writable(&self) -> bool {
        self.access != Access::Read
    }

    /// Reads in one consistent view.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&StoreReader<'_>) -> heed::Result<T>,
    ) -> Result<T, KbError> {
        let begin = self.growth.begin(&self.env, || self.env.read_txn());
        let (_open, txn) = begin.map_err(|e| self.failed(e))?;
        StoreReader::new(self, txn).and_then(|reader| work(&reader)).map_err(|e| self.failed(e))
    }

    /// Writes all of it or, on an error, nothing. What it removed cannot be read by anyone when
    /// this returns. In a replica, nobody else writes to the shared base meanwhile; it is sent when
    /// it is published, and otherwise with what is published next.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&mut StoreWriter<'_>) -> heed::Result<T>,
    ) -> Result<T, KbError> {
        if self.replication.is_none() {
            return self.write_here(work);
        }
        // A build leads already when it writes; what comes alone is short, and a build elsewhere
        // makes room for it.
        let leading = self.lead(Urgency::Urgent)?;
        let (done, has_published) = self.write_here(|writer| {
            let done = work(writer)?;
            Ok((done, writer.has_published))
        })?;
        leading.finish(has_published)?;
        Ok(done)
    }

    /// [`Store::write`] of what is not shared.
    pub(crate) fn write_here<T>(
        &self,
        work: impl FnOnce(&mut StoreWriter<'_>) -> heed::Result<T>,
    ) -> Result<T, KbError> {
        if self.is_restricted() {
            return Err(KbError::Restricted);
        }
        if !self.is_writable() {
            return Err(KbError::ReadOnly { dir: self.dir.clone() });
        }
        self.stale_readers.clear(&self.env);
        self.growth.grow(&self.env, self.access);
        let begin = self.growth.begin(&self.env, || self.env.write_txn());
        let (_open, txn) = begin.map_err(|e| self.failed(e))?;
        let mut writer = StoreWriter::new(self, txn);
        self.begin_keys(&writer)?;
        let done = work(&mut writer)
            .and_then(|done| writer.finish_removals().map(|()| done))
            .and_then(|done| writer.save_rows().map(|()| done))
            .and_then(|done| writer.note_unsynced_vectors().map(|()| done))
            .and_then(|done| writer.save_changes().map(|()| done))
            .and_then(|done| writer.save_keys().map(|wipes| (done, wipes)))
            .and_then(|done| writer.commit().map(|()| done));
        match done {
            Ok((done, wipes)) => {
                if wipes {
                    self.wipe_keys()?;
                }
                Ok(done)
            }
            Err(e) => {
                self.keys.undo();
                Err(self.failed(e))
            }
        }
    }

    /// [`StoreReader::generation`] of a view of its own.
    pub(crate) fn generation(&self) -> Result<u64, KbError> {
        self.read(|reader| reader.generation())
    }

    /// Lets searches on this machine see what was stored.
    pub(crate) fn publish_here(&self) -> Result<(), KbError> {
        self.write_here(|writer| writer.bump_generation())
    }

    /// [`StoreWriter::publish`] in a write of its own.
    pub(crate) fn publish(&self) -> Result<(), KbError> {
        self.write(|writer| writer.publish())
    }

    /// [`StoreReader::history`] of a view of its own.
    pub(crate) fn history(&self) -> Result<History, KbError> {
        self.read(|reader| reader.history())
    }

    pub(crate) fn failed(&self, source: heed::Error) -> KbError {
        match source {
            heed::Error::Mdb(heed::MdbError::MapFull) => {
                let gigabytes = self.env.info().map_size >> 30;
                KbError::Full { dir: self.dir.clone(), gigabytes }
            }
            // What LMDB says when the system writes less than it was given.
            heed::Error::Io(e) if e.raw_os_error() == Some(EIO) => {
                let source = env::probe(&self.dir).err().filter(no_space).unwrap_or(e);
                KbError::of_store(&self.dir, heed::Error::Io(source))
            }
            heed::Error::Io(e) if !no_space(&e) => match e.downcast::<SealError>() {
                // The store itself may be all right.
                Ok(keys) => KbError::Keys(keys),
                Err(e) => KbError::of_store(&self.dir, heed::Error::Io(e)),
            },
            heed::Error::Decoding(e) if e.is::<halma_store::seal::DamagedValue>() => {
                KbError::DamagedValue { dir: self.dir.clone() }
            }
            source => KbError::of_store(&self.dir, source),
        }
    }

    #[cfg(test)]
    pub(crate) fn pretend_format(&self, format: u32) {
        self.write(|writer| writer.set_meta("format", &format)).unwrap();
    }
}

/// The keys of a store that is being made. Those of one whose records are missing are left alone.
fn new_keys(path: &Path) -> Result<Keys, KbError> {
    if Keys::exist(path) {
        let keys = Keys::open_read_only(path)?;
        if keys.slots()? > 0 {
            return Err(KbError::KeysWithoutStore { keys: path.to_owned() });
        }
    }
    Ok(Keys::create(path)?)
}

fn is_denied(e: &std::io::Error) -> bool {
    matches!(e.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

fn check_format(dir: &Path, format: Option<u32>) -> Result<(), KbError> {
    // The store is a folder in that of the base.
    let dir = dir.parent().unwrap_or(dir).to_owned();
    match format {
        Some(format) if format > FORMAT => Err(KbError::Newer { dir, format, reads: FORMAT }),
        Some(format) if format < FORMAT => Err(KbError::Older { dir, format, reads: FORMAT }),
        _ => Ok(()),
    }
}
