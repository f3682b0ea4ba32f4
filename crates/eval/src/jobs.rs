//! Doing several things at once, a bounded number of them, without losing one to a panic; and how far
//! they are.
use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use tokio::task::JoinSet;

use crate::error::EvalError;

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

/// Runs the jobs, at most `at_once` at a time, begun in order; `done` receives each result as it
/// comes. The first error of `done` ends the rest.
pub(crate) async fn each<T, F>(
    at_once: usize,
    jobs: impl Iterator<Item = F>,
    mut done: impl FnMut(T) -> Result<(), EvalError>,
) -> Result<(), EvalError>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut running = JoinSet::new();
    let mut jobs = jobs.peekable();
    while jobs.peek().is_some() || !running.is_empty() {
        let free = at_once.max(1) - running.len();
        for job in jobs.by_ref().take(free) {
            running.spawn(job);
        }
        match running.join_next().await {
            Some(Ok(result)) => done(result)?,
            Some(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Some(Err(_)) => return Err(EvalError::Stopped),
            None => {}
        }
    }
    Ok(())
}

/// The future's result, or its message when it panicked.
pub(crate) async fn caught<T>(future: impl Future<Output = T>) -> Result<T, String> {
    AssertUnwindSafe(future).catch_unwind().await.map_err(|panic| panic_message(panic.as_ref()))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message").to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn no_more_run_at_once_than_allowed_and_all_are_done() {
        let running = Arc::new(AtomicUsize::new(0));
        let peak = Arc::new(AtomicUsize::new(0));
        let jobs = (0..20).map(|i| {
            let (running, peak) = (Arc::clone(&running), Arc::clone(&peak));
            async move {
                peak.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                running.fetch_sub(1, Ordering::SeqCst);
                i
            }
        });
        let mut seen = vec![];
        each(3, jobs, |i| {
            seen.push(i);
            Ok(())
        })
        .await
        .unwrap();
        seen.sort_unstable();
        assert_eq!(seen, (0..20).collect::<Vec<i32>>());
        assert_eq!(peak.load(Ordering::SeqCst), 3);
    }

    #[tokio::test]
    async fn an_error_ends_the_rest() {
        let mut seen = 0;
        let ended = each(1, (0..9).map(std::future::ready), |_| {
            seen += 1;
            Err(EvalError::Stopped)
        });
        assert!(ended.await.is_err());
        assert_eq!(seen, 1);
    }

    #[tokio::test]
    async fn a_panic_is_told() {
        assert_eq!(caught(async { panic!("no {}", 7) }).await, Err::<(), _>("no 7".to_owned()));
    }
}
