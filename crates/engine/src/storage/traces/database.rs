//! Traces of a base that is shared, in its database: the head and the rest of each are an entry of
//! their own, sealed under one key, which is wiped with the trace.
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use halma_pg::StateEntry;
use parking_lot::{Mutex, MutexGuard};

use super::{LONGEST_QUESTION, Page, StoredTrace, TraceHead, TraceStorage};
use crate::error::EngineError;
use crate::shared::{SealedEntries, SharedSpace};

const HEADS: &str = "trace";
const BODIES: &str = "trace-body";
const KEYS: &str = "traces";

/// The kind of entry that says when a document was deleted.
const DELETIONS: &str = "trace-deletion";

/// By how much the clocks of two machines may differ.
const CLOCKS: TimeDelta = TimeDelta::minutes(1);

pub(super) struct DatabaseTraces {
    space: SharedSpace,
    heads: SealedEntries,
    bodies: SealedEntries,
    limit: usize,
    closed: AtomicBool,
    seen: Mutex<KnownHeads>,
    deletions: Mutex<Deletions>,
}

/// The heads as of a version.
#[derive(Default)]
struct KnownHeads {
    version: u64,
    heads: BTreeMap<String, TraceHead>,
}

/// When documents were deleted, by the hash of their names, as of a version.
#[derive(Default)]
struct Deletions {
    version: u64,
    at: HashMap<String, DateTime<Utc>>,
}

impl fmt::Debug for DatabaseTraces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabaseTraces").field("space", &self.space.name()).finish_non_exhaustive()
    }
}

impl DatabaseTraces {
    pub(super) fn new(space: &SharedSpace, limit: usize) -> Result<Self, EngineError> {
        Ok(Self {
            space: space.clone(),
            heads: SealedEntries::new(space, HEADS, KEYS)?,
            bodies: SealedEntries::new(space, BODIES, KEYS)?,
            limit,
            closed: AtomicBool::new(false),
            seen: Mutex::default(),
            deletions: Mutex::default(),
        })
    }

    /// The heads as they are in the database now.
    fn current(&self) -> io::Result<MutexGuard<'_, KnownHeads>> {
        let mut seen = self.seen.lock();
        let changed = match seen.version {
            // Of a new program the removed ones are no concern.
            0 => self.heads.list()?,
            version => self.heads.changed_since(version)?,
        };
        for entry in changed {
            seen.version = seen.version.max(entry.version);
            let head = entry.bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            match head {
                Some(head) => drop(seen.heads.insert(entry.id, head)),
                None => drop(seen.heads.remove(&entry.id)),
            }
        }
        Ok(seen)
    }

    /// Whether a document that the trace quotes was deleted after the question began.
    fn is_forbidden(&self, head: &TraceHead) -> io::Result<bool> {
        let mut deletions = self.deletions.lock();
        let (states, version) = (self.space.home().states(), deletions.version);
        let changed = async move { states.changed_since(DELETIONS, version).await };
        for entry in self.space.wait(changed).map_err(io::Error::other)? {
            deletions.version = deletions.version.max(entry.version);
            match deleted_at(&entry) {
                Some(at) => drop(deletions.at.insert(entry.id, at)),
                None => drop(deletions.at.remove(&entry.id)),
            }
        }
        let is_deleted = |name: &String| {
            deletions.at.get(&hashed(name)).is_some_and(|at| head.at <= *at + CLOCKS)
        };
        Ok(head.documents.iter().any(is_deleted))
    }

    /// Notes for all machines that documents are deleted now, and drops notes that are old.
    fn note_deletions(&self, documents: &[String]) -> io::Result<()> {
        let now = Utc::now();
        let ids: Vec<String> = documents.iter().map(|name| hashed(name)).collect();
        let states = self.space.home().states();
        let noting = async move {
            let text = now.timestamp_millis().to_string();
            for id in ids {
                loop {
                    let entry = states.get(DELETIONS, &id).await?;
                    let version = entry.map_or(0, |entry| entry.version);
                    if states.put(DELETIONS, &id, version, text.as_bytes()).await?.is_some() {
                        break;
                    }
                }
            }
            for entry in states.list(DELETIONS).await? {
                if deleted_at(&entry).is_none_or(|at| now - at > LONGEST_QUESTION) {
                    states.delete(DELETIONS, &entry.id, entry.version).await?;
                }
            }
            Ok::<_, halma_pg::PgError>(())
        };
        self.space.wait(noting).map_err(io::Error::other)
    }
}

impl TraceStorage for DatabaseTraces {
    fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    fn store(&self, trace: &StoredTrace) -> io::Result<()> {
        let id = &trace.head.id;
        let closed = self.closed.load(Ordering::Acquire);
        if self.limit == 0 || closed || self.is_forbidden(&trace.head)? {
            return Ok(());
        }
        // The head last: what is listed can be read.
        self.bodies.insert(id, &serde_json::to_vec(&trace.body)?)?;
        self.heads.insert(id, &serde_json::to_vec(&trace.head)?)?;
        // A deletion on another machine has either found the trace or is found here.
        if self.is_forbidden(&trace.head)? {
            return self.remove(id).map(drop);
        }
        let ids: Vec<String> = {
            let seen = self.current()?;
            let most = seen.heads.len().saturating_sub(self.limit);
            seen.heads.keys().take(most).cloned().collect()
        };
        ids.iter().try_for_each(|id| self.remove(id).map(drop))
    }

    fn list(&self, page: &Page<'_>) -> Vec<TraceHead> {
        let seen = self.current().unwrap_or_else(|e| {
            tracing::warn!("the list of traces is not up to date: {e}");
            self.seen.lock()
        });
        let older = seen.heads.iter().rev();
        let older = older.filter(|(id, _)| page.after.is_none_or(|at| id.as_str() < at));
        older
            .map(|(_, head)| head)
            .filter(|head| (page.filter)(head))
            .take(page.limit)
            .cloned()
            .collect()
    }

    fn get(&self, id: &str) -> Option<StoredTrace> {
        let read = |entries: &SealedEntries| {
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

    fn remove(&self, id: &str) -> io::Result<bool> {
        self.bodies.remove(id)?;
        let removed = self.heads.remove(id)?;
        self.seen.lock().heads.remove(id);
        Ok(removed)
    }

    fn forget(&self, documents: &[String]) -> io::Result<()> {
        self.note_deletions(documents)?;
        let quotes = |head: &TraceHead| head.documents.iter().any(|name| documents.contains(name));
        let ids: Vec<String> = {
            let seen = self.current()?;
            let quoting = seen.heads.iter().filter(|(_, head)| quotes(head));
            quoting.map(|(id, _)| id.clone()).collect()
        };
        ids.iter().try_for_each(|id| self.remove(id).map(drop))
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
