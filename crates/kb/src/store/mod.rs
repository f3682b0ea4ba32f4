//! The truth: everything a base holds, in one LMDB environment. Indexes are made from it.
mod documents;
mod edges;
mod env;
mod ledger;
mod linked;
mod nodes;
mod schema;
mod vectors;

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, RoTxn, RwTxn, WithoutTls};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use documents::DocumentDraft;
pub(crate) use edges::Link;
pub(crate) use nodes::Node;
pub(crate) use schema::{
    At, AtomRecord, AtomUnit, ChunkRecord, Column, ColumnKind, CommunityRecord, DocumentRecord,
    EmbedderRecord, EntityRecord, FORMAT, FactRecord, FigureRecord, Id, Place, Row, RowRecord,
    Rows, SectionRecord, State, SummaryRecord, TableRecord, TagRecord, hash, node_id, parse_id,
};

use crate::KbError;
use crate::store::schema::{decode, encode};

type Db = Database<'static, Bytes, Bytes>;
pub(crate) type Reading<'a> = RoTxn<'a, WithoutTls>;

/// Cheap to clone; every clone is the same store.
#[derive(Clone)]
pub(crate) struct Store {
    env: Env<WithoutTls>,
    dir: PathBuf,
    db: Databases,
}

#[derive(Clone, Copy)]
struct Databases {
    meta: Db,
    /// Row → record, one for each layer, in the order of [`schema::number`].
    nodes: [Db; schema::LAYERS],
    /// Id → row.
    ids: Db,
    /// Hash of a document's name → its row.
    names: Db,
    /// Document row → text.
    texts: Db,
    /// Chunk row → `AtomUnit`.
    atomizing: Db,
    /// (layer, row) → why it could not be embedded.
    unembedded: Db,
    /// (embedder, layer, row) → f32 little-endian.
    vectors: Db,
    /// (layer, row) of what the word index must still forget.
    tombstones: Db,
    /// (from, edge, to) → weight.
    edges: Db,
    /// (to, edge, from), so that an edge is found from its other end.
    backlinks: Db,
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

const NAMES: [&str; 10] = [
    "meta",
    "ids",
    "names",
    "texts",
    "atomizing",
    "unembedded",
    "vectors",
    "tombstones",
    "edges",
    "backlinks",
];

impl Databases {
    fn open(env: &Env<WithoutTls>) -> heed::Result<Self> {
        let txn = env.write_txn()?;
        let opened = env.create_databases_and_commit(txn, |opener, txn| {
            let mut open = |name: &str| opener.create_database::<Bytes, Bytes>(txn, Some(name));
            let mut layers = vec![];
            for name in LAYER_NAMES {
                layers.push(open(name)?);
            }
            let mut others = vec![];
            for name in NAMES {
                others.push(open(name)?);
            }
            let missing = |_| heed::Error::Decoding("a name too many".into());
            let layers: [_; schema::LAYERS] = layers.try_into().map_err(missing)?;
            let others: [_; NAMES.len()] = others.try_into().map_err(missing)?;
            Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit((layers, others)))
        })?;
        let Some((nodes, others)) = opened.commit() else {
            return Err(heed::Error::Decoding("the databases were not opened".into()));
        };
        let [meta, ids, names, texts, atomizing, unembedded, vectors, tombstones, edges, backlinks] =
            others;
        Ok(Self {
            meta,
            nodes,
            ids,
            names,
            texts,
            atomizing,
            unembedded,
            vectors,
            tombstones,
            edges,
            backlinks,
        })
    }
}

impl Store {
    pub(crate) fn exists(dir: &Path) -> bool {
        dir.join("data.mdb").is_file()
    }

    /// Opens the store in `dir`, which exists; an empty folder becomes an empty store.
    pub(crate) fn open(dir: &Path) -> Result<Self, KbError> {
        let fail = |source| match source {
            heed::Error::EnvAlreadyOpened => KbError::OpenTwice { dir: dir.to_owned() },
            source => KbError::Truth { dir: dir.to_owned(), source },
        };
        let env = env::open(dir).map_err(fail)?;
        env.clear_stale_readers().map_err(fail)?;
        let db = Databases::open(&env).map_err(fail)?;
        let store = Self { env, dir: dir.to_owned(), db };
        match store.read(|txn| store.meta::<u32>(txn, "format"))? {
            Some(found) if found > FORMAT => {
                return Err(KbError::Newer { dir: dir.to_owned(), found, known: FORMAT });
            }
            Some(_) => {}
            None => store.write(|txn| {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                store.set_meta(txn, "format", &FORMAT)?;
                store.set_meta(txn, "created", &now.as_secs())?;
                let seed = format!("{:?} {} {}", now, std::process::id(), dir.display());
                store.set_meta(txn, "uid", &hash(&[seed.as_bytes()]))
            })?,
        }
        Ok(store)
    }

    /// Reads in one consistent view.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Reading<'_>) -> heed::Result<T>,
    ) -> Result<T, KbError> {
        let txn = self.env.read_txn().map_err(|e| self.failed(e))?;
        work(&txn).map_err(|e| self.failed(e))
    }

    /// Writes all of it or, on an error, nothing.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&mut RwTxn<'_>) -> heed::Result<T>,
    ) -> Result<T, KbError> {
        let mut txn = self.env.write_txn().map_err(|e| self.failed(e))?;
        let done = work(&mut txn).map_err(|e| self.failed(e))?;
        txn.commit().map_err(|e| self.failed(e))?;
        Ok(done)
    }

    fn failed(&self, source: heed::Error) -> KbError {
        let dir = self.dir.clone();
        match source {
            heed::Error::Mdb(heed::MdbError::MapFull) => {
                KbError::Full { dir, gigabytes: self.env.info().map_size >> 30 }
            }
            source => KbError::Truth { dir, source },
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
