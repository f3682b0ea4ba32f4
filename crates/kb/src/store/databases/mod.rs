//! The databases of the LMDB environment, each stated once.
pub(super) mod table;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, WithoutTls};

use super::schema;
use table::Table;

pub(in crate::store) type Db = Database<'static, Bytes, Bytes>;

/// Values marked with * are sealed (`sealed/`): whatever holds words of a document or of a model
/// must be.
#[derive(Clone, Copy)]
pub(in crate::store) struct Databases<D = Table> {
    pub(in crate::store) meta: D,
    /// Row → record*, one for each layer, in the order of [`schema::number`].
    pub(in crate::store) nodes: [D; schema::LAYERS],
    /// Id → row.
    pub(in crate::store) ids: D,
    /// Hash of a document's name → its row.
    pub(in crate::store) names: D,
    /// Document row → text*.
    pub(in crate::store) texts: D,
    /// (embedder, layer, row) of the vectors that are in files.
    pub(in crate::store) vectors: D,
    /// (layer, row) of what the lexical index must still forget.
    pub(in crate::store) tombstones: D,
    /// Hash of the path of a file → `FileRecord`.
    pub(in crate::store) files: D,
    /// (from, edge, to) → weight.
    pub(in crate::store) edges: D,
    /// (to, edge, from), so that an edge is found from its other end.
    pub(in crate::store) backlinks: D,
    /// (layer, row) of an owner → the slot of its key.
    pub(in crate::store) slots: D,
    /// What is to be overwritten after the commit: slots of keys, (embedder, layer, row) of vectors,
    /// embedders whose files go.
    pub(in crate::store) wipes: D,
    /// (chunk or document, node): facts, rows and summaries by what they are deleted with.
    pub(in crate::store) owned: D,
    /// (task, layer, row and part, or id) → state, input, and result or failure*.
    pub(in crate::store) ledger: D,
    /// Id → how two entities became one*.
    pub(in crate::store) merges: D,
    /// Chunk row → what graph search needs of it*.
    pub(in crate::store) chunk_names: D,
    /// Chunk row → hashes of its terms*.
    pub(in crate::store) chunk_terms: D,
    /// Number → what a transaction changed (`changes/`).
    pub(in crate::store) changes: D,
    pub(in crate::store) feedback: FeedbackDatabases<D>,
    /// Which chunks name what (`name_index/`), of each machine's own.
    pub(in crate::store) forms: D,
    /// Only in replicas.
    pub(in crate::store) replica: Option<ReplicaDatabases>,
}

/// What a replica has in addition, and keeps to itself.
#[derive(Clone, Copy)]
pub(in crate::store) struct ReplicaDatabases {
    /// (database, key) → the transaction that wrote it last: what is still to be sent.
    pub(in crate::store) journal: Db,
    /// What is known of the shared base (`replica/state.rs`).
    pub(in crate::store) state: Db,
}

/// The databases of replicas.
pub(in crate::store) const REPLICA: [&str; 2] = ["journal", "replica"];

/// What people said of answers.
#[derive(Clone, Copy)]
pub(in crate::store) struct FeedbackDatabases<D> {
    /// Id → `FeedbackRecord`*, each under a key of its own.
    pub(in crate::store) records: D,
    /// (document, chunk or atom, id): by what it is deleted with, and what was accepted of it;
    /// (hash of the run or the question, id): by what it is compared with other feedback.
    pub(in crate::store) links: D,
}

/// The database of values about the base as a whole.
pub(in crate::store) const META: &str = "meta";

impl<D> Databases<D> {
    fn each(mut open: impl FnMut(&str) -> heed::Result<D>) -> heed::Result<Self> {
        let nodes = schema::layer_databases().map(&mut open).collect::<heed::Result<Vec<D>>>()?;
        let miscounted = |_| heed::Error::Decoding("one database for each layer".into());
        Ok(Self {
            meta: open(META)?,
            nodes: nodes.try_into().map_err(miscounted)?,
            ids: open("ids")?,
            names: open("names")?,
            texts: open("texts")?,
            vectors: open("vectors")?,
            tombstones: open("tombstones")?,
            files: open("files")?,
            edges: open("edges")?,
            backlinks: open("backlinks")?,
            slots: open("slots")?,
            wipes: open("wipes")?,
            owned: open("owned")?,
            ledger: open("ledger")?,
            merges: open("merges")?,
            chunk_names: open("chunk_names")?,
            chunk_terms: open("chunk_terms")?,
            changes: open("changes")?,
            feedback: FeedbackDatabases {
                records: open("feedback")?,
                links: open("feedback links")?,
            },
            forms: open("forms")?,
            replica: None,
        })
    }
}

impl Databases {
    /// Opens all databases and creates those that are missing.
    pub(in crate::store) fn create(env: &Env<WithoutTls>, is_replica: bool) -> heed::Result<Self> {
        env.create_databases_and_commit(env.write_txn()?, |opener, txn| {
            let mut create = |name: &str| opener.create_database::<Bytes, Bytes>(txn, Some(name));
            Databases::each(|name| create(name).map(|_| ()))?;
            let replica = REPLICA.into_iter().filter(|_| is_replica);
            replica.into_iter().try_for_each(|name| create(name).map(|_| ()))?;
            Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(()))
        })?;
        Self::open(env)
    }

    /// Opens all databases where none can be created.
    pub(in crate::store) fn open(env: &Env<WithoutTls>) -> heed::Result<Self> {
        let [journal, state] = REPLICA.map(|name| open_one(env, name));
        let replica = journal?.zip(state?);
        let replica = replica.map(|(journal, state)| ReplicaDatabases { journal, state });
        let journal = replica.map(|replica| replica.journal);
        let table = |name: &str, db| Table::new(name, db, journal);
        let databases = Self::each(|name| Ok(table(name, open_existing(env, name)?)))?;
        Ok(Self { replica, ..databases })
    }
}

impl Databases {
    /// The databases that replicas share, by their numbers (`table.rs`), ascending.
    pub(in crate::store) fn shared(&self) -> Vec<(u8, Table)> {
        let Self { meta, ids, names, texts, vectors, files, edges, .. } = *self;
        let Self { slots, wipes, owned, ledger, merges, chunk_names, chunk_terms, .. } = *self;
        let first = [meta, ids, names, texts, vectors, files, edges];
        let others = [slots, wipes, owned, ledger, merges, chunk_names, chunk_terms];
        let feedback = [self.feedback.records, self.feedback.links];
        let all = first.into_iter().chain(others).chain(self.nodes);
        let all = all.chain(feedback);
        let mut shared: Vec<_> = all.filter_map(|table| Some((table.part()?, table))).collect();
        shared.sort_by_key(|(part, _)| *part);
        shared
    }
}

/// Opens one database, which is an error when it is missing.
pub(in crate::store) fn open_existing(env: &Env<WithoutTls>, name: &str) -> heed::Result<Db> {
    let missing = || heed::Error::Decoding(format!("the database `{name}` is missing").into());
    open_one(env, name)?.ok_or_else(missing)
}

pub(in crate::store) fn open_one(env: &Env<WithoutTls>, name: &str) -> heed::Result<Option<Db>> {
    let opened = env.open_databases_and_commit(env.read_txn()?, |opener, txn| {
        let database = opener.open_database::<Bytes, Bytes>(txn, Some(name))?;
        Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(database))
    })?;
    Ok(opened.commit().flatten())
}

/// The format of what is in an environment, read before anything in it is changed.
pub(in crate::store) fn format(env: &Env<WithoutTls>) -> heed::Result<Option<u32>> {
    let Some(meta) = open_one(env, META)? else { return Ok(None) };
    let txn = env.read_txn()?;
    meta.get(&txn, b"format")?.map(schema::decode).transpose()
}
