//! A file that is being received, written in blocks off the runtime's threads.
use std::io::Write as _;
use std::path::PathBuf;

use tempfile::NamedTempFile;

use super::place::disk_problem;
use crate::limits::blocking::Lane;
use crate::problem::Problem;

/// Bytes that are written at a time.
const BLOCK: usize = 64 * 1024;

/// A temporary file. One that is not finished is removed.
pub(super) struct BlockWriter {
    lane: Lane,
    /// `None` while a block is being written.
    file: Option<NamedTempFile>,
    block: Vec<u8>,
}

impl BlockWriter {
    /// Makes the file in `folder`. What it does on the disk waits for its turn in `lane`.
    pub(super) async fn create(folder: PathBuf, lane: Lane) -> Result<Self, Problem> {
        let make = move || NamedTempFile::new_in(folder).map_err(|e| disk_problem(&e));
        let file = lane.run(make).await?;
        Ok(Self { lane, file: Some(file), block: vec![] })
    }

    pub(super) async fn write(&mut self, piece: &[u8]) -> Result<(), Problem> {
        self.block.extend_from_slice(piece);
        if self.block.len() < BLOCK { Ok(()) } else { self.write_block().await }
    }

    /// Writes what is left. What is written may not be on the disk yet.
    pub(super) async fn finish(mut self) -> Result<NamedTempFile, Problem> {
        self.write_block().await?;
        self.file.take().ok_or_else(|| Problem::internal(&"the file of an upload is gone"))
    }

    async fn write_block(&mut self) -> Result<(), Problem> {
        let Some(mut file) = self.file.take() else { return Ok(()) };
        let mut block = std::mem::take(&mut self.block);
        let write = move || {
            file.write_all(&block).map_err(|e| disk_problem(&e))?;
            block.clear();
            Ok((file, block))
        };
        let (file, block) = self.lane.run(write).await?;
        (self.file, self.block) = (Some(file), block);
        Ok(())
    }
}

/// Removing a file may wait for the disk.
impl Drop for BlockWriter {
    fn drop(&mut self) {
        let Some(file) = self.file.take() else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            drop(runtime.spawn_blocking(move || drop(file)));
        }
    }
}
