//! Traces of answered questions: each can be deleted together with the documents that it quotes.
mod stored;
#[cfg(test)]
mod tests;
mod writing;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use halma_core::{Answer, Trace, UsageTotal};
use serde::{Deserialize, Serialize};

use self::stored::StoredTraces;
use self::writing::WritingTraces;
use crate::config::serve::ServeConfig;
use crate::error::EngineError;
use crate::storage::state::{BaseState, Entries};

/// No question takes longer; older deletions are forgotten.
const LONGEST_QUESTION: TimeDelta = TimeDelta::days(2);

/// The kind of entry that says that a conversation is shared.
const SHARED: &str = "shared-conversation";

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
    /// The id of the API key that asked; `None` without keys and on the command line.
    pub key: Option<String>,
    /// The conversation of the question, as its client calls it.
    #[serde(default)]
    pub conversation: Option<String>,
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

/// Which traces are retained.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Retention {
    /// The newest ones, at most this many.
    pub(crate) count: usize,
    /// None that are older; `None` for no limit.
    pub(crate) age: Option<TimeDelta>,
}

impl Retention {
    pub(crate) fn of(config: &ServeConfig) -> Self {
        let days = config.keep_trace_days;
        let age = (days > 0).then(|| TimeDelta::days(days.into()));
        Self { count: config.keep_traces, age }
    }

    /// All ids before this one are too old.
    fn first_id(self) -> Option<String> {
        let first = Utc::now().checked_sub_signed(self.age?)?;
        Some(format!("{:011x}", first.timestamp_millis().max(0)))
    }
}

/// The traces of one knowledge base, oldest first.
pub struct TraceStore {
    dir: PathBuf,
    /// Whether any trace is retained.
    retains: bool,
    writing: WritingTraces,
    shared: Entries,
    stored: StoredTraces,
}

/// Which heads are listed.
struct Page<'a> {
    after: Option<&'a str>,
    limit: usize,
    filter: &'a dyn Fn(&TraceHead) -> bool,
}

impl TraceStore {
    /// The traces of the base in `base_dir`, or with its replica there. Reads nothing yet.
    pub(crate) fn new(
        base_dir: &Path,
        state: &BaseState,
        retention: Retention,
    ) -> Result<Self, EngineError> {
        let stored = StoredTraces::new(state, retention)?;
        let (dir, writing) = (base_dir.to_owned(), WritingTraces::default());
        let shared = state.entries(SHARED);
        Ok(Self { dir, retains: retention.count > 0, writing, shared, stored })
    }

    /// Stores nothing from now on, because the base is removed.
    pub fn close(&self) {
        self.writing.close();
        self.stored.close();
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

    /// Lets a trace be found before [`TraceStore::store`] has written it.
    pub(crate) fn begin(&self, trace: &Arc<StoredTrace>) {
        if self.retains {
            self.writing.begin(trace);
        }
    }

    /// Writes a trace that was begun, and removes those beyond the limits. A trace that was
    /// deleted since, or quotes a document which was deleted after the question began, is not written.
    pub(crate) fn store(&self, trace: &StoredTrace) -> std::io::Result<()> {
        let id = &trace.head.id;
        if !self.writing.holds(id) {
            return Ok(());
        }
        let stored = self.stored.store(trace);
        if !self.writing.remove(id) {
            // It was deleted while it was written.
            self.stored.remove(id)?;
        }
        stored
    }

    /// Heads that satisfy `filter`, newest first, starting after the id `after`, at most `limit`.
    pub fn list(
        &self,
        after: Option<&str>,
        limit: usize,
        filter: impl Fn(&TraceHead) -> bool,
    ) -> Vec<TraceHead> {
        let page = Page { after, limit, filter: &filter };
        let mut heads = self.writing.heads(&page);
        if heads.is_empty() {
            return self.stored.list(&page);
        }
        heads.extend(self.stored.list(&page));
        heads.sort_by(|a, b| b.id.cmp(&a.id));
        heads.dedup_by(|a, b| a.id == b.id);
        heads.truncate(limit);
        heads
    }

    /// `None` when there is no trace of this id.
    pub fn get(&self, id: &str) -> Option<StoredTrace> {
        if !is_id(id) {
            return None;
        }
        self.writing.get(id).or_else(|| self.stored.get(id))
    }

    /// Whether there was a trace to remove.
    pub fn remove(&self, id: &str) -> std::io::Result<bool> {
        if !is_id(id) {
            return Ok(false);
        }
        let was_being_written = self.writing.remove(id);
        Ok(self.stored.remove(id)? || was_being_written)
    }

    /// Whether any trace is retained.
    pub fn retains(&self) -> bool {
        self.retains
    }

    /// Lets everybody of the workspace read a conversation of a key, or no longer.
    pub fn share(&self, key: Option<&str>, conversation: &str, on: bool) -> std::io::Result<()> {
        let id = shared_id(key, conversation);
        if on { self.shared.insert(&id, b"") } else { self.shared.remove(&id).map(drop) }
    }

    /// Whether a conversation of a key can be read by everybody of the workspace.
    pub fn is_shared(&self, key: Option<&str>, conversation: &str) -> bool {
        let entry = self.shared.get(&shared_id(key, conversation));
        entry.is_ok_and(|entry| entry.is_some_and(|entry| entry.bytes.is_some()))
    }

    /// Removes the traces that quote any of these documents.
    pub(crate) fn forget(&self, documents: &[String]) -> std::io::Result<()> {
        self.writing.forget(documents);
        self.stored.forget(documents)
    }
}

fn shared_id(key: Option<&str>, conversation: &str) -> String {
    format!("{}.{conversation}", key.unwrap_or_default())
}

fn warn_unreadable(id: &str, reason: &dyn fmt::Display) {
    tracing::warn!("the trace `{id}` cannot be read: {reason}");
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() < 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
