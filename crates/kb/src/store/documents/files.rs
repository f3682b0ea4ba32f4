//! Files that were read, so that an unchanged one need not be parsed again. Nothing of a file's
//! name or text is in here, only hashes of them.
use serde::{Deserialize, Serialize};

use crate::store::schema::{decode, encode, hash};
use crate::store::{DocumentRecord, Id, Row, StoreReader, StoreWriter};
use halma_core::Layer;

/// Hash of where a file lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileKey(Id);

impl FileKey {
    pub(crate) fn of(origin: &str) -> Self {
        Self(hash(&[origin.as_bytes()]))
    }

    /// Where the files that are attached to this one are listed.
    fn attached(self) -> [u8; 8] {
        hash(&[&self.0.to_be_bytes(), b"attached"]).to_be_bytes()
    }
}

/// Hash of where a file lies and of the name that a document of it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FieldsKey(Id);

impl FieldsKey {
    pub(crate) fn of(origin: &str, name: &str) -> Self {
        Self(hash(&[origin.as_bytes(), b"fields", name.as_bytes()]))
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
    /// What the file system said of it then; stored after the rest, where there is one.
    #[serde(skip)]
    pub(crate) stamp: Option<FileStamp>,
}

/// The document of a file, as this file gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileDocument {
    pub(crate) row: Row,
    pub(crate) name: String,
    pub(crate) origin: String,
}

/// What the file system says of a file whose bytes stay as they are. A file without one is known
/// by its bytes alone: one that was written so shortly before it was read that the next write might
/// leave the same stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileStamp {
    pub(crate) bytes: u64,
    /// When its bytes were last written, and when anything about it last changed, in nanoseconds
    /// since 1970. The second cannot be set back by a program.
    pub(crate) modified: i128,
    pub(crate) changed: i128,
    /// Which file of which file system it is.
    pub(crate) inode: u64,
    pub(crate) device: u64,
}

impl StoreReader<'_> {
    pub(crate) fn file(&self, key: FileKey) -> heed::Result<Option<FileRecord>> {
        let Some(stored) = self.store.db.files.get(self, &key.0.to_be_bytes())? else {
            return Ok(None);
        };
        let decoded = postcard::take_from_bytes::<FileRecord>(stored);
        let (record, stamp) = decoded.map_err(|e| heed::Error::Decoding(e.into()))?;
        let stamp = if stamp.is_empty() { None } else { Some(decode(stamp)?) };
        Ok(Some(FileRecord { stamp, ..record }))
    }

    /// The document of a file that is known, with the name and the origin that it has of this file.
    pub(crate) fn file_document(&self, key: FileKey) -> heed::Result<Option<FileDocument>> {
        let Some(file) = self.file(key)? else { return Ok(None) };
        let Some(row) = self.find(Layer::Document, file.document)? else { return Ok(None) };
        let DocumentRecord { names, origins, .. } = self.linked(row)?;
        let pair = names.into_iter().zip(origins).find(|(_, origin)| FileKey::of(origin) == key);
        Ok(pair.map(|(name, origin)| FileDocument { row, name, origin }))
    }

    /// The files attached to a file that is known.
    pub(crate) fn attached(&self, key: FileKey) -> heed::Result<Vec<FileKey>> {
        let stored = self.store.db.files.get(self, &key.attached())?;
        let keys: Vec<Id> = stored.map(decode).transpose()?.unwrap_or_default();
        Ok(keys.into_iter().map(FileKey).collect())
    }

    /// Hash of the fields that a file said of a document when it was last read.
    pub(crate) fn stated_fields(&self, key: FieldsKey) -> heed::Result<Option<Id>> {
        let stored = self.store.db.files.get(self, &key.0.to_be_bytes())?;
        stored.map(decode).transpose()
    }

    #[cfg(test)]
    pub(crate) fn file_count(&self) -> heed::Result<u64> {
        self.store.db.files.len(self)
    }
}

impl StoreWriter<'_> {
    pub(crate) fn put_file(&mut self, key: FileKey, record: &FileRecord) -> heed::Result<()> {
        let mut value = encode(record)?;
        if let Some(stamp) = &record.stamp {
            value.extend(encode(stamp)?);
        }
        self.store.db.files.put(self.txn(), &key.0.to_be_bytes(), &value)
    }

    /// Renews the stamp of a file that is known; its bytes are the same.
    pub(crate) fn stamp_file(&mut self, key: FileKey, stamp: FileStamp) -> heed::Result<()> {
        match self.file(key)?.filter(|record| record.stamp != Some(stamp)) {
            Some(record) => self.put_file(key, &FileRecord { stamp: Some(stamp), ..record }),
            None => Ok(()),
        }
    }

    pub(crate) fn put_attached(&mut self, key: FileKey, files: &[FileKey]) -> heed::Result<()> {
        let keys: Vec<Id> = files.iter().map(|file| file.0).collect();
        if keys.is_empty() {
            return self.store.db.files.delete(self.txn(), &key.attached()).map(|_| ());
        }
        self.store.db.files.put(self.txn(), &key.attached(), &encode(&keys)?)
    }

    pub(crate) fn put_stated_fields(&mut self, key: FieldsKey, fields: Id) -> heed::Result<()> {
        self.store.db.files.put(self.txn(), &key.0.to_be_bytes(), &encode(&fields)?)
    }

    pub(crate) fn forget_file(&mut self, key: FileKey) -> heed::Result<()> {
        self.store.db.files.delete(self.txn(), &key.attached())?;
        self.store.db.files.delete(self.txn(), &key.0.to_be_bytes()).map(|_| ())
    }
}
