//! Spreads texts over the processors: texts of like length together, so that little is padded.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use halma_core::Vector;
use rten::ThreadPool;

use super::encoder::Encoder;

/// Tokens in one run of the graph, padding included: enough to keep a processor busy, few enough
/// that the intermediate values (9 MB) stay near its caches.
const RUN_TOKENS: usize = 1024;

/// The threads to compute with.
pub(super) struct Crew {
    /// One thread each, for runs side by side: with nothing to wait for they are faster than one
    /// run on all threads.
    alone: Vec<Arc<ThreadPool>>,
    /// All threads on one run, for when there is only one.
    together: Arc<ThreadPool>,
}

impl Crew {
    pub(super) fn new(threads: usize) -> Self {
        let pool = |threads| Arc::new(ThreadPool::with_num_threads(threads));
        let threads = threads.max(1);
        Self { alone: (0..threads).map(|_| pool(1)).collect(), together: pool(threads) }
    }

    /// One vector for each text of token ids, in order.
    pub(super) fn embed(&self, encoder: &Encoder, ids: &[Vec<u32>]) -> Result<Vec<Vector>, String> {
        let mut order: Vec<usize> = (0..ids.len()).collect();
        // The longest first, so that the threads finish at about the same time.
        order.sort_by_key(|&index| std::cmp::Reverse(ids[index].len()));
        let runs = runs(&order, ids);
        let embed = |run: &[usize], pool: &Arc<ThreadPool>| {
            let texts: Vec<&[u32]> = run.iter().map(|&index| ids[index].as_slice()).collect();
            encoder.run(&texts, pool)
        };
        let found = if let [run] = runs.as_slice() {
            vec![(0, embed(run, &self.together)?)]
        } else {
            self.side_by_side(&runs, embed)?
        };
        let mut vectors = vec![Vector::new(); ids.len()];
        for (run, found) in found {
            for (&index, vector) in runs[run].iter().zip(found) {
                vectors[index] = vector;
            }
        }
        Ok(vectors)
    }

    /// Each thread takes the next run until none is left; the first failure is reported.
    fn side_by_side(
        &self,
        runs: &[&[usize]],
        embed: impl Fn(&[usize], &Arc<ThreadPool>) -> Result<Vec<Vector>, String> + Sync,
    ) -> Result<Vec<(usize, Vec<Vector>)>, String> {
        let next = AtomicUsize::new(0);
        let work = |pool: &Arc<ThreadPool>| {
            let mut found = vec![];
            loop {
                let run = next.fetch_add(1, Ordering::Relaxed);
                let Some(texts) = runs.get(run) else { return Ok(found) };
                found.push((run, embed(texts, pool)?));
            }
        };
        let work = &work;
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                self.alone.iter().map(|pool| scope.spawn(move || work(pool))).collect();
            let found: Result<Vec<_>, String> = threads
                .into_iter()
                .map(|thread| thread.join().map_err(|_| "a thread panicked".to_owned())?)
                .collect();
            Ok(found?.into_iter().flatten().collect())
        })
    }
}

/// Cuts texts that are ordered by falling length into runs of at most [`RUN_TOKENS`], padding
/// included; a text that is longer makes a run of its own.
fn runs<'a>(order: &'a [usize], ids: &[Vec<u32>]) -> Vec<&'a [usize]> {
    let mut runs = vec![];
    let mut rest = order;
    while let Some(&longest) = rest.first() {
        let fit = RUN_TOKENS / ids[longest].len().max(1);
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
            let ids: Vec<Vec<u32>> = lengths.iter().map(|&length| vec![7; length]).collect();
            let mut order: Vec<usize> = (0..ids.len()).collect();
            order.sort_by_key(|&index| std::cmp::Reverse(lengths[index]));
            let runs = runs(&order, &ids);
            prop_assert_eq!(&runs.concat(), &order);
            for run in runs {
                let padded = run.len() * lengths[run[0]].max(1);
                prop_assert!(!run.is_empty() && padded <= RUN_TOKENS);
            }
        }
    }
}
