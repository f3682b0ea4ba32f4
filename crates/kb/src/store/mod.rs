//! The truth: everything a base holds, in one LMDB environment. Indexes are made from it.
#[cfg(test)]
mod broken;
mod carry;
mod check;
mod documents;
mod edges;
mod env;
mod files;
mod history;
mod ledger;
mod linked;
mod merges;
mod nodes;
mod owned;
mod schema;
mod sealed;
mod tables;
mod units;
mod vectors;
mod waiting;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use halma_seal::Keys;
use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, RoTxn, RwTxn, WithoutTls};
use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(test)]
pub(crate) use broken::Damage;
pub(crate) use carry::{sameness, section_sameness};
pub(crate) use check::Checked;
pub(crate) use documents::DocumentDraft;
pub(crate) use edges::Link;
pub(crate) use env::Access;
pub(crate) use files::{FileKey, FileRecord};
pub(crate) use history::{History, Past};
pub(crate) use nodes::{Node, searched, under_headings};
pub(crate) use owned::{Gone, Owner};
pub(crate) use schema::{
    At, AtomRecord, AtomUnit, ChunkRecord, Column, ColumnKind, CommunityRecord, DocumentRecord,
    EmbedderRecord, EntityRecord, FORMAT, FactRecord, FigureRecord, Id, Place, Row, RowRecord,
    Rows, SectionRecord, State, SummaryRecord, TableRecord, TagRecord, hash, node_id, parse_id,
};
pub(crate) use units::{Task, UnitCounts, UnitKey};
pub(crate) use waiting::Work;

use crate::KbError;
use crate::error::no_space;
use crate::store::schema::{decode, encode};

/// The system's number for a failed read or write.
const EIO: i32 = 5;

type Db = Database<'static, Bytes, Bytes>;
pub(crate) type Reading<'a> = RoTxn<'a, WithoutTls>;

/// Cheap to clone; every clone is the same store.
#[derive(Clone)]
pub(crate) struct Store {
    env: Env<WithoutTls>,
    dir: PathBuf,
    db: Databases,
    keys: Arc<Keys>,
    access: Access,
}

/// Values marked with * are sealed (`sealed.rs`): whatever holds words of a document or of a model
/// must be.
#[derive(Clone, Copy)]
struct Databases {
    meta: Db,
    /// Row → record*, one for each layer, in the order of [`schema::number`].
    nodes: [Db; schema::LAYERS],
    /// Id → row.
    ids: Db,
    /// Hash of a document's name → its row.
    names: Db,
    /// Document row → text*.
    texts: Db,
    /// Chunk row → `AtomUnit`*.
    atomizing: Db,
    /// (layer, row) → why it could not be embedded*.
    unembedded: Db,
    /// (embedder, layer, row) → f32 little-endian*.
    vectors: Db,
    /// (layer, row) of what the word index must still forget.
    tombstones: Db,
    /// (work, layer, row) of what waits for a stage of the build.
    waiting: Db,
    /// Hash of where a file lies → `FileRecord`.
    files: Db,
    /// (from, edge, to) → weight.
    edges: Db,
    /// (to, edge, from), so that an edge is found from its other end.
    backlinks: Db,
    /// (layer, row) of an owner → the slot of its key.
    slots: Db,
    /// Slots whose keys are to be wiped.
    wipes: Db,
    /// (chunk or document, node): facts, rows and summaries by what they go with.
    owned: Db,
    /// (task, layer, row and part, or id) → `Unit`*.
    units: Db,
    /// Id → how two entities became one*.
    merges: Db,
}

const LAYER_NAMES: [&str; schema::LAYERS] = [
    "documents",
    "sections",
    "chunks",
    "atoms",
    "tables",
    "figures",
    "rows",
    "summaries",
    "tags",
    "entities",
    "facts",
    "communities",
];

const NAMES: [&str; 17] = [
    "meta",
    "ids",
    "names",
    "texts",
    "atomizing",
    "unembedded",
    "vectors",
    "tombstones",
    "waiting",
    "files",
    "edges",
    "backlinks",
    "slots",
    "wipes",
    "owned",
    "units",
    "merges",
];

type Opened<D> = ([D; schema::LAYERS], [D; NAMES.len()]);

impl Databases {
    /// Opens them all, making those that are missing.
    fn create(env: &Env<WithoutTls>) -> heed::Result<Self> {
        let txn = env.write_txn()?;
        let opened = env.create_databases_and_commit(txn, |opener, txn| {
            let open = |name: &str| opener.create_database::<Bytes, Bytes>(txn, Some(name));
            Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(each(open)?))
        })?;
        named(opened.commit().map(Box::new))
    }

    /// Opens them all where nothing can be made.
    fn open(env: &Env<WithoutTls>) -> heed::Result<Self> {
        let missing =
            |name: &str| heed::Error::Decoding(format!("the part `{name}` is missing").into());
        let opened = env.open_databases_and_commit(env.read_txn()?, |opener, txn| {
            let open = |name: &str| {
                let found = opener.open_database::<Bytes, Bytes>(txn, Some(name))?;
                found.ok_or_else(|| missing(name))
            };
            Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(each(open)?))
        })?;
        named(opened.commit().map(Box::new))
    }
}

fn each<D>(mut open: impl FnMut(&str) -> heed::Result<D>) -> heed::Result<Opened<D>> {
    let layers = LAYER_NAMES.iter().map(|name| open(name)).collect::<heed::Result<Vec<D>>>()?;
    let others = NAMES.iter().map(|name| open(name)).collect::<heed::Result<Vec<D>>>()?;
    let miscounted = |_| heed::Error::Decoding("a name too many".into());
    Ok((layers.try_into().map_err(miscounted)?, others.try_into().map_err(miscounted)?))
}

fn named(opened: Option<Box<Opened<Db>>>) -> heed::Result<Databases> {
    let Some((nodes, others)) = opened.map(|opened| *opened) else {
        return Err(heed::Error::Decoding("the databases were not opened".into()));
    };
    let [
        meta,
        ids,
        names,
        texts,
        atomizing,
        unembedded,
        vectors,
        tombstones,
        waiting,
        files,
        edges,
        backlinks,
        slots,
        wipes,
        owned,
        units,
        merges,
    ] = others;
    Ok(Databases {
        meta,
        nodes,
        ids,
        names,
        texts,
        atomizing,
        unembedded,
        vectors,
        tombstones,
        waiting,
        files,
        edges,
        backlinks,
        slots,
        wipes,
        owned,
        units,
        merges,
    })
}

impl Store {
    pub(crate) fn exists(dir: &Path) -> bool {
        dir.join("data.mdb").is_file()
    }

    /// Opens the store in `dir`, which exists; an empty folder becomes an empty store. One that
    /// cannot be written to is opened for reading.
    pub(crate) fn open(dir: &Path) -> Result<Self, KbError> {
        let denied = match Self::open_for(dir, Access::Write) {
            Err(KbError::Truth { source: heed::Error::Io(e), .. }) if is_denied(&e) => e,
            Err(KbError::Keys(e)) if is_denied(&e.source) => e.source,
            opened => return opened,
        };
        let opened = Self::open_for(dir, Access::Read)?;
        tracing::warn!("the base in `{}` is only searched: {denied}", dir.display());
        Ok(opened)
    }

    pub(crate) fn open_for(dir: &Path, access: Access) -> Result<Self, KbError> {
        let fail = |source| match source {
            heed::Error::EnvAlreadyOpened => KbError::OpenTwice { dir: dir.to_owned() },
            source => KbError::of_store(dir, source),
        };
        let env = env::open(dir, access).map_err(fail)?;
        check_format(dir, format(&env).map_err(fail)?)?;
        let keys = dir.join("keys");
        let (db, keys) = if access == Access::Read {
            (Databases::open(&env), Keys::open_read_only(&keys))
        } else {
            env.clear_stale_readers().map_err(fail)?;
            (Databases::create(&env), Keys::open(&keys))
        };
        let (db, keys) = (db.map_err(fail)?, Arc::new(keys?));
        let store = Self { env, dir: dir.to_owned(), db, keys, access };
        if store.read(|txn| store.meta::<u32>(txn, "format"))?.is_none() {
            store.write(|txn| {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                store.set_meta(txn, "format", &FORMAT)?;
                store.set_meta(txn, "created", &now.as_secs())?;
                let seed = format!("{:?} {} {}", now, std::process::id(), dir.display());
                store.set_meta(txn, "uid", &hash(&[seed.as_bytes()]))
            })?;
        }
        Ok(store)
    }

    /// Whether the store can be written to.
    pub(crate) fn is_writable(&self) -> bool {
        self.access != Access::Read
    }

    /// Reads in one consistent view.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Reading<'_>) -> heed::Result<T>,
    ) -> Result<T, KbError> {
        let txn = self.env.read_txn().map_err(|e| self.failed(e))?;
        work(&txn).map_err(|e| self.failed(e))
    }

    /// Writes all of it or, on an error, nothing. What it removed cannot be read by anybody when
    /// this returns.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&mut RwTxn<'_>) -> heed::Result<T>,
    ) -> Result<T, KbError> {
        if !self.is_writable() {
            return Err(KbError::ReadOnly { dir: self.dir.clone() });
        }
        let mut txn = self.env.write_txn().map_err(|e| self.failed(e))?;
        self.begin_keys(&txn)?;
        let done = work(&mut txn)
            .and_then(|done| self.save_keys(&mut txn).map(|wipes| (done, wipes)))
            .and_then(|done| txn.commit().map(|()| done));
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

    fn failed(&self, source: heed::Error) -> KbError {
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
            source => KbError::of_store(&self.dir, source),
        }
    }

    /// A value of the base as a whole.
    fn meta<T: DeserializeOwned>(&self, txn: &Reading<'_>, key: &str) -> heed::Result<Option<T>> {
        self.db.meta.get(txn, key.as_bytes())?.map(decode).transpose()
    }

    fn set_meta<T: Serialize>(
        &self,
        txn: &mut RwTxn<'_>,
        key: &str,
        value: &T,
    ) -> heed::Result<()> {
        self.db.meta.put(txn, key.as_bytes(), &encode(value)?)
    }

    /// Tells this base from one that another run made in the same folder.
    pub(crate) fn uid(&self, txn: &Reading<'_>) -> heed::Result<Id> {
        Ok(self.meta(txn, "uid")?.unwrap_or_default())
    }

    /// Grows whenever what searches see has changed.
    pub(crate) fn generation(&self, txn: &Reading<'_>) -> heed::Result<u64> {
        Ok(self.meta(txn, "generation")?.unwrap_or_default())
    }

    /// Lets searches see what was stored, in this process and in others.
    pub(crate) fn publish(&self, txn: &mut RwTxn<'_>) -> heed::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.set_meta(txn, "updated", &now.as_secs())?;
        let generation = self.generation(txn)? + 1;
        self.set_meta(txn, "generation", &generation)
    }

    /// Seconds since 1970 at which the base was made and last changed.
    pub(crate) fn times(&self, txn: &Reading<'_>) -> heed::Result<(u64, u64)> {
        let created = self.meta(txn, "created")?.unwrap_or_default();
        Ok((created, self.meta(txn, "updated")?.unwrap_or(created)))
    }

    #[cfg(test)]
    pub(crate) fn pretend_format(&self, format: u32) {
        self.write(|txn| self.set_meta(txn, "format", &format)).unwrap();
    }
}

fn is_denied(e: &std::io::Error) -> bool {
    matches!(e.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// The format of what is in an environment, before anything of it is changed.
fn format(env: &Env<WithoutTls>) -> heed::Result<Option<u32>> {
    let opened = env.open_databases_and_commit(env.read_txn()?, |opener, txn| {
        let found = opener.open_database::<Bytes, Bytes>(txn, Some(NAMES[0]))?;
        Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(found))
    })?;
    let Some(meta) = opened.commit().flatten() else { return Ok(None) };
    let txn = env.read_txn()?;
    meta.get(&txn, b"format")?.map(decode).transpose()
}

fn check_format(dir: &Path, found: Option<u32>) -> Result<(), KbError> {
    let dir = dir.to_owned();
    match found {
        Some(found) if found > FORMAT => Err(KbError::Newer { dir, found, known: FORMAT }),
        Some(found) if found < FORMAT => Err(KbError::Older { dir, found, known: FORMAT }),
        _ => Ok(()),
    }
}
