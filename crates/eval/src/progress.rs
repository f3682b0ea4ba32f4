//! How far an evaluation is.
use std::sync::Arc;

/// Receives the progress of the work.
pub type Progress = Arc<dyn Fn(&Tick) + Send + Sync>;

/// How far one system (or the retrieval before them, labelled `retrieval`) is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tick {
    pub label: String,
    pub done: usize,
    pub total: usize,
    /// Of those done, taken over from an earlier run.
    pub taken_over: usize,
    pub failed: usize,
}

impl Tick {
    pub(crate) fn new(label: &str, total: usize, taken_over: usize) -> Self {
        Self { label: label.to_owned(), done: taken_over, total, taken_over, failed: 0 }
    }

    pub(crate) fn count(&mut self, failed: bool) {
        self.done += 1;
        self.failed += usize::from(failed);
    }
}
