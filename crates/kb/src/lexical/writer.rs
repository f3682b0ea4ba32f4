//! The one writer of an index.
use std::time::{Duration, Instant};

use tantivy::directory::error::LockError;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::{Index, IndexWriter, TantivyError};

/// Bytes that a thread of a writer collects before it writes a segment.
pub(super) const WRITER_HEAP: usize = 50_000_000;

/// How long a process may take to start, and how often it is looked whether it has.
const STARTING: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(5);

/// A writer of so many threads that merges segments only on request. The caller has the right to write, so a lock that
/// is still held is that of the writer before: a process that is being started shares the locks of
/// this one until its program runs.
pub(super) fn open_writer(index: &Index, threads: usize) -> Result<IndexWriter, TantivyError> {
    let until = Instant::now() + STARTING;
    loop {
        match index.writer_with_num_threads(threads, threads * WRITER_HEAP) {
            Err(TantivyError::LockFailure(LockError::LockBusy, _)) if Instant::now() < until => {
                std::thread::sleep(LOOK);
            }
            opened => {
                let writer: IndexWriter = opened?;
                writer.set_merge_policy(Box::new(NoMergePolicy));
                return Ok(writer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tantivy::schema::Schema;

    use super::*;

    #[test]
    fn a_lock_that_is_let_go_in_a_moment_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::create_in_dir(dir.path(), Schema::builder().build()).unwrap();
        let former = open_writer(&index, 1).unwrap();
        let ending = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            drop(former);
        });
        assert!(open_writer(&index, 1).is_ok());
        ending.join().unwrap();
    }
}
