//! The databases of the LMDB environment, each stated once.
use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, WithoutTls};

use super::schema;

pub(super) type Db = Database<'static, Bytes, Bytes>;

/// Values marked with * are sealed (`sealed/`): whatever holds words of a document or of a model
/// must be.
#[derive(Clone, Copy)]
pub(super) struct Databases<D = Db> {
    pub(super) meta: D,
    /// Row → record*, one for each layer, in the order of [`schema::number`].
    pub(super) nodes: [D; schema::LAYERS],
    /// Id → row.
    pub(super) ids: D,
    /// Hash of a document's name → its row.
    pub(super) names: D,
    /// Document row → text*.
    pub(super) texts: D,
    /// (embedder, layer, row) of the vectors that are in files.
    pub(super) vectors: D,
    /// (layer, row) of what the lexical index must still forget.
    pub(super) tombstones: D,
    /// Hash of the path of a file → `FileRecord`.
    pub(super) files: D,
    /// (from, edge, to) → weight.
    pub(super) edges: D,
    /// (to, edge, from), so that an edge is found from its other end.
    pub(super) backlinks: D,
    /// (layer, row) of an owner → the slot of its key.
    pub(super) slots: D,
    /// What is to be overwritten after the commit: slots of keys, (embedder, layer, row) of vectors,
    /// embedders whose files go.
    pub(super) wipes: D,
    /// (chunk or document, node): facts, rows and summaries by what they are deleted with.
    pub(super) owned: D,
    /// (task, layer, row and part, or id) → state, input, and result or failure*.
    pub(super) ledger: D,
    /// Id → how two entities became one*.
    pub(super) merges: D,
    /// Chunk row → what graph search needs of it*.
    pub(super) chunk_names: D,
    /// Chunk row → hashes of its terms*.
    pub(super) chunk_terms: D,
    /// Number → what a transaction changed (`changes/`).
    pub(super) changes: D,
    /// Made in bases of earlier versions when they are first opened for writing.
    pub(super) feedback: Option<FeedbackDatabases<D>>,
}

/// What people said of answers.
#[derive(Clone, Copy)]
pub(super) struct FeedbackDatabases<D> {
    /// Id → `FeedbackRecord`*, each under a key of its own.
    pub(super) records: D,
    /// (document, chunk or atom, id): by what it is deleted with, and what was accepted of it.
    pub(super) links: D,
}

/// The databases of feedback.
pub(super) const FEEDBACK: [&str; 2] = ["feedback", "feedback links"];

/// The database of values about the base as a whole.
pub(super) const META: &str = "meta";

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
            feedback: None,
        })
    }
}

impl Databases {
    /// Opens all databases and creates those that are missing.
    pub(super) fn create(env: &Env<WithoutTls>) -> heed::Result<Self> {
        env.create_databases_and_commit(env.write_txn()?, |opener, txn| {
            let mut create = |name: &str| opener.create_database::<Bytes, Bytes>(txn, Some(name));
            Databases::each(|name| create(name).map(|_| ()))?;
            FEEDBACK.into_iter().try_for_each(|name| create(name).map(|_| ()))?;
            Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(()))
        })?;
        Self::open(env)
    }

    /// Opens all databases where none can be created.
    pub(super) fn open(env: &Env<WithoutTls>) -> heed::Result<Self> {
        let databases = Self::each(|name| open_existing(env, name))?;
        let [records, links] = FEEDBACK.map(|name| open_one(env, name));
        let feedback = records?.zip(links?);
        let feedback = feedback.map(|(records, links)| FeedbackDatabases { records, links });
        Ok(Self { feedback, ..databases })
    }
}

/// Opens one database, which is an error when it is missing.
pub(super) fn open_existing(env: &Env<WithoutTls>, name: &str) -> heed::Result<Db> {
    let missing = || heed::Error::Decoding(format!("the database `{name}` is missing").into());
    open_one(env, name)?.ok_or_else(missing)
}

pub(super) fn open_one(env: &Env<WithoutTls>, name: &str) -> heed::Result<Option<Db>> {
    let opened = env.open_databases_and_commit(env.read_txn()?, |opener, txn| {
        let found = opener.open_database::<Bytes, Bytes>(txn, Some(name))?;
        Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(found))
    })?;
    Ok(opened.commit().flatten())
}

/// The format of what is in an environment, read before anything in it is changed.
pub(super) fn format(env: &Env<WithoutTls>) -> heed::Result<Option<u32>> {
    let Some(meta) = open_one(env, META)? else { return Ok(None) };
    let txn = env.read_txn()?;
    meta.get(&txn, b"format")?.map(schema::decode).transpose()
}
