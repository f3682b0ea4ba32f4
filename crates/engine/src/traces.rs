//! What is kept of answered questions: one small file each, so that one can be forgotten with the
//! documents that it quotes.
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use halma_core::{Answer, Trace, UsageTotal};
use serde::{Deserialize, Serialize};

/// The folder of traces below a base's own.
const FOLDER: &str = "traces";

/// What a list shows of a question.
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
    /// The key that asked, by id.
    pub key: Option<String>,
    /// Names of the documents that it quotes.
    pub documents: Vec<String>,
}

/// A question with everything that happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeptTrace {
    pub head: TraceHead,
    pub body: TraceBody,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TraceBody {
    pub answer: Option<Answer>,
    pub trace: Trace,
}

/// The traces of one base, newest last; the heads are held in memory once they were read.
#[derive(Debug)]
pub struct Traces {
    dir: PathBuf,
    most: usize,
    heads: Mutex<Option<BTreeMap<String, TraceHead>>>,
}

type Heads<'a> = MutexGuard<'a, Option<BTreeMap<String, TraceHead>>>;

impl Traces {
    /// Those of the base in `dir`, at most `most`. Nothing is read yet.
    pub(crate) fn of(dir: &Path, most: usize) -> Self {
        Self { dir: dir.join(FOLDER), most, heads: Mutex::default() }
    }

    /// A name for the next trace; later ones sort behind earlier ones.
    pub fn next_id() -> Result<String, getrandom::Error> {
        let mut random = [0; 8];
        getrandom::fill(&mut random[3..])?;
        let random = u64::from_be_bytes(random);
        Ok(format!("{:011x}{random:010x}", Utc::now().timestamp_millis()))
    }

    /// Keeps a trace; the oldest are removed when there are too many.
    pub fn keep(&self, kept: &KeptTrace) -> std::io::Result<()> {
        if self.most == 0 {
            return Ok(());
        }
        std::fs::create_dir_all(&self.dir)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.dir)?;
        serde_json::to_writer(&mut file, &kept.head)?;
        file.write_all(b"\n")?;
        serde_json::to_writer(&mut file, &kept.body)?;
        file.write_all(b"\n")?;
        let mut heads = self.heads();
        file.persist(self.path(&kept.head.id)).map_err(|e| e.error)?;
        let known = heads.get_or_insert_with(BTreeMap::new);
        known.insert(kept.head.id.clone(), kept.head.clone());
        while known.len() > self.most {
            let Some((id, _)) = known.pop_first() else { break };
            std::fs::remove_file(self.path(&id))?;
        }
        Ok(())
    }

    /// Heads that `wanted` takes, newest first, behind `after`, at most `limit`.
    pub fn list(
        &self,
        after: Option<&str>,
        limit: usize,
        wanted: impl Fn(&TraceHead) -> bool,
    ) -> Vec<TraceHead> {
        let heads = self.heads();
        let newest = heads.iter().flatten().rev().map(|(_, head)| head);
        // Another process may have forgotten some with their documents.
        let there = |head: &&TraceHead| self.path(&head.id).exists();
        newest
            .filter(|head| after.is_none_or(|after| head.id.as_str() < after) && wanted(head))
            .filter(there)
            .take(limit)
            .cloned()
            .collect()
    }

    /// `None` when there is none of this id.
    pub fn get(&self, id: &str) -> Option<KeptTrace> {
        let text = is_id(id).then(|| std::fs::read_to_string(self.path(id)).ok())??;
        let (head, body) = text.split_once('\n')?;
        Some(KeptTrace {
            head: serde_json::from_str(head).ok()?,
            body: serde_json::from_str(body).ok()?,
        })
    }

    /// Whether there was one to remove.
    pub fn remove(&self, id: &str) -> std::io::Result<bool> {
        if !is_id(id) {
            return Ok(false);
        }
        self.heads().get_or_insert_default().remove(id);
        match std::fs::remove_file(self.path(id)) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Removes what quotes any of these documents.
    pub(crate) fn forget(&self, documents: &[String]) -> std::io::Result<()> {
        let about = |head: &TraceHead| head.documents.iter().any(|name| documents.contains(name));
        let gone: Vec<String> = {
            let heads = self.heads();
            let gone = heads.iter().flatten().filter(|(_, head)| about(head));
            gone.map(|(id, _)| id.clone()).collect()
        };
        gone.iter().try_for_each(|id| self.remove(id).map(drop))
    }

    fn path(&self, id: &str) -> PathBuf {
        self.dir.join(format!("{id}.jsonl"))
    }

    /// The heads, read by the first call. A file that cannot be read is left alone.
    fn heads(&self) -> Heads<'_> {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        if heads.is_none() {
            let files = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
            let read = |path: PathBuf| {
                let mut line = String::new();
                BufReader::new(std::fs::File::open(path).ok()?).read_line(&mut line).ok()?;
                serde_json::from_str::<TraceHead>(&line).ok()
            };
            let found = files.filter_map(|file| read(file.path()));
            *heads = Some(found.map(|head| (head.id.clone(), head)).collect());
        }
        heads
    }
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() < 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(id: &str, document: &str) -> KeptTrace {
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
        KeptTrace { head, body: TraceBody { answer: None, trace: Trace::default() } }
    }

    fn ids(traces: &Traces) -> Vec<String> {
        traces.list(None, 9, |_| true).into_iter().map(|head| head.id).collect()
    }

    #[test]
    fn the_newest_are_kept_and_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let traces = Traces::of(dir.path(), 2);
        for id in ["a1", "a2", "a3"] {
            traces.keep(&kept(id, "x.md")).unwrap();
        }
        assert_eq!(ids(&traces), ["a3", "a2"]);
        let again = Traces::of(dir.path(), 2);
        assert_eq!(ids(&again), ["a3", "a2"]);
        assert_eq!(again.list(Some("a3"), 9, |_| true).len(), 1);
        assert_eq!(again.get("a2").unwrap().head.question, "Who?");
        assert!(again.get("a1").is_none() && again.get("../a2").is_none());
    }

    #[test]
    fn what_quotes_a_document_goes_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let traces = Traces::of(dir.path(), 9);
        traces.keep(&kept("a1", "x.md")).unwrap();
        traces.keep(&kept("a2", "y.md")).unwrap();
        Traces::of(dir.path(), 9).forget(&["x.md".into()]).unwrap();
        assert_eq!(ids(&traces), ["a2"]);
        assert_eq!(std::fs::read_dir(dir.path().join(FOLDER)).unwrap().count(), 1);
    }

    #[test]
    fn ids_sort_by_time_and_are_unlike() {
        let (a, b) = (Traces::next_id().unwrap(), Traces::next_id().unwrap());
        assert!(a != b && is_id(&a) && a[..11] <= b[..11]);
    }
}
