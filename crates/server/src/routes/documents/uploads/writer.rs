//! A file that is being received, written in blocks off the runtime's threads.
use std::io::Write as _;
use std::path::PathBuf;

use tempfile::NamedTempFile;

use crate::limits::blocking::JobQueue;
use crate::problem::Problem;

/// Bytes that are written at a time.
const BLOCK: usize = 64 * 1024;

/// A temporary file that is removed unless it is finished.
pub(super) struct BlockWriter {
    queue: JobQueue,
    file: Unfinished,
    block: Vec<u8>,
}

/// `None` while a block is being written.
struct Unfinished(Option<NamedTempFile>);

impl BlockWriter {
    /// Makes the file in `folder`. What it does on the disk waits in `queue`.
    pub(super) async fn create(folder: PathBuf, queue: JobQueue) -> Result<Self, Problem> {
        let make = move || match NamedTempFile::new_in(folder) {
            Ok(file) => Ok(Unfinished(Some(file))),
            Err(e) => Err(Problem::io(&e)),
        };
        let file = queue.run(make).await?;
        Ok(Self { queue, file, block: vec![] })
    }

    pub(super) async fn write(&mut self, piece: &[u8]) -> Result<(), Problem> {
        self.block.extend_from_slice(piece);
        if self.block.len() < BLOCK { Ok(()) } else { self.write_block().await }
    }

    /// Writes what is left. What is written may not be on the disk yet.
    pub(super) async fn finish(mut self) -> Result<NamedTempFile, Problem> {
        self.write_block().await?;
        self.file.0.take().ok_or_else(|| Problem::internal(&"the file of an upload is gone"))
    }

    async fn write_block(&mut self) -> Result<(), Problem> {
        let mut file = Unfinished(self.file.0.take());
        let mut block = std::mem::take(&mut self.block);
        let write = move || {
            if let Some(file) = &mut file.0 {
                file.write_all(&block).map_err(|e| Problem::io(&e))?;
            }
            block.clear();
            Ok((file, block))
        };
        (self.file, self.block) = self.queue.run(write).await?;
        Ok(())
    }
}

/// Removing a file may wait for the disk, also where a client leaves while its block waits.
impl Drop for Unfinished {
    fn drop(&mut self) {
        let Some(file) = self.0.take() else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            drop(runtime.spawn_blocking(move || drop(file)));
        }
    }
}
