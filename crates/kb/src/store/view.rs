//! The store through one transaction: [`StoreReader`] for reading, [`StoreWriter`] for both.
use std::ops::Deref;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use heed::{RoTxn, RwTxn, WithoutTls};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::changes::{Changes, Removals};
use super::replica::is_shared_value;
use super::restriction::Visibility;
use super::schema::{FORMAT, LAYERS, decode, encode, hash};
use super::vectors::files::OpenVectorFile;
use super::{Id, Row, Store};

/// One consistent view of the store.
pub(crate) struct StoreReader<'t> {
    pub(super) store: &'t Store,
    txn: Txn<'t>,
    /// What it sees, where the store is restricted.
    pub(super) visibility: Option<Visibility>,
}

enum Txn<'t> {
    Read(RoTxn<'t, WithoutTls>),
    Write(RwTxn<'t>),
}

/// A view of the store that changes it; everything that reads takes it as a [`StoreReader`].
pub(crate) struct StoreWriter<'t> {
    reader: StoreReader<'t>,
    /// What it has changed so far.
    pub(super) changes: Changes,
    /// Whether it has put vectors into files that are not brought to the disk yet.
    pub(super) has_put_vectors: bool,
    /// The file of vectors that it wrote to last: whether that is still the one is asked only once.
    pub(super) vector_file: Option<OpenVectorFile>,
    pub(super) removals: Removals,
    /// The encoded names and terms of chunks, stored when the write ends.
    pub(super) made_names: Vec<(Row, [Vec<u8>; 2])>,
    /// The next row of each layer, once it has handed some out; stored when the write ends.
    pub(super) next_rows: Option<[Row; LAYERS]>,
    /// Whether it takes in what another replica wrote.
    pub(super) is_receiving: bool,
    /// Whether it lets searches see what was stored.
    pub(super) has_published: bool,
}

impl<'t> Deref for StoreReader<'t> {
    type Target = RoTxn<'t, WithoutTls>;

    fn deref(&self) -> &Self::Target {
        match &self.txn {
            Txn::Read(txn) => txn,
            Txn::Write(txn) => txn,
        }
    }
}

impl<'t> Deref for StoreWriter<'t> {
    type Target = StoreReader<'t>;

    fn deref(&self) -> &Self::Target {
        &self.reader
    }
}

impl<'t> StoreReader<'t> {
    pub(super) fn new(store: &'t Store, txn: RoTxn<'t, WithoutTls>) -> heed::Result<Self> {
        let mut reader = Self { store, txn: Txn::Read(txn), visibility: None };
        if let Some(scope) = &store.scope {
            reader.visibility = Some(Visibility::new(&reader, scope)?);
        }
        Ok(reader)
    }

    /// A value of the base as a whole.
    pub(crate) fn meta<T: DeserializeOwned>(&self, key: &str) -> heed::Result<Option<T>> {
        self.store.db.meta.get(self, key.as_bytes())?.map(decode).transpose()
    }

    /// Distinguishes this base from one that another run made in the same folder.
    pub(crate) fn uid(&self) -> heed::Result<Id> {
        Ok(self.meta("uid")?.unwrap_or_default())
    }

    /// Grows whenever what searches see has changed; for a restricted reader also when documents
    /// were given other fields.
    pub(crate) fn generation(&self) -> heed::Result<u64> {
        let generation: u64 = self.meta("generation")?.unwrap_or_default();
        // Both numbers grow only, so that their sum changes with either.
        let changes = if self.visibility.is_some() { self.document_changes()? } else { 0 };
        Ok(generation + changes)
    }

    /// Seconds since 1970 at which the base was made and last changed.
    pub(crate) fn times(&self) -> heed::Result<(u64, u64)> {
        let created = self.meta("created")?.unwrap_or_default();
        Ok((created, self.meta("updated")?.unwrap_or(created)))
    }
}

impl<'t> StoreWriter<'t> {
    pub(super) fn new(store: &'t Store, txn: RwTxn<'t>) -> Self {
        let reader = StoreReader { store, txn: Txn::Write(txn), visibility: None };
        Self {
            reader,
            changes: Changes::default(),
            has_put_vectors: false,
            vector_file: None,
            removals: Removals::default(),
            made_names: vec![],
            next_rows: None,
            is_receiving: false,
            has_published: false,
        }
    }

    /// Reads what the readers of `store` see, which may be restricted, in this transaction.
    pub(crate) fn read_as<T>(
        &mut self,
        store: &Store,
        work: impl FnOnce(&StoreReader<'_>) -> heed::Result<T>,
    ) -> heed::Result<T> {
        if let Some(scope) = &store.scope {
            self.reader.visibility = Some(Visibility::new(&self.reader, scope)?);
        }
        let read = work(&self.reader);
        self.reader.visibility = None;
        read
    }

    /// The transaction, for LMDB's own writes.
    pub(super) fn txn(&mut self) -> &mut RwTxn<'t> {
        match &mut self.reader.txn {
            Txn::Write(txn) => txn,
            Txn::Read(_) => unreachable!("a writer is made with a transaction that writes"),
        }
    }

    pub(super) fn commit(self) -> heed::Result<()> {
        match self.reader.txn {
            Txn::Write(txn) => txn.commit(),
            Txn::Read(_) => unreachable!("a writer is made with a transaction that writes"),
        }
    }

    /// Stores a value of the base as a whole.
    pub(crate) fn set_meta<T: Serialize>(&mut self, key: &str, value: &T) -> heed::Result<()> {
        let (meta, value) = (self.store.db.meta, encode(value)?);
        if self.is_receiving || !is_shared_value(key) {
            meta.receive(self.txn(), key.as_bytes(), Some(&value))
        } else {
            meta.put(self.txn(), key.as_bytes(), &value)
        }
    }

    /// The first values of a base that is made in `dir`.
    pub(crate) fn begin_base(&mut self, dir: &Path) -> heed::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.set_meta("format", &FORMAT)?;
        self.set_meta("created", &now.as_secs())?;
        let seed = format!("{:?} {} {}", now, std::process::id(), dir.display());
        self.set_meta("uid", &hash(&[seed.as_bytes()]))
    }

    /// Lets searches see what was stored, in this process and in others.
    pub(crate) fn publish(&mut self) -> heed::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.set_meta("updated", &now.as_secs())?;
        self.has_published = true;
        self.bump_generation()
    }

    /// Lets searches on this machine see what was stored.
    pub(crate) fn bump_generation(&mut self) -> heed::Result<()> {
        self.sync_vectors()?;
        let generation = self.generation()? + 1;
        self.set_meta("generation", &generation)
    }
}
