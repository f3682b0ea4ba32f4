//! Traces among the state of a base: the head and the rest of each are an entry of their own.
use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use halma_store::StateEntry;
use parking_lot::Mutex;

use super::{LONGEST_QUESTION, Page, Retention, StoredTrace, TraceHead};
use crate::error::EngineError;
use crate::storage::state::{BaseState, Entries};

const HEADS: &str = "trace";
const BODIES: &str = "trace-body";
const KEYS: &str = "traces";

/// The kind of entry that says when a document was deleted.
const DELETIONS: &str = "trace-deletion";

/// By how much the clocks of two machines may differ.
const CLOCKS: TimeDelta = TimeDelta::minutes(1);

/// Heads that are read at a time.
const STEP: u32 = 100;

pub(super) struct StoredTraces {
    heads: Entries,
    bodies: Entries,
    deletions: Entries,
    retention: Retention,
    closed: AtomicBool,
    cache: Mutex<Deletions>,
}

/// When documents were deleted, by the hash of their names, as of a version.
#[derive(Default)]
struct Deletions {
    version: u64,
    at: HashMap<String, DateTime<Utc>>,
}

impl StoredTraces {
    pub(super) fn new(state: &BaseState, retention: Retention) -> Result<Self, EngineError> {
        Ok(Self {
            heads: state.entries_with_words(HEADS, KEYS)?,
            bodies: state.entries_with_words(BODIES, KEYS)?,
            deletions: state.entries(DELETIONS),
            retention,
            closed: AtomicBool::new(false),
            cache: Mutex::default(),
        })
    }

    /// Stores nothing from now on.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    pub(super) fn store(&self, trace: &StoredTrace) -> io::Result<()> {
        let id = &trace.head.id;
        let closed = self.closed.load(Ordering::Acquire);
        if self.retention.count == 0 || closed || self.is_forbidden(&trace.head)? {
            return Ok(());
        }
        // The head last: what is listed can be read.
        self.bodies.insert(id, &serde_json::to_vec(&trace.body)?)?;
        self.heads.insert(id, &serde_json::to_vec(&trace.head)?)?;
        // A deletion by another program has either found the trace or is found here.
        if self.is_forbidden(&trace.head)? {
            return self.remove(id).map(drop);
        }
        let count = u32::try_from(self.retention.count).unwrap_or(u32::MAX);
        let more = self.heads.ids_before_last(count)?;
        more.iter().try_for_each(|id| self.take_out(id).map(drop))?;
        self.remove_old()
    }

    fn remove_old(&self) -> io::Result<()> {
        let Some(first) = self.retention.first_id() else { return Ok(()) };
        loop {
            let old = self.heads.last(Some(&first), STEP)?;
            if old.is_empty() {
                return Ok(());
            }
            for entry in old {
                self.remove(&entry.id)?;
            }
        }
    }

    pub(super) fn list(&self, page: &Page<'_>) -> Vec<TraceHead> {
        let mut heads = vec![];
        let listed = self.remove_old().and_then(|()| {
            self.each_head(page.after, |head| {
                if (page.filter)(&head) {
                    heads.push(head);
                }
                heads.len() < page.limit
            })
        });
        if let Err(e) = listed {
            tracing::warn!("the list of traces is not complete: {e}");
        }
        heads
    }

    /// Calls `each` with the heads, newest first, from after the id `after` on, while it returns
    /// true. One that cannot be read is left out, and reported where the trace is looked up.
    fn each_head(
        &self,
        after: Option<&str>,
        mut each: impl FnMut(TraceHead) -> bool,
    ) -> io::Result<()> {
        let mut after = after.map(str::to_owned);
        loop {
            let entries = self.heads.last(after.as_deref(), STEP)?;
            let Some(last) = entries.last() else { return Ok(()) };
            after = Some(last.id.clone());
            for entry in entries {
                let head = entry.bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
                if head.is_some_and(|head| !each(head)) {
                    return Ok(());
                }
            }
        }
    }

    pub(super) fn get(&self, id: &str) -> Option<StoredTrace> {
        if self.retention.first_id().is_some_and(|first| *id < *first) {
            return None;
        }
        let read = |entries: &Entries| {
            let entry = entries.get(id).unwrap_or_else(|e| {
                super::warn_unreadable(id, &e);
                None
            });
            entry?.bytes
        };
        let (head, body) = (read(&self.heads)?, read(&self.bodies)?);
        let trace = serde_json::from_slice(&head)
            .and_then(|head| Ok(StoredTrace { head, body: serde_json::from_slice(&body)? }));
        trace.inspect_err(|e| super::warn_unreadable(id, e)).ok()
    }

    pub(super) fn remove(&self, id: &str) -> io::Result<bool> {
        let removed = self.take_out(id)?;
        self.heads.erase_removed()?;
        Ok(removed)
    }

    fn take_out(&self, id: &str) -> io::Result<bool> {
        self.bodies.remove(id)?;
        self.heads.remove(id)
    }

    /// Removes what quotes these documents.
    pub(super) fn forget(&self, documents: &[String]) -> io::Result<()> {
        self.note_deletions(documents)?;
        let mut quoting = vec![];
        self.each_head(None, |head| {
            if head.documents.iter().any(|name| documents.contains(name)) {
                quoting.push(head.id);
            }
            true
        })?;
        quoting.iter().try_for_each(|id| self.take_out(id).map(drop))?;
        self.heads.erase_removed()
    }

    /// Whether a document that the trace quotes was deleted after the question began.
    fn is_forbidden(&self, head: &TraceHead) -> io::Result<bool> {
        let mut cache = self.cache.lock();
        for entry in self.deletions.changed_since(cache.version)? {
            cache.version = cache.version.max(entry.version);
            match deleted_at(&entry) {
                Some(at) => drop(cache.at.insert(entry.id, at)),
                None => drop(cache.at.remove(&entry.id)),
            }
        }
        let slack = if self.deletions.are_local() { TimeDelta::zero() } else { CLOCKS };
        let is_deleted =
            |name: &String| cache.at.get(&hashed(name)).is_some_and(|at| head.at <= *at + slack);
        Ok(head.documents.iter().any(is_deleted))
    }

    /// Notes for all programs that documents are deleted now, and drops notes that are old.
    fn note_deletions(&self, documents: &[String]) -> io::Result<()> {
        let now = Utc::now();
        let text = now.timestamp_millis().to_string();
        for id in documents.iter().map(|name| hashed(name)) {
            loop {
                let version = self.deletions.get(&id)?.map_or(0, |entry| entry.version);
                if self.deletions.put(&id, version, text.as_bytes())?.is_some() {
                    break;
                }
            }
        }
        for entry in self.deletions.list()? {
            if deleted_at(&entry).is_none_or(|at| now - at > LONGEST_QUESTION) {
                self.deletions.delete(&entry.id, entry.version)?;
            }
        }
        Ok(())
    }
}

/// The names of documents are words of their owners.
fn hashed(name: &str) -> String {
    let hash = blake3::derive_key("halma traces 2026-11 deleted document", name.as_bytes());
    blake3::Hash::from_bytes(hash).to_hex().to_string()
}

fn deleted_at(entry: &StateEntry) -> Option<DateTime<Utc>> {
    let text = std::str::from_utf8(entry.bytes.as_ref()?).ok()?;
    DateTime::from_timestamp_millis(text.parse().ok()?)
}
