//! What a base keeps in addition to its documents: small entries with versions, and what was used on each
//! day.
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};
use std::sync::Arc;

use crate::db::{Db, DbError};

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS entry (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    bytes BLOB,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entry_version ON entry (kind, version);
CREATE TABLE IF NOT EXISTS usage (
    subject TEXT NOT NULL,
    day INTEGER NOT NULL,
    questions INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    cached_calls INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cost_micros INTEGER NOT NULL,
    PRIMARY KEY (subject, day)
) STRICT, WITHOUT ROWID;
";

const ADD: &str = "INSERT INTO usage SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
    WHERE ?4 <= ?9 AND ?8 <= ?10
    ON CONFLICT (subject, day) DO UPDATE SET questions = questions + ?3, calls = calls + ?4,
        cached_calls = cached_calls + ?5, prompt_tokens = prompt_tokens + ?6,
        completion_tokens = completion_tokens + ?7, cost_micros = cost_micros + ?8
    WHERE (?4 <= 0 OR calls + ?4 <= ?9) AND (?8 <= 0 OR cost_micros + ?8 <= ?10)";

/// Deleted entries of a kind that [`State::changed_since`] still lists: those of so many last
/// versions.
const DELETED: i64 = 1_000;

/// An entry of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateEntry {
    pub id: String,
    /// Of its last change. Later changes of any entry of the kind have larger ones.
    pub version: u64,
    /// `None` once it is deleted.
    pub bytes: Option<Vec<u8>>,
}

/// An amount that was used. Negative amounts give back what was reserved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    pub questions: i64,
    /// Calls that reached a model.
    pub calls: i64,
    /// Calls that the cache answered.
    pub cached_calls: i64,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
    /// Millionths of the currency of the prices.
    pub cost_micros: i64,
}

/// The largest amount that a subject may use on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    pub calls: i64,
    /// Millionths of the currency of the prices.
    pub cost_micros: i64,
}

impl Cap {
    /// A cap that is never reached.
    pub const UNLIMITED: Self = Self { calls: i64::MAX, cost_micros: i64::MAX };
}

/// What a subject has used on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpentOn {
    pub subject: String,
    /// Days since 1970-01-01.
    pub day: i32,
    pub spent: Spent,
}

/// The file `state.db` in the folder of a base. It is opened when it is first used, and made by the
/// first write.
#[derive(Debug)]
pub struct State {
    file: PathBuf,
    db: Mutex<Option<Arc<Db>>>,
}

impl State {
    /// The name of the file.
    pub const FILE: &str = "state.db";

    /// What to do about a damaged file.
    pub const REPAIR: &str = "stop what uses it and restore a backup, or remove it, which loses its \
        traces, builds, usage and API keys";

    /// The state of the base in this folder.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        Self { file: dir.join(Self::FILE), db: Mutex::default() }
    }

    /// The path of the file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    fn open(&self) -> Result<Arc<Db>, DbError> {
        let mut db = self.db.lock();
        if let Some(db) = &*db {
            return Ok(Arc::clone(db));
        }
        Ok(Arc::clone(db.insert(Arc::new(Db::open(&self.file, SCHEMA)?))))
    }

    /// Reads nothing where there is no file.
    fn read<T: Default>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> io::Result<T> {
        if self.db.lock().is_none() && !self.file.exists() {
            return Ok(T::default());
        }
        self.open().and_then(|db| db.read(work)).map_err(|e| self.failed(e))
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> io::Result<T> {
        self.open().and_then(|db| db.write(work)).map_err(|e| self.failed(e))
    }

    /// The error with the file that it is about, and what to do.
    fn failed(&self, error: DbError) -> io::Error {
        let hint = if error.is_damage() {
            Self::REPAIR
        } else {
            "check the path and its permissions, and the free space"
        };
        let text = format!("`{}` cannot be used: {error}; {hint}", self.file.display());
        io::Error::new(io::Error::from(error).kind(), text)
    }

    /// The entry of this id, unless it is deleted.
    pub fn get(&self, kind: &str, id: &str) -> io::Result<Option<StateEntry>> {
        let query = "SELECT id, version, bytes FROM entry
            WHERE kind = ?1 AND id = ?2 AND bytes IS NOT NULL";
        self.read(|db| db.prepare_cached(query)?.query_row(params![kind, id], entry).optional())
    }

    /// All entries of a kind, by id.
    pub fn list(&self, kind: &str) -> io::Result<Vec<StateEntry>> {
        let query = "SELECT id, version, bytes FROM entry
            WHERE kind = ?1 AND bytes IS NOT NULL ORDER BY id";
        self.read(|db| db.prepare_cached(query)?.query_map([kind], entry)?.collect())
    }

    /// The last entries of a kind by id, at most `limit`, those with the larger ids first; only
    /// those before the id `before`.
    pub fn last(
        &self,
        kind: &str,
        before: Option<&str>,
        limit: u32,
    ) -> io::Result<Vec<StateEntry>> {
        let query = "SELECT id, version, bytes FROM entry
            WHERE kind = ?1 AND bytes IS NOT NULL AND (?2 IS NULL OR id < ?2)
            ORDER BY id DESC LIMIT ?3";
        let values = params![kind, before, limit];
        self.read(|db| db.prepare_cached(query)?.query_map(values, entry)?.collect())
    }

    /// The ids of all entries of a kind but the last `count` by id.
    pub fn ids_before_last(&self, kind: &str, count: u32) -> io::Result<Vec<String>> {
        let query = "SELECT id FROM entry WHERE kind = ?1 AND bytes IS NOT NULL
            ORDER BY id DESC LIMIT -1 OFFSET ?2";
        let values = params![kind, count];
        self.read(|db| db.prepare_cached(query)?.query_map(values, |row| row.get(0))?.collect())
    }

    /// What has changed after a version, in the order of the changes; deleted entries have no bytes,
    /// and only those deleted among the last [`DELETED`] changes are told.
    pub fn changed_since(&self, kind: &str, version: u64) -> io::Result<Vec<StateEntry>> {
        let query = "SELECT id, version, bytes FROM entry
            WHERE kind = ?1 AND version > ?2 ORDER BY version";
        let values = params![kind, version.cast_signed()];
        self.read(|db| db.prepare_cached(query)?.query_map(values, entry)?.collect())
    }

    /// Writes an entry if it still has the `expected` version, 0 for one that is not there, and
    /// returns its new version; `None` if another program was faster.
    pub fn put(
        &self,
        kind: &str,
        id: &str,
        expected: u64,
        bytes: &[u8],
    ) -> io::Result<Option<u64>> {
        self.write(|db| put(db, (kind, id), expected, Some(bytes)))
    }

    /// Deletes an entry if it still has the `expected` version; `false` if not.
    pub fn delete(&self, kind: &str, id: &str, expected: u64) -> io::Result<bool> {
        self.write(|db| Ok(put(db, (kind, id), expected.max(1), None)?.is_some()))
    }

    /// Brings what was deleted or overwritten out of the file and its log.
    pub fn empty_log(&self) -> io::Result<()> {
        let db = self.db.lock().clone();
        db.map_or(Ok(()), |db| db.empty_log()).map_err(|e| self.failed(e))
    }

    /// Adds to what a subject has used on a day (days since 1970-01-01), unless that would exceed
    /// `cap`; `false` then, and nothing is added.
    pub fn add(&self, subject: &str, day: i32, spent: Spent, cap: Cap) -> io::Result<bool> {
        let Spent { questions, calls, cached_calls, .. } = spent;
        let Spent { prompt_tokens, completion_tokens, cost_micros, .. } = spent;
        let values = params![
            subject,
            day,
            questions,
            calls,
            cached_calls,
            prompt_tokens,
            completion_tokens,
            cost_micros,
            cap.calls,
            cap.cost_micros
        ];
        self.write(|db| Ok(db.prepare_cached(ADD)?.execute(values)? > 0))
    }

    /// What a subject has used on a day.
    pub fn spent(&self, subject: &str, day: i32) -> io::Result<Spent> {
        let query = "SELECT * FROM usage WHERE subject = ?1 AND day = ?2";
        let values = params![subject, day];
        let row = self.read(|db| db.prepare_cached(query)?.query_row(values, used).optional())?;
        Ok(row.map(|used| used.spent).unwrap_or_default())
    }

    /// What every subject has used on each day.
    pub fn used(&self) -> io::Result<Vec<SpentOn>> {
        let query = "SELECT * FROM usage ORDER BY subject, day";
        self.read(|db| db.prepare_cached(query)?.query_map([], used)?.collect())
    }
}

fn used(row: &Row<'_>) -> rusqlite::Result<SpentOn> {
    let spent = Spent {
        questions: row.get(2)?,
        calls: row.get(3)?,
        cached_calls: row.get(4)?,
        prompt_tokens: row.get(5)?,
        completion_tokens: row.get(6)?,
        cost_micros: row.get(7)?,
    };
    Ok(SpentOn { subject: row.get(0)?, day: row.get(1)?, spent })
}

fn entry(row: &Row<'_>) -> rusqlite::Result<StateEntry> {
    Ok(StateEntry { id: row.get(0)?, version: row.get(1)?, bytes: row.get(2)? })
}

/// Writes an entry of this version, 0 for one that is not there; `None` for bytes deletes it.
/// Returns its new version.
fn put(
    db: &Connection,
    (kind, id): (&str, &str),
    expected: u64,
    bytes: Option<&[u8]>,
) -> rusqlite::Result<Option<u64>> {
    let mut query = db.prepare_cached(
        "SELECT version, bytes IS NOT NULL FROM entry WHERE kind = ?1 AND id = ?2",
    )?;
    let row = query.query_row(params![kind, id], |row| Ok((row.get(0)?, row.get(1)?)));
    let current = match row.optional()? {
        Some((version, true)) => version,
        Some((_, false)) | None => 0_u64,
    };
    if current != expected {
        return Ok(None);
    }
    let mut last = db.prepare_cached("SELECT max(version) FROM entry WHERE kind = ?1")?;
    let last: Option<i64> = last.query_row([kind], |row| row.get(0))?;
    let version = last.unwrap_or(0) + 1;
    let mut write = db.prepare_cached("REPLACE INTO entry VALUES (?1, ?2, ?3, ?4)")?;
    write.execute(params![kind, id, version, bytes])?;
    if bytes.is_none() {
        let mut prune = db.prepare_cached(
            "DELETE FROM entry WHERE kind = ?1 AND version < ?2 AND bytes IS NULL",
        )?;
        prune.execute(params![kind, version - DELETED])?;
    }
    Ok(Some(version.cast_unsigned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> (tempfile::TempDir, State) {
        let dir = tempfile::tempdir().unwrap();
        let state = State::new(dir.path());
        (dir, state)
    }

    fn ids(entries: Vec<StateEntry>) -> Vec<String> {
        entries.into_iter().map(|entry| entry.id).collect()
    }

    #[test]
    fn an_entry_is_written_only_over_the_version_that_was_read() {
        let (_dir, state) = state();
        let first = state.put("build", "a", 0, b"one").unwrap().unwrap();
        assert_eq!(state.put("build", "a", 0, b"two").unwrap(), None);
        let second = state.put("build", "a", first, b"two").unwrap().unwrap();
        assert!(second > first);
        assert_eq!(state.get("build", "a").unwrap().unwrap().bytes.unwrap(), b"two");
        assert!(!state.delete("build", "a", first).unwrap());
        assert!(state.delete("build", "a", second).unwrap());
        assert!(state.get("build", "a").unwrap().is_none());
        assert!(!state.delete("build", "a", 0).unwrap(), "it is not there");
        let third = state.put("build", "a", 0, b"three").unwrap().unwrap();
        assert!(third > second + 1, "its deletion has a version as well");
    }

    #[test]
    fn changes_are_told_in_their_order_with_deletions() {
        let (_dir, state) = state();
        for id in ["a", "b", "c"] {
            state.put("build", id, 0, b"x").unwrap();
        }
        state.put("other", "d", 0, b"x").unwrap();
        let version = state.get("build", "a").unwrap().unwrap().version;
        let seen = state.changed_since("build", 0).unwrap().last().unwrap().version;
        state.delete("build", "a", version).unwrap();
        let b = state.get("build", "b").unwrap().unwrap();
        state.put("build", "b", b.version, b"y").unwrap();
        let changed = state.changed_since("build", seen).unwrap();
        let told = changed.iter().map(|entry| (entry.id.as_str(), entry.bytes.is_some()));
        assert_eq!(told.collect::<Vec<_>>(), [("a", false), ("b", true)]);
        assert_eq!(ids(state.list("build").unwrap()), ["b", "c"]);
    }

    #[test]
    fn pages_begin_with_the_largest_id() {
        let (_dir, state) = state();
        for id in ["1", "2", "3", "4"] {
            state.put("trace", id, 0, b"x").unwrap();
        }
        assert_eq!(ids(state.last("trace", None, 2).unwrap()), ["4", "3"]);
        assert_eq!(ids(state.last("trace", Some("3"), 9).unwrap()), ["2", "1"]);
        assert_eq!(state.ids_before_last("trace", 3).unwrap(), ["1"]);
    }

    #[test]
    fn deleted_entries_are_told_of_for_a_while_and_leave_nothing() {
        let (dir, state) = state();
        for id in 0..1_200 {
            let version = state.put("trace", &id.to_string(), 0, b"marker").unwrap().unwrap();
            state.delete("trace", &id.to_string(), version).unwrap();
        }
        let left = state.changed_since("trace", 0).unwrap().len();
        assert!((400..=600).contains(&left), "{left}");
        state.empty_log().unwrap();
        for file in std::fs::read_dir(dir.path()).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            assert!(!bytes.windows(6).any(|window| window == b"marker"));
        }
    }

    #[test]
    fn a_cap_cannot_be_overspent_by_two_together() {
        let (dir, _) = state();
        let cap = Cap { calls: 10, ..Cap::UNLIMITED };
        let one = Spent { calls: 1, prompt_tokens: 5, ..Spent::default() };
        let taken = std::thread::scope(|scope| {
            let take = || {
                let state = State::new(dir.path());
                (0..8).filter(|_| state.add("key", 3, one, cap).unwrap()).count()
            };
            let threads = [scope.spawn(take), scope.spawn(take)];
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
        });
        assert_eq!(taken, 10);
        let state = State::new(dir.path());
        let spent = Spent { calls: 10, prompt_tokens: 50, ..Spent::default() };
        assert_eq!(state.spent("key", 3).unwrap(), spent);
        assert_eq!(state.spent("key", 4).unwrap(), Spent::default());
        let back = Spent { calls: -1, ..Spent::default() };
        assert!(state.add("key", 3, back, cap).unwrap());
        let used = state.used().unwrap();
        assert_eq!((used.len(), used[0].spent.calls, used[0].day), (1, 9, 3));
    }

    #[test]
    fn a_file_that_cannot_be_used_is_named_with_what_to_do() {
        let (dir, state) = state();
        std::fs::write(state.file(), "hello").unwrap();
        let damaged = state.list("key").unwrap_err();
        assert_eq!(damaged.kind(), io::ErrorKind::InvalidData);
        for part in [&state.file().display().to_string(), "is not a database", State::REPAIR] {
            assert!(damaged.to_string().contains(part), "{damaged}");
        }
        let folder = State::new(&dir.path().join("none")).put("key", "a", 0, b"x").unwrap_err();
        assert!(folder.to_string().contains("check the path and its permissions"), "{folder}");
    }

    #[test]
    fn nothing_is_made_for_a_question() {
        let (dir, state) = state();
        assert!(state.list("build").unwrap().is_empty() && state.used().unwrap().is_empty());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
