//! Doing several things at once, a bounded number of them, without losing one to a panic.
use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use tokio::task::JoinSet;

use crate::error::EvalError;

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
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn no_more_run_at_once_than_allowed_and_all_are_done() {
        let running = Arc::new(AtomicUsize::new(0));
        let most = Arc::new(AtomicUsize::new(0));
        let jobs = (0..20).map(|i| {
            let (running, most) = (Arc::clone(&running), Arc::clone(&most));
            async move {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
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
        assert_eq!(most.load(Ordering::SeqCst), 3);
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
