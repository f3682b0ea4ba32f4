//! Traces of questions that are answered and not stored yet: they are found, listed and deleted like
//! those that are.
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;

use super::{LONGEST_QUESTION, Page, StoredTrace, TraceHead};

#[derive(Debug, Default)]
pub(super) struct WritingTraces(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// What must not be found: a deletion may come between the question and its end.
    deletions: Deletions,
    traces: BTreeMap<String, Arc<StoredTrace>>,
}

/// What must not be found any more.
#[derive(Debug, Default)]
struct Deletions {
    /// Documents with the time of their last deletion: a question that began before may quote them.
    documents: HashMap<String, DateTime<Utc>>,
    /// The base itself is removed.
    closed: bool,
}

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

impl WritingTraces {
    pub(super) fn begin(&self, trace: &Arc<StoredTrace>) {
        let mut state = self.0.lock();
        if !state.deletions.forbid(&trace.head) {
            state.traces.insert(trace.head.id.clone(), Arc::clone(trace));
        }
    }

    /// Whether the trace was not deleted since it began.
    pub(super) fn holds(&self, id: &str) -> bool {
        self.0.lock().traces.contains_key(id)
    }

    pub(super) fn get(&self, id: &str) -> Option<StoredTrace> {
        let trace = self.0.lock().traces.get(id).map(Arc::clone);
        trace.map(|trace| StoredTrace::clone(&trace))
    }

    /// Takes a trace out; whether it was there.
    pub(super) fn remove(&self, id: &str) -> bool {
        self.0.lock().traces.remove(id).is_some()
    }

    /// Takes out what quotes these documents.
    pub(super) fn forget(&self, documents: &[String]) {
        let mut state = self.0.lock();
        state.deletions.add(documents, Utc::now());
        let quotes = |head: &TraceHead| head.documents.iter().any(|name| documents.contains(name));
        state.traces.retain(|_, trace| !quotes(&trace.head));
    }

    pub(super) fn close(&self) {
        let mut state = self.0.lock();
        state.deletions.closed = true;
        state.traces.clear();
    }

    /// The heads of a page, in no order.
    pub(super) fn heads(&self, page: &Page<'_>) -> Vec<TraceHead> {
        let state = self.0.lock();
        let older =
            state.traces.iter().filter(|(id, _)| page.after.is_none_or(|at| id.as_str() < at));
        let heads = older.map(|(_, trace)| &trace.head);
        heads.filter(|head| (page.filter)(head)).cloned().collect()
    }
}
