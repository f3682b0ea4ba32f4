//! Files that were read, so that an unchanged one need not be parsed again. Nothing of a file's
//! name or text is in here, only hashes of them.
use heed::RwTxn;
use serde::{Deserialize, Serialize};

use super::schema::{decode, encode, hash};
use super::{Id, Reading, Store};

/// Hash of where a file lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileKey(Id);

impl FileKey {
    pub(crate) fn of(origin: &str) -> Self {
        Self(hash(&[origin.as_bytes()]))
    }
}

/// A file that became one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRecord {
    /// Hash of its bytes: 256 bits, because nothing else is compared.
    pub(crate) content: [u8; 32],
    /// Hash of how it was read.
    pub(crate) read_with: Id,
    pub(crate) document: Id,
}

impl Store {
    pub(crate) fn file(&self, txn: &Reading<'_>, key: FileKey) -> heed::Result<Option<FileRecord>> {
        self.db.files.get(txn, &key.0.to_be_bytes())?.map(decode).transpose()
    }

    pub(crate) fn put_file(
        &self,
        txn: &mut RwTxn<'_>,
        key: FileKey,
        record: &FileRecord,
    ) -> heed::Result<()> {
        self.db.files.put(txn, &key.0.to_be_bytes(), &encode(record)?)
    }

    pub(crate) fn forget_file(&self, txn: &mut RwTxn<'_>, key: FileKey) -> heed::Result<()> {
        self.db.files.delete(txn, &key.0.to_be_bytes()).map(|_| ())
    }

    #[cfg(test)]
    pub(crate) fn file_count(&self, txn: &Reading<'_>) -> heed::Result<u64> {
        self.db.files.len(txn)
    }
}
