//! The files of vectors of a store, each opened when it is first needed.
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halma_core::Layer;

use super::Row;
use super::vector_file::{Precision, VectorFile};

/// Which vectors a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct VectorKey {
    pub(super) embedder: u8,
    pub(super) layer: Layer,
    pub(super) dimensions: usize,
}

pub(super) struct VectorFiles {
    dir: PathBuf,
    writable: bool,
    open: Mutex<HashMap<VectorKey, Arc<VectorFile>>>,
}

fn at<T>(path: &Path, done: io::Result<T>) -> heed::Result<T> {
    done.map_err(|source| {
        heed::Error::Io(io::Error::new(source.kind(), format!("`{}`: {source}", path.display())))
    })
}

impl VectorFiles {
    /// Of the store in `dir`.
    pub(super) fn new(dir: &Path, writable: bool) -> Self {
        Self { dir: dir.join("vectors"), writable, open: Mutex::default() }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<VectorKey, Arc<VectorFile>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, key: VectorKey) -> PathBuf {
        let VectorKey { embedder, layer, dimensions } = key;
        self.dir.join(format!("{embedder}-{dimensions}-{}", layer.name()))
    }

    /// `None` where there is no such file, or none that can be used.
    pub(super) fn open(&self, key: VectorKey) -> heed::Result<Option<Arc<VectorFile>>> {
        let mut held = self.held();
        if let Some(open) = held.get(&key) {
            return Ok(Some(Arc::clone(open)));
        }
        let path = self.path(key);
        let opened = at(&path, VectorFile::open(&path, key.dimensions, self.writable))?;
        let opened = opened.map(Arc::new);
        held.extend(opened.clone().map(|file| (key, file)));
        Ok(opened)
    }

    /// The file, which is made where there is none.
    pub(super) fn create(
        &self,
        key: VectorKey,
        precision: Precision,
    ) -> heed::Result<Arc<VectorFile>> {
        if let Some(open) = self.open(key)? {
            return Ok(open);
        }
        let path = self.path(key);
        at(&self.dir, std::fs::create_dir_all(&self.dir))?;
        // Others may still have a damaged one mapped, which must not be made shorter.
        if path.exists() {
            at(&path, std::fs::remove_file(&path))?;
        }
        let made = Arc::new(at(&path, VectorFile::create(&path, key.dimensions, precision))?);
        self.held().insert(key, Arc::clone(&made));
        Ok(made)
    }

    pub(super) fn put(&self, file: &VectorFile, row: Row, vector: &[f32]) -> heed::Result<()> {
        at(file.path(), file.put(row, vector))
    }

    /// Brings everything that was written to the disk.
    pub(super) fn sync(&self) -> heed::Result<()> {
        let open: Vec<Arc<VectorFile>> = self.held().values().cloned().collect();
        open.iter().try_for_each(|file| at(file.path(), file.sync()))
    }

    /// Overwrites what is in the slots of these rows, in every file of the layer.
    pub(super) fn erase(&self, embedder: u8, layer: Layer, rows: &[Row]) -> heed::Result<()> {
        for key in
            self.listed()?.into_iter().filter(|key| (key.embedder, key.layer) == (embedder, layer))
        {
            let Some(file) = self.open(key)? else { continue };
            at(file.path(), file.erase(rows).and_then(|()| file.sync()))?;
        }
        Ok(())
    }

    /// Removes the files of an embedder, apart from those of these dimensions.
    pub(super) fn remove(&self, embedder: u8, keep: Option<usize>) -> heed::Result<()> {
        for key in self.listed()? {
            if key.embedder == embedder && Some(key.dimensions) != keep {
                self.held().remove(&key);
                let path = self.path(key);
                at(&path, std::fs::remove_file(&path))?;
            }
        }
        Ok(())
    }

    /// The files that are there, by name.
    fn listed(&self) -> heed::Result<Vec<VectorKey>> {
        let entries = match std::fs::read_dir(&self.dir) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            entries => at(&self.dir, entries)?,
        };
        let mut keys = vec![];
        for entry in entries {
            let name = at(&self.dir, entry)?.file_name();
            keys.extend(name.to_str().and_then(parse));
        }
        Ok(keys)
    }
}

/// What [`VectorFiles::path`] made.
fn parse(name: &str) -> Option<VectorKey> {
    let mut parts = name.splitn(3, '-');
    let embedder = parts.next()?.parse().ok()?;
    let dimensions = parts.next()?.parse().ok()?;
    let layer = parts.next()?;
    let layer = Layer::ALL.into_iter().find(|known| known.name() == layer)?;
    Some(VectorKey { embedder, layer, dimensions })
}
