//! A database of the LMDB environment. In a replica it also enters what is written into a journal,
//! from which `replica/` sends it to where the base is shared.
use std::ops::{Bound, Deref};

use heed::RwTxn;

use super::Db;

/// The databases that replicas share, as they are numbered in segments; only ever added to. Left
/// out is what each replica has of its own: the log of changes, and what its index must forget.
const SHARED: [&str; 28] = [
    "meta",
    "slots",
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
    "ids",
    "names",
    "texts",
    "files",
    "edges",
    "owned",
    "ledger",
    "merges",
    "chunk_names",
    "chunk_terms",
    "feedback",
    "feedback links",
    "vectors",
    "wipes",
];

/// The number of a shared database.
pub(in crate::store) fn part_of(name: &str) -> Option<u8> {
    let at = SHARED.iter().position(|shared| *shared == name)?;
    u8::try_from(at).ok()
}

/// The numbers of shared databases that are not sent as they are.
pub(in crate::store) const META_PART: u8 = 0;
pub(in crate::store) const EDGES_PART: u8 = 18;
pub(in crate::store) const LEDGER_PART: u8 = 20;
pub(in crate::store) const VECTORS_PART: u8 = 26;
pub(in crate::store) const WIPES_PART: u8 = 27;

/// A database, and where it enters what is written.
#[derive(Clone, Copy)]
pub(in crate::store) struct Table {
    db: Db,
    /// Its number, if replicas share it.
    part: Option<u8>,
    /// Where it enters what is written, in a replica.
    journal: Option<Db>,
}

impl Deref for Table {
    type Target = Db;

    fn deref(&self) -> &Db {
        &self.db
    }
}

impl Table {
    /// A database by its name; `journal` is that of a replica.
    pub(in crate::store) fn new(name: &str, db: Db, journal: Option<Db>) -> Self {
        Self { db, part: part_of(name), journal }
    }

    /// Its number, if replicas share it.
    pub(in crate::store) fn part(&self) -> Option<u8> {
        self.part
    }

    pub(in crate::store) fn put(
        &self,
        txn: &mut RwTxn<'_>,
        key: &[u8],
        value: &[u8],
    ) -> heed::Result<()> {
        self.db.put(txn, key, value)?;
        self.enter(txn, key)
    }

    /// Whether there was such a key.
    pub(in crate::store) fn delete(&self, txn: &mut RwTxn<'_>, key: &[u8]) -> heed::Result<bool> {
        let was_there = self.db.delete(txn, key)?;
        if was_there {
            self.enter(txn, key)?;
        }
        Ok(was_there)
    }

    /// Returns how many there were.
    pub(in crate::store) fn delete_range(
        &self,
        txn: &mut RwTxn<'_>,
        range: &(Bound<&[u8]>, Bound<&[u8]>),
    ) -> heed::Result<usize> {
        if self.journal.is_some() && self.part.is_some() {
            let keys = self.db.range(txn, range)?;
            let keys = keys.map(|entry| entry.map(|(key, _)| key.to_vec()));
            for key in keys.collect::<heed::Result<Vec<_>>>()? {
                self.enter(txn, &key)?;
            }
        }
        self.db.delete_range(txn, range)
    }

    /// Writes what came from elsewhere, which is not sent again; `None` deletes.
    pub(in crate::store) fn receive(
        &self,
        txn: &mut RwTxn<'_>,
        key: &[u8],
        value: Option<&[u8]>,
    ) -> heed::Result<()> {
        match value {
            Some(value) => self.db.put(txn, key, value),
            None => self.db.delete(txn, key).map(|_| ()),
        }
    }

    /// Removes everything, without a word in the journal: for what each replica has of its own.
    pub(in crate::store) fn clear(&self, txn: &mut RwTxn<'_>) -> heed::Result<()> {
        self.db.clear(txn)
    }

    /// The entry says in which transaction the key was last written, so that one that is written
    /// again while it is sent stays.
    fn enter(&self, txn: &mut RwTxn<'_>, key: &[u8]) -> heed::Result<()> {
        let Some((part, journal)) = self.part.zip(self.journal) else { return Ok(()) };
        let mut entry = Vec::with_capacity(key.len() + 1);
        entry.push(part);
        entry.extend(key);
        let transaction = (txn.id() as u64).to_be_bytes();
        journal.put(txn, &entry, &transaction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_names() {
        let numbers = ["meta", "edges", "ledger", "vectors", "wipes"].map(part_of);
        let expected = [META_PART, EDGES_PART, LEDGER_PART, VECTORS_PART, WIPES_PART].map(Some);
        assert_eq!(numbers, expected);
        assert_eq!(part_of("tombstones"), None);
    }
}
