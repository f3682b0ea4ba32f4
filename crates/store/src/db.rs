//! An SQLite file: opening, transactions, copies, and what is done with a damaged one.
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

/// How long a transaction waits for those of other processes.
const BUSY: Duration = Duration::from_secs(30);

/// What SQLite adds to a file's name for its log and the index of that, which go when the last
/// connection is closed.
const LOG: [&str; 2] = ["-wal", "-shm"];

/// Settings of each connection. A write-ahead log lets readers go on while one writes, and
/// `secure_delete` overwrites what is deleted.
const SETTINGS: &str = "PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA secure_delete = ON;
    PRAGMA foreign_keys = ON;";

/// An SQLite file that could not be used.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub struct DbError {
    #[from]
    source: rusqlite::Error,
}

impl DbError {
    fn code(&self) -> Option<ErrorCode> {
        self.source.sqlite_error_code()
    }

    fn is_busy(&self) -> bool {
        matches!(self.code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    /// Whether the bytes of the file are not what was written.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self.code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
    }

    /// Whether the file may not be written, or not be made in its folder.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        use ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
        matches!(self.code(), Some(CannotOpen | ReadOnly | PermissionDenied))
    }
}

impl From<DbError> for io::Error {
    fn from(error: DbError) -> Self {
        let kind = match error.code() {
            Some(ErrorCode::DiskFull) => ErrorKind::StorageFull,
            _ if error.is_denied() => ErrorKind::PermissionDenied,
            _ if error.is_damage() => ErrorKind::InvalidData,
            _ => ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

/// An open file: one connection that writes and one that reads, each used by one thread at a time.
/// Other processes may use the file as well.
#[derive(Debug)]
pub struct Db {
    writer: Mutex<Connection>,
    reader: Mutex<Connection>,
}

impl Db {
    /// Opens the file or makes it, with the tables of `schema`, which creates those that are not
    /// there. Its folder exists.
    ///
    /// # Errors
    /// One that [`DbError::is_damage`] for a file that is cut, or none of SQLite.
    pub fn open(path: &Path, schema: &str) -> Result<Self, DbError> {
        // Two that make a file at once do not wait for each other.
        let until = Instant::now() + BUSY;
        loop {
            match Self::open_now(path, schema) {
                Err(error) if error.is_busy() && Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                opened => return opened,
            }
        }
    }

    fn open_now(path: &Path, schema: &str) -> Result<Self, DbError> {
        create(path);
        let writer = connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        writer.execute_batch(schema)?;
        // What a process that was killed has deleted is still in the log; where others use the file,
        // they empty it.
        writer.busy_timeout(Duration::ZERO)?;
        writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        writer.busy_timeout(BUSY)?;
        let reader = connect(path, OpenFlags::empty())?;
        Ok(Self { writer: Mutex::new(writer), reader: Mutex::new(reader) })
    }

    /// Reads in one consistent view.
    pub fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, DbError> {
        let reader = self.reader.lock();
        let view = reader.unchecked_transaction()?;
        let read = work(&view)?;
        view.commit()?;
        Ok(read)
    }

    /// Writes all of it or, on an error, nothing.
    pub fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, DbError> {
        let mut writer = self.writer.lock();
        let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// Empties the write-ahead log, which has earlier states of what was deleted.
    ///
    /// # Errors
    /// Also when a reader still has a view of such a state after [`BUSY`].
    pub fn empty_log(&self) -> Result<(), DbError> {
        let writer = self.writer.lock();
        let is_busy: bool =
            writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        if is_busy { Err(rusqlite::Error::SqliteFailure(busy, None).into()) } else { Ok(()) }
    }
}

/// Makes the file, which its owner alone may read. That is the owner of its folder: a command that
/// root runs must not lock out a server that runs as another user. What fails here is told where the
/// file is opened.
fn create(path: &Path) {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown};
        options.mode(0o600);
        if let Ok(file) = options.open(path)
            && let Some(Ok(folder)) = path.parent().map(fs::metadata)
        {
            let _ = fchown(&file, Some(folder.uid()), Some(folder.gid()));
        }
    }
    #[cfg(not(unix))]
    drop(options.open(path));
}

fn connect(path: &Path, create: OpenFlags) -> Result<Connection, DbError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | create;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.execute_batch(SETTINGS)?;
    // Reads the header, so that a damaged file is known from the beginning.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, u64>(0))?;
    Ok(connection)
}

/// Copies a file that may be in use, in the state of one moment and without what was deleted; one
/// that is damaged is copied as it is. The folder of the copy is made. A copy that is as old as the
/// file stays; returns whether there is a new one.
pub fn copy(from: &Path, to: &Path) -> io::Result<bool> {
    let changed = changed(from)?;
    if fs::metadata(to).and_then(|copy| copy.modified()).is_ok_and(|time| time == changed) {
        return Ok(false);
    }
    let part = to.with_file_name(".tmp-copy.db");
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    remove(&part)?;
    // One that is only read, such as a backup, has no log, and gets none.
    let read_only = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let copied = Connection::open_with_flags(from, read_only).and_then(|source| {
        source.busy_timeout(BUSY)?;
        // As it is, since a path need not be UTF-8.
        let part = ToSqlOutput::Borrowed(ValueRef::Text(part.as_os_str().as_encoded_bytes()));
        source.execute("VACUUM INTO ?1", [part])
    });
    if let Err(error) = copied.map_err(DbError::from) {
        if !error.is_damage() {
            return Err(io::Error::other(error));
        }
        fs::copy(from, &part)?;
    }
    let file = File::options().write(true).open(&part)?;
    file.set_modified(changed)?;
    file.sync_all()?;
    fs::rename(&part, to)?;
    Ok(true)
}

/// Why the bytes of a file, which nothing uses, are not what was written; `None` where they are, and
/// where there is no file.
pub fn damage(path: &Path) -> io::Result<Option<String>> {
    if !path.exists() {
        return Ok(None);
    }
    let read_only = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let check = "PRAGMA quick_check(1)";
    let checked = Connection::open_with_flags(path, read_only)
        .and_then(|db| db.query_row(check, [], |row| row.get::<_, String>(0)));
    match checked.map_err(DbError::from) {
        Ok(result) => Ok(Some(result).filter(|result| result != "ok")),
        Err(error) if error.is_damage() => Ok(Some(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

/// When a file or its log was last written to.
fn changed(path: &Path) -> io::Result<std::time::SystemTime> {
    let file = fs::metadata(path)?.modified()?;
    let log = fs::metadata(with_end(path, LOG[0])).ok().filter(|log| log.len() > 0);
    Ok(log.and_then(|log| log.modified().ok()).map_or(file, |log| log.max(file)))
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Removes a file with its log, if they are there.
pub fn remove(path: &Path) -> io::Result<()> {
    let files = LOG.map(|end| with_end(path, end));
    [path].into_iter().chain(files.iter().map(PathBuf::as_path)).try_for_each(|file| {
        match fs::remove_file(file) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    })
}

/// Renames a file to the first free `PATH.damaged-N`, with its log.
pub fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let name = |n: u32| with_end(path, &format!(".damaged-{n}"));
    let aside = (1..u32::MAX).map(name).find(|aside| !aside.exists()).unwrap_or_else(|| name(0));
    fs::rename(path, &aside)?;
    for end in LOG {
        match fs::rename(with_end(path, end), with_end(&aside, end)) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    Ok(aside)
}

/// What was set aside of a file, without the logs.
#[must_use]
pub fn damaged(path: &Path) -> Vec<PathBuf> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return vec![] };
    let Ok(entries) = fs::read_dir(parent) else { return vec![] };
    let head = format!("{}.damaged-", name.to_string_lossy());
    let is_number = |end: &str| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    paths
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.strip_prefix(&head).is_some_and(is_number)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS word (text TEXT NOT NULL) STRICT;";

    fn count(path: &Path, text: &str) -> usize {
        let files = LOG.map(|end| with_end(path, end));
        let files = [path].into_iter().chain(files.iter().map(PathBuf::as_path));
        let bytes = files.filter_map(|file| fs::read(file).ok()).flatten().collect::<Vec<u8>>();
        bytes.windows(text.len()).filter(|window| *window == text.as_bytes()).count()
    }

    fn put(db: &Db, text: &str) {
        db.write(|db| db.execute("INSERT INTO word VALUES (?1)", [text])).unwrap();
    }

    fn words(path: &Path) -> Vec<String> {
        let db = Db::open(path, SCHEMA).unwrap();
        db.read(|db| {
            let mut query = db.prepare("SELECT text FROM word ORDER BY text")?;
            query.query_map([], |row| row.get(0))?.collect()
        })
        .unwrap()
    }

    #[test]
    fn what_is_deleted_or_overwritten_is_in_no_file_once_the_log_is_emptied() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("words.db");
        let db = Db::open(&path, SCHEMA).unwrap();
        for n in 0..500 {
            put(&db, &format!("marker {n} {}", "x".repeat(300)));
        }
        assert!(count(&path, "marker") >= 500);
        db.write(|db| db.execute("DELETE FROM word WHERE rowid % 2 = 0", [])).unwrap();
        db.write(|db| db.execute("UPDATE word SET text = 'other' WHERE rowid > 1", [])).unwrap();
        db.empty_log().unwrap();
        assert_eq!(count(&path, "marker"), 1);
        assert_eq!(words(&path).len(), 250);
    }

    #[test]
    fn what_a_killed_process_has_deleted_goes_from_the_log_when_the_file_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("words.db");
        let db = Db::open(&path, SCHEMA).unwrap();
        put(&db, "marker");
        db.write(|db| db.execute("DELETE FROM word", [])).unwrap();
        assert!(count(&path, "marker") > 0);
        // Its connections stay as they are.
        std::mem::forget(db);
        drop(Db::open(&path, SCHEMA).unwrap());
        assert_eq!(count(&path, "marker"), 0);
    }

    #[test]
    fn many_may_make_a_file_at_once() {
        for _ in 0..20 {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("words.db");
            std::thread::scope(|scope| {
                for _ in 0..6 {
                    scope.spawn(|| put(&Db::open(&path, SCHEMA).unwrap(), "one"));
                }
            });
            assert_eq!(words(&path).len(), 6);
        }
    }

    #[test]
    fn a_write_that_fails_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("words.db");
        let db = Db::open(&path, SCHEMA).unwrap();
        let failed = db.write(|db| {
            db.execute("INSERT INTO word VALUES ('one')", [])?;
            db.execute("INSERT INTO word VALUES (NULL)", [])
        });
        assert!(failed.is_err());
        put(&db, "two");
        assert_eq!(words(&path), ["two"]);
    }

    #[test]
    fn a_file_in_use_is_copied_as_of_one_moment_and_only_when_it_has_changed() {
        let dir = tempfile::tempdir().unwrap();
        let [path, target] = ["words.db", "copy.db"].map(|name| dir.path().join(name));
        let db = Db::open(&path, SCHEMA).unwrap();
        put(&db, "one");
        db.write(|inside| {
            inside.execute("INSERT INTO word VALUES ('two')", [])?;
            assert!(copy(&path, &target).unwrap(), "a writer does not stop it");
            Ok(())
        })
        .unwrap();
        assert_eq!(words(&target), ["one"]);
        assert!(copy(&path, &target).unwrap());
        assert!(!copy(&path, &target).unwrap(), "nothing was written since");
        assert_eq!(words(&target), ["one", "two"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_copied_into_a_folder_of_any_name() {
        use std::os::unix::ffi::OsStrExt as _;
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
        let [path, target] = [dir.path().join("words.db"), folder.join("copy.db")];
        put(&Db::open(&path, SCHEMA).unwrap(), "one");
        assert!(copy(&path, &target).unwrap());
        assert_eq!(words(&target), ["one"]);
    }

    #[test]
    fn a_damaged_file_is_copied_and_set_aside_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let [path, target] = ["words.db", "copy.db"].map(|name| dir.path().join(name));
        fs::write(&path, "no database ".repeat(1_000)).unwrap();
        assert!(copy(&path, &target).unwrap());
        assert_eq!(fs::read(&target).unwrap(), fs::read(&path).unwrap());
        assert!(Db::open(&path, SCHEMA).unwrap_err().is_damage());
        assert!(damage(&path).unwrap().unwrap().contains("not a database"));
        assert_eq!(set_aside(&path).unwrap(), dir.path().join("words.db.damaged-1"));
        fs::write(dir.path().join("words.db.damaged-1-wal"), "").unwrap();
        assert_eq!(damaged(&path), [dir.path().join("words.db.damaged-1")]);
        put(&Db::open(&path, SCHEMA).unwrap(), "one");
        assert_eq!(words(&path), ["one"]);
        assert_eq!(damage(&path).unwrap(), None);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..4096]).unwrap();
        assert!(damage(&path).unwrap().is_some(), "it is cut");
    }
}
