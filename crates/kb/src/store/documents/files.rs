//! Files that were read, so that an unchanged one need not be parsed again. Nothing of a file's
//! name or text is in here, only hashes of them.
use serde::{Deserialize, Serialize};

use crate::store::schema::{decode, encode, hash};
use crate::store::{Id, StoreReader, StoreWriter};

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

impl StoreReader<'_> {
    pub(crate) fn file(&self, key: FileKey) -> heed::Result<Option<FileRecord>> {
        self.store.db.files.get(self, &key.0.to_be_bytes())?.map(decode).transpose()
    }

    #[cfg(test)]
    pub(crate) fn file_count(&self) -> heed::Result<u64> {
        self.store.db.files.len(self)
    }
}

impl StoreWriter<'_> {
    pub(crate) fn put_file(&mut self, key: FileKey, record: &FileRecord) -> heed::Result<()> {
        self.store.db.files.put(self.txn(), &key.0.to_be_bytes(), &encode(record)?)
    }

    pub(crate) fn forget_file(&mut self, key: FileKey) -> heed::Result<()> {
        self.store.db.files.delete(self.txn(), &key.0.to_be_bytes()).map(|_| ())
    }
}
