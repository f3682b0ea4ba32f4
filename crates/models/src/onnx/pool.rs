//! Distributes texts over the processors: texts of similar length together, so that little is
//! padded.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rten::ThreadPool;

/// Tokens in one run of the graph, padding included: enough to keep a processor busy, few enough
/// that the intermediate values (9 MB) stay near its caches.
const RUN_TOKENS: usize = 1024;

/// The threads to compute with.
pub(crate) struct InferencePool {
    /// One thread each, for concurrent runs: with nothing to wait for they are faster than one
    /// run on all threads.
    single: Vec<Arc<ThreadPool>>,
    /// All threads on one run, for when there is only one.
    together: Arc<ThreadPool>,
}

impl InferencePool {
    pub(crate) fn new(threads: usize) -> Self {
        let pool = |threads| Arc::new(ThreadPool::with_num_threads(threads));
        let threads = threads.max(1);
        Self { single: (0..threads).map(|_| pool(1)).collect(), together: pool(threads) }
    }

    /// What `run` makes of each text, in order. `lengths` are the texts' lengths in tokens; `run`
    /// is given which of them to do together, and gives one result for each.
    pub(crate) fn run_batched<T: Send>(
        &self,
        lengths: &[usize],
        run: impl Fn(&[usize], &Arc<ThreadPool>) -> Result<Vec<T>, String> + Sync,
    ) -> Result<Vec<T>, String> {
        let order = longest_first(lengths);
        let runs = runs(&order, lengths);
        self.run_each(&runs, lengths.len(), run)
    }

    /// [`InferencePool::run_batched`] with texts of one length in each run, so that what is made of
    /// a text does not depend on the others: sums over more places are rounded otherwise, even
    /// where these are zero.
    pub(crate) fn run_alike<T: Send>(
        &self,
        lengths: &[usize],
        run: impl Fn(&[usize], &Arc<ThreadPool>) -> Result<Vec<T>, String> + Sync,
    ) -> Result<Vec<T>, String> {
        let order = longest_first(lengths);
        let alike = order.chunk_by(|a, b| lengths[*a] == lengths[*b]);
        let runs: Vec<&[usize]> = alike.flat_map(|alike| runs(alike, lengths)).collect();
        self.run_each(&runs, lengths.len(), run)
    }

    /// [`InferencePool::run_batched`] with each text by itself: `run` is given which one.
    pub(crate) fn run_singly<T: Send>(
        &self,
        lengths: &[usize],
        run: impl Fn(usize, &Arc<ThreadPool>) -> Result<T, String> + Sync,
    ) -> Result<Vec<T>, String> {
        let order = longest_first(lengths);
        let runs: Vec<&[usize]> = order.chunks(1).collect();
        self.run_each(&runs, lengths.len(), |texts, pool| {
            texts.iter().map(|text| run(*text, pool)).collect()
        })
    }

    fn run_each<T: Send>(
        &self,
        runs: &[&[usize]],
        count: usize,
        run: impl Fn(&[usize], &Arc<ThreadPool>) -> Result<Vec<T>, String> + Sync,
    ) -> Result<Vec<T>, String> {
        let by_run = if let [one] = runs {
            vec![(0, run(one, &self.together)?)]
        } else {
            self.run_concurrently(runs, run)?
        };
        let mut placed: Vec<(usize, T)> = Vec::with_capacity(count);
        for (at, results) in by_run {
            placed.extend(runs[at].iter().copied().zip(results));
        }
        if placed.len() != count {
            return Err(format!("{} results for {count} texts", placed.len()));
        }
        placed.sort_by_key(|(index, _)| *index);
        Ok(placed.into_iter().map(|(_, result)| result).collect())
    }

    /// Each thread takes the next run until none is left; the first failure is reported.
    fn run_concurrently<T: Send>(
        &self,
        runs: &[&[usize]],
        run: impl Fn(&[usize], &Arc<ThreadPool>) -> Result<Vec<T>, String> + Sync,
    ) -> Result<Vec<(usize, Vec<T>)>, String> {
        let next = AtomicUsize::new(0);
        let work = |pool: &Arc<ThreadPool>| {
            let mut results = vec![];
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(texts) = runs.get(at) else { return Ok(results) };
                results.push((at, run(texts, pool)?));
            }
        };
        let work = &work;
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                self.single.iter().map(|pool| scope.spawn(move || work(pool))).collect();
            let results: Result<Vec<_>, String> = threads
                .into_iter()
                .map(|thread| thread.join().map_err(|_| "a thread panicked".to_owned())?)
                .collect();
            Ok(results?.into_iter().flatten().collect())
        })
    }
}

/// The longest first, so that the threads finish at about the same time.
fn longest_first(lengths: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(lengths[index]));
    order
}

/// Cuts texts that are ordered by falling length into runs of at most [`RUN_TOKENS`], padding
/// included; a text that is longer makes a run of its own.
fn runs<'a>(order: &'a [usize], lengths: &[usize]) -> Vec<&'a [usize]> {
    let mut runs = vec![];
    let mut rest = order;
    while let Some(&longest) = rest.first() {
        let fit = RUN_TOKENS / lengths[longest].max(1);
        let (run, left) = rest.split_at(fit.clamp(1, rest.len()));
        runs.push(run);
        rest = left;
    }
    runs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Every text is in exactly one run, and no run is larger than allowed.
        #[test]
        fn runs_cover_all_texts_within_the_limit(lengths in prop::collection::vec(0_usize..300, 0..200)) {
            let mut order: Vec<usize> = (0..lengths.len()).collect();
            order.sort_by_key(|&index| std::cmp::Reverse(lengths[index]));
            let runs = runs(&order, &lengths);
            prop_assert_eq!(&runs.concat(), &order);
            for run in runs {
                let padded = run.len() * lengths[run[0]].max(1);
                prop_assert!(!run.is_empty() && padded <= RUN_TOKENS);
            }
        }
    }
}
