//! Traces of answered questions: one small file each, so that a trace can be deleted together with
//! the documents that it quotes.
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use halma_core::{Answer, Trace, UsageTotal};
use serde::{Deserialize, Serialize};

/// The folder of traces in the folder of a base.
const FOLDER: &str = "traces";
const EXTENSION: &str = ".jsonl";

/// What a list shows of a question: the first line of its file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TraceHead {
    pub id: String,
    pub question: String,
    pub strategy: String,
    #[cfg_attr(feature = "schema", schema(value_type = String, format = DateTime))]
    pub at: DateTime<Utc>,
    /// The answer's text; empty for an abstention.
    pub answer: Option<String>,
    pub abstained: bool,
    /// Why there is no answer.
    pub error: Option<String>,
    pub usage: UsageTotal,
    pub hops: usize,
    pub elapsed_ms: f64,
    /// The id of the API key that asked; `None` without keys and on the command line.
    pub key: Option<String>,
    /// Names of the documents that the trace quotes.
    pub documents: Vec<String>,
}

/// A question with everything that happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StoredTrace {
    pub head: TraceHead,
    pub body: TraceBody,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TraceBody {
    pub answer: Option<Answer>,
    pub trace: Trace,
}

/// The traces of one knowledge base, oldest first. Several processes may use one folder: a file
/// appears whole or not at all. What other processes added or removed is noticed by the next
/// listing, so that together they may exceed the limit until then.
#[derive(Debug)]
pub struct TraceStore {
    dir: PathBuf,
    limit: usize,
    heads: Mutex<Option<Heads>>,
    deletions: Mutex<Deletions>,
}

/// What must not be stored any more.
#[derive(Debug, Default)]
struct Deletions {
    /// Documents with the time of their last deletion: a question that began before may quote them.
    documents: HashMap<String, DateTime<Utc>>,
    /// The base itself is removed.
    closed: bool,
}

/// No question takes longer; older deletions are forgotten.
const LONGEST_QUESTION: TimeDelta = TimeDelta::days(2);

/// Heads by id; `None` until one is read.
type Heads = BTreeMap<String, Option<TraceHead>>;

impl Deletions {
    fn add(&mut self, documents: &[String], at: DateTime<Utc>) {
        self.documents.retain(|_, before| at - *before < LONGEST_QUESTION);
        self.documents.extend(documents.iter().map(|name| (name.clone(), at)));
    }

    fn forbid(&self, head: &TraceHead) -> bool {
        let deleted = |name: &String| self.documents.get(name).is_some_and(|at| head.at <= *at);
        self.closed || head.documents.iter().any(deleted)
    }
}

impl TraceStore {
    /// The traces of the base in `base_dir`; more than `limit` are not retained. Reads nothing yet.
    pub(crate) fn new(base_dir: &Path, limit: usize) -> Self {
        Self {
            dir: base_dir.join(FOLDER),
            limit,
            heads: Mutex::default(),
            deletions: Mutex::default(),
        }
    }

    /// Stores nothing from now on, because the base is removed.
    pub fn close(&self) {
        self.deletions().closed = true;
    }

    fn deletions(&self) -> MutexGuard<'_, Deletions> {
        self.deletions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// An id for the next trace; ids sort by time.
    pub fn next_id() -> std::io::Result<String> {
        let mut random = [0; 8];
        getrandom::fill(&mut random[3..]).map_err(|e| std::io::Error::other(e.to_string()))?;
        let random = u64::from_be_bytes(random);
        Ok(format!("{:011x}{random:010x}", Utc::now().timestamp_millis()))
    }

    /// Writes a trace and removes the oldest ones beyond the limit. A trace that quotes a document
    /// which was deleted after the question began is not written.
    pub(crate) fn store(&self, trace: StoredTrace) -> std::io::Result<()> {
        if self.limit == 0 {
            return Ok(());
        }
        // Held to the end, so that a deletion comes before or after.
        let deletions = self.deletions();
        if deletions.forbid(&trace.head) {
            return Ok(());
        }
        match std::fs::create_dir(&self.dir) {
            Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => return Err(e),
            _ => {}
        }
        // A serializer writes every token by itself.
        let mut file = BufWriter::new(tempfile::NamedTempFile::new_in(&self.dir)?);
        serde_json::to_writer(&mut file, &trace.head)?;
        file.write_all(b"\n")?;
        serde_json::to_writer(&mut file, &trace.body)?;
        file.write_all(b"\n")?;
        let file = file.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        let id = trace.head.id.clone();
        let mut guard = self.lock();
        let heads = guard.get_or_insert_with(|| self.ids());
        file.persist(self.path(&id)).map_err(|e| e.error)?;
        heads.insert(id, Some(trace.head));
        while heads.len() > self.limit {
            let Some((oldest, _)) = heads.pop_first() else { break };
            remove_file(&self.path(&oldest))?;
        }
        Ok(())
    }

    /// Heads that satisfy `filter`, newest first, starting after the id `after`, at most `limit`.
    pub fn list(
        &self,
        after: Option<&str>,
        limit: usize,
        filter: impl Fn(&TraceHead) -> bool,
    ) -> Vec<TraceHead> {
        let mut guard = self.lock();
        let heads = self.refreshed(&mut guard);
        let older =
            heads.iter_mut().rev().filter(|(id, _)| after.is_none_or(|at| id.as_str() < at));
        older
            .filter_map(|(id, head)| self.head(id, head))
            .filter(|h| filter(h))
            .take(limit)
            .collect()
    }

    /// `None` when there is no trace of this id.
    pub fn get(&self, id: &str) -> Option<StoredTrace> {
        let text = is_id(id).then(|| std::fs::read_to_string(self.path(id)).ok())??;
        let (head, body) = text.split_once('\n')?;
        Some(StoredTrace {
            head: serde_json::from_str(head).ok()?,
            body: serde_json::from_str(body).ok()?,
        })
    }

    /// Whether there was a trace to remove.
    pub fn remove(&self, id: &str) -> std::io::Result<bool> {
        if !is_id(id) {
            return Ok(false);
        }
        if let Some(heads) = self.lock().as_mut() {
            heads.remove(id);
        }
        remove_file(&self.path(id))
    }

    /// Removes the traces that quote any of these documents.
    pub(crate) fn forget(&self, documents: &[String]) -> std::io::Result<()> {
        self.deletions().add(documents, Utc::now());
        let quotes = |head: &TraceHead| head.documents.iter().any(|name| documents.contains(name));
        let quoting = self.list(None, usize::MAX, quotes);
        quoting.iter().try_for_each(|head| self.remove(&head.id).map(drop))
    }

    fn path(&self, id: &str) -> PathBuf {
        self.dir.join(format!("{id}{EXTENSION}"))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Heads>> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// A head, read from its file the first time. A file that cannot be read is left alone.
    fn head(&self, id: &str, head: &mut Option<TraceHead>) -> Option<TraceHead> {
        if head.is_none() {
            let mut line = String::new();
            let file = std::fs::File::open(self.path(id)).ok()?;
            BufReader::new(file).read_line(&mut line).ok()?;
            *head = serde_json::from_str(&line).ok();
        }
        head.clone()
    }
}

/// Whether there was a file; another process may have removed it.
fn remove_file(path: &Path) -> std::io::Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() < 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(id: &str, document: &str) -> StoredTrace {
        let head = TraceHead {
            id: id.into(),
            question: "Who?".into(),
            strategy: "naive".into(),
            at: DateTime::UNIX_EPOCH,
            answer: Some("Ann".into()),
            abstained: false,
            error: None,
            usage: UsageTotal::default(),
            hops: 1,
            elapsed_ms: 1.0,
            key: None,
            documents: vec![document.into()],
        };
        StoredTrace { head, body: TraceBody { answer: None, trace: Trace::default() } }
    }

    fn ids(traces: &TraceStore) -> Vec<String> {
        traces.list(None, 9, |_| true).into_iter().map(|head| head.id).collect()
    }

    #[test]
    fn the_newest_are_retained_and_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let traces = TraceStore::new(dir.path(), 2);
        for id in ["a1", "a2", "a3"] {
            traces.store(trace(id, "x.md")).unwrap();
        }
        assert_eq!(ids(&traces), ["a3", "a2"]);
        let reopened = TraceStore::new(dir.path(), 2);
        assert_eq!(ids(&reopened), ["a3", "a2"]);
        assert_eq!(reopened.list(Some("a3"), 9, |_| true).len(), 1);
        assert_eq!(reopened.get("a2").unwrap().head.question, "Who?");
        assert!(reopened.get("a1").is_none() && reopened.get("../a2").is_none());
    }

    #[test]
    fn two_processes_see_and_limit_the_traces_of_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let (server, command) = (TraceStore::new(dir.path(), 2), TraceStore::new(dir.path(), 2));
        server.store(trace("a1", "x.md")).unwrap();
        assert_eq!(ids(&server), ["a1"]);
        command.store(trace("a2", "x.md")).unwrap();
        assert_eq!(ids(&server), ["a2", "a1"]);
        command.store(trace("a3", "y.md")).unwrap();
        // The oldest file is gone already, which is not an error.
        server.store(trace("a4", "y.md")).unwrap();
        assert_eq!(ids(&server), ["a4", "a3", "a2"]);
        server.store(trace("a5", "y.md")).unwrap();
        assert_eq!(ids(&server), ["a5", "a4"]);
        assert_eq!(ids(&command), ["a5", "a4"]);
        server.forget(&["y.md".into()]).unwrap();
        assert!(ids(&command).is_empty() && !command.remove("a4").unwrap());
        // What is being written is not listed.
        std::fs::write(dir.path().join(FOLDER).join(".tmp1"), "{").unwrap();
        assert!(ids(&command).is_empty());
    }

    #[test]
    fn a_trace_that_quotes_a_document_is_deleted_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let traces = TraceStore::new(dir.path(), 9);
        traces.store(trace("a1", "x.md")).unwrap();
        traces.store(trace("a2", "y.md")).unwrap();
        TraceStore::new(dir.path(), 9).forget(&["x.md".into()]).unwrap();
        assert_eq!(ids(&traces), ["a2"]);
        assert_eq!(std::fs::read_dir(dir.path().join(FOLDER)).unwrap().count(), 1);
    }

    #[test]
    fn ids_sort_by_time_and_differ() {
        let (a, b) = (TraceStore::next_id().unwrap(), TraceStore::next_id().unwrap());
        assert!(a != b && is_id(&a) && a[..11] <= b[..11]);
    }

    #[test]
    fn a_question_that_began_before_a_deletion_leaves_no_trace_of_the_document() {
        let dir = tempfile::tempdir().unwrap();
        let traces = TraceStore::new(dir.path(), 9);
        let (before, other) = (trace("a1", "x.md"), trace("a2", "y.md"));
        traces.forget(&["x.md".into()]).unwrap();
        let mut after = trace("a3", "x.md");
        after.head.at = Utc::now() + TimeDelta::seconds(1);
        for trace in [before, other, after] {
            traces.store(trace).unwrap();
        }
        assert_eq!(ids(&traces), ["a3", "a2"], "the document may have come back since");
    }

    #[test]
    fn a_removed_base_does_not_come_back_and_its_name_is_free() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().join("base");
        std::fs::create_dir(&base).unwrap();
        let traces = TraceStore::new(&base, 9);
        std::fs::remove_dir(&base).unwrap();
        assert!(traces.store(trace("a1", "x.md")).is_err() && !base.exists());
        traces.close();
        std::fs::create_dir(&base).unwrap();
        traces.store(trace("a2", "x.md")).unwrap();
        assert_eq!(std::fs::read_dir(&base).unwrap().count(), 0);
    }
}
