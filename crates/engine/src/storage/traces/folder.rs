//! Traces in the folder of a base: one small file each.
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use parking_lot::Mutex;

use super::{LONGEST_QUESTION, Page, StoredTrace, TraceHead, TraceStorage, is_id};

/// The folder of traces in the folder of a base.
pub(super) const FOLDER: &str = "traces";
const EXTENSION: &str = ".jsonl";

/// Several processes may use one folder. What other processes added or removed is noticed by the
/// next listing, so that together they may exceed the limit until then.
#[derive(Debug)]
pub(super) struct FolderTraces {
    dir: PathBuf,
    limit: usize,
    heads: Mutex<Option<Heads>>,
    deletions: Mutex<Deletions>,
}

/// What must not be stored any more.
#[derive(Debug, Default)]
pub(super) struct Deletions {
    /// Documents with the time of their last deletion: a question that began before may quote them.
    documents: HashMap<String, DateTime<Utc>>,
    /// The base itself is removed.
    pub(super) closed: bool,
}

/// Heads by id; `None` until one is read.
type Heads = BTreeMap<String, Option<TraceHead>>;

impl Deletions {
    pub(super) fn add(&mut self, documents: &[String], at: DateTime<Utc>) {
        self.documents.retain(|_, before| at - *before < LONGEST_QUESTION);
        self.documents.extend(documents.iter().map(|name| (name.clone(), at)));
    }

    pub(super) fn forbid(&self, head: &TraceHead) -> bool {
        let deleted = |name: &String| self.documents.get(name).is_some_and(|at| head.at <= *at);
        self.closed || head.documents.iter().any(deleted)
    }
}

impl FolderTraces {
    pub(super) fn new(base_dir: &Path, limit: usize) -> Self {
        Self {
            dir: base_dir.join(FOLDER),
            limit,
            heads: Mutex::default(),
            deletions: Mutex::default(),
        }
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    fn path(&self, id: &str) -> PathBuf {
        self.dir.join(format!("{id}{EXTENSION}"))
    }

    /// The heads in memory, brought in line with the files that are there now.
    fn refreshed<'a>(&self, heads: &'a mut Option<Heads>) -> &'a mut Heads {
        let mut read = heads.take().unwrap_or_default();
        let mut current = self.ids();
        for (id, head) in &mut current {
            *head = read.remove(id).flatten();
        }
        heads.insert(current)
    }

    /// The ids of the files that are there, without their heads.
    fn ids(&self) -> Heads {
        let files = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let id = |name: OsString| Some(name.to_str()?.strip_suffix(EXTENSION)?.to_owned());
        let ids = files.filter_map(|file| id(file.file_name())).filter(|id| is_id(id));
        ids.map(|id| (id, None)).collect()
    }

    /// A head, read from its file the first time. A file that cannot be read is left alone, and
    /// reported where the trace is looked up.
    fn head(&self, id: &str, head: &mut Option<TraceHead>) -> Option<TraceHead> {
        if head.is_none() {
            *head = serde_json::from_str(&first_line(&self.path(id)).ok()?).ok();
        }
        head.clone()
    }

    /// Removes what processes that were killed have left in part, which may quote anything.
    fn remove_fragments(&self) -> std::io::Result<()> {
        let unread: Vec<String> = {
            let mut guard = self.heads.lock();
            let heads = self.refreshed(&mut guard);
            heads.iter().filter(|(_, head)| head.is_none()).map(|(id, _)| id.clone()).collect()
        };
        for id in unread {
            if first_line(&self.path(&id)).is_ok_and(|line| !line.ends_with('\n')) {
                self.remove(&id)?;
            }
        }
        Ok(())
    }
}

/// With the end of the line, where that was written.
fn first_line(path: &Path) -> std::io::Result<String> {
    let mut line = String::new();
    BufReader::new(File::open(path)?).read_line(&mut line)?;
    Ok(line)
}

impl TraceStorage for FolderTraces {
    fn close(&self) {
        self.deletions.lock().closed = true;
    }

    fn store(&self, trace: &StoredTrace) -> std::io::Result<()> {
        if self.limit == 0 {
            return Ok(());
        }
        // Held to the end, so that a deletion comes before or after.
        let deletions = self.deletions.lock();
        if deletions.forbid(&trace.head) {
            return Ok(());
        }
        match std::fs::create_dir(&self.dir) {
            Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => return Err(e),
            _ => {}
        }
        let mut text = serde_json::to_vec(&trace.head)?;
        text.push(b'\n');
        serde_json::to_writer(&mut text, &trace.body)?;
        text.push(b'\n');
        let id = trace.head.id.clone();
        let mut guard = self.heads.lock();
        let heads = guard.get_or_insert_with(|| self.ids());
        write_new(&self.path(&id), &text)?;
        heads.insert(id, Some(trace.head.clone()));
        while heads.len() > self.limit {
            let Some((oldest, _)) = heads.pop_first() else { break };
            remove_file(&self.path(&oldest))?;
        }
        Ok(())
    }

    fn list(&self, page: &Page<'_>) -> Vec<TraceHead> {
        let mut guard = self.heads.lock();
        let heads = self.refreshed(&mut guard);
        let older =
            heads.iter_mut().rev().filter(|(id, _)| page.after.is_none_or(|at| id.as_str() < at));
        older
            .filter_map(|(id, head)| self.head(id, head))
            .filter(|head| (page.filter)(head))
            .take(page.limit)
            .collect()
    }

    fn get(&self, id: &str) -> Option<StoredTrace> {
        read_trace(&self.path(id)).unwrap_or_else(|e| {
            super::warn_unreadable(id, &e);
            None
        })
    }

    fn remove(&self, id: &str) -> std::io::Result<bool> {
        if let Some(heads) = self.heads.lock().as_mut() {
            heads.remove(id);
        }
        remove_file(&self.path(id))
    }

    fn forget(&self, documents: &[String]) -> std::io::Result<()> {
        self.deletions.lock().add(documents, Utc::now());
        let quotes = |head: &TraceHead| head.documents.iter().any(|name| documents.contains(name));
        let quoting = self.list(&Page { after: None, limit: usize::MAX, filter: &quotes });
        quoting.iter().try_for_each(|head| self.remove(&head.id).map(drop))?;
        self.remove_fragments()
    }
}

/// `None` where there is no such trace.
fn read_trace(path: &Path) -> std::io::Result<Option<StoredTrace>> {
    let text = match std::fs::read_to_string(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        text => text?,
    };
    let (head, body) = text.split_once('\n').ok_or(std::io::ErrorKind::UnexpectedEof)?;
    Ok(Some(StoredTrace { head: serde_json::from_str(head)?, body: serde_json::from_str(body)? }))
}

/// Writes a new file under its own name in one call: a file under another name that is renamed costs
/// twice as much, and one that a killed process has left in part is recognised by its lack of an
/// end. Nothing is left where the disk is full.
fn write_new(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text).inspect_err(|_| drop(remove_file(path)))
}

/// Whether there was a file; another process may have removed it.
fn remove_file(path: &Path) -> std::io::Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}
