//! Cached replies of models: each with its key and the documents that its request may quote, so
//! that it is deleted with them.
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::db::{Db, DbError};

/// A hash of all that a reply depends on.
pub type Key = [u8; 32];

/// A hash of a document's name.
pub type Name = [u8; 16];

/// A number of a reply says when it came: the oldest has the smallest. Their number is kept, so that
/// asking for it takes the same time for many.
const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS reply (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key BLOB NOT NULL UNIQUE,
    body BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS about (
    document BLOB NOT NULL,
    reply INTEGER NOT NULL REFERENCES reply ON DELETE CASCADE,
    PRIMARY KEY (document, reply)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS about_reply ON about (reply);
CREATE TABLE IF NOT EXISTS total (replies INTEGER NOT NULL) STRICT;
INSERT INTO total SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM total);
CREATE TRIGGER IF NOT EXISTS reply_inserted AFTER INSERT ON reply
    BEGIN UPDATE total SET replies = replies + 1; END;
CREATE TRIGGER IF NOT EXISTS reply_deleted AFTER DELETE ON reply
    BEGIN UPDATE total SET replies = replies - 1; END;
";

/// Replies that are deleted in one transaction to make room.
const STEP: u64 = 1_000;

/// A reply to store.
#[derive(Debug, Clone)]
pub struct Entry {
    pub body: Arc<[u8]>,
    pub about: Arc<[Name]>,
}

/// The file of replies.
#[derive(Debug)]
pub struct Replies {
    db: Db,
}

impl Replies {
    /// The file of the replies in a folder.
    #[must_use]
    pub fn file(dir: &Path) -> PathBuf {
        dir.join("replies.db")
    }

    /// Opens or makes the file.
    ///
    /// # Errors
    /// As [`Db::open`].
    pub fn open(file: &Path) -> Result<Self, DbError> {
        Ok(Self { db: Db::open(file, SCHEMA)? })
    }

    /// The reply of a key.
    pub fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, DbError> {
        self.db.read(|db| {
            let mut query = db.prepare_cached("SELECT body FROM reply WHERE key = ?1")?;
            query.query_row([key], |row| row.get(0)).optional()
        })
    }

    /// Stores all of them or none. One that is there already is replaced, and stays listed under
    /// the documents that it had.
    pub fn put(&self, batch: &[(Key, Entry)]) -> Result<(), DbError> {
        self.db.write(|db| batch.iter().try_for_each(|(key, entry)| put(db, key, entry)))
    }

    /// The number of replies, and how many bytes of the file are in use.
    pub fn size(&self) -> Result<(u64, u64), DbError> {
        self.db.read(|db| {
            let count = db.query_row("SELECT replies FROM total", [], |row| row.get(0))?;
            Ok((count, bytes_in_use(db)?))
        })
    }

    /// Deletes the replies about any of these documents; returns how many there were.
    pub fn forget(&self, documents: &[Name]) -> Result<u64, DbError> {
        let deleted = self.db.write(|db| {
            let mut delete = db.prepare(
                "DELETE FROM reply WHERE number IN (SELECT reply FROM about WHERE document = ?1)",
            )?;
            documents.iter().map(|document| delete.execute([document])).sum::<Result<usize, _>>()
        })?;
        if deleted > 0 {
            self.db.empty_log()?;
        }
        Ok(deleted as u64)
    }

    /// Deletes the oldest replies where more than `limit` bytes of the file are in use: some more
    /// than needed, so that not every write does so again. Returns how many.
    pub fn evict(&self, limit: u64) -> Result<u64, DbError> {
        if self.db.read(bytes_in_use)? <= limit {
            return Ok(0);
        }
        let enough = limit - limit / 100;
        let mut evicted = 0;
        loop {
            let deleted = self.db.write(|db| {
                if bytes_in_use(db)? <= enough {
                    return Ok(0);
                }
                let oldest = "SELECT number FROM reply ORDER BY number LIMIT ?1";
                db.execute(&format!("DELETE FROM reply WHERE number IN ({oldest})"), [STEP])
            })?;
            evicted += deleted as u64;
            if deleted == 0 {
                break;
            }
        }
        self.db.empty_log()?;
        Ok(evicted)
    }
}

fn put(db: &Connection, key: &Key, entry: &Entry) -> rusqlite::Result<()> {
    let mut insert = db.prepare_cached(
        "INSERT INTO reply (key, body) VALUES (?1, ?2)
         ON CONFLICT (key) DO UPDATE SET body = excluded.body RETURNING number",
    )?;
    let number: i64 = insert.query_row(params![key, &entry.body[..]], |row| row.get(0))?;
    let mut list = db.prepare_cached("INSERT OR IGNORE INTO about VALUES (?1, ?2)")?;
    let documents: BTreeSet<&Name> = entry.about.iter().collect();
    documents.iter().try_for_each(|document| list.execute(params![document, number]).map(drop))
}

fn bytes_in_use(db: &Connection) -> rusqlite::Result<u64> {
    let pages = "SELECT (page_count - freelist_count) * page_size
         FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
    db.query_row(pages, [], |row| row.get(0))
}
