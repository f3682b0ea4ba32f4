//! The files of vectors of a store, each opened when it is first needed.
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use halma_core::Layer;
use parking_lot::Mutex;

use super::file::VectorFile;
use super::positioned::FileIdentity;
use super::slot::Precision;
use crate::store::Row;

/// Which vectors a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::store) struct VectorKey {
    pub(in crate::store) embedder: u8,
    pub(in crate::store) layer: Layer,
    pub(in crate::store) dimensions: usize,
}

/// A file that vectors are written into, with which it is.
pub(in crate::store) type OpenVectorFile = (VectorKey, Arc<VectorFile>);

pub(in crate::store) struct VectorFiles {
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
    pub(in crate::store) fn new(dir: &Path, writable: bool) -> Self {
        Self { dir: dir.join("vectors"), writable, open: Mutex::default() }
    }

    fn path(&self, key: VectorKey) -> PathBuf {
        let VectorKey { embedder, layer, dimensions } = key;
        self.dir.join(format!("{embedder}-{dimensions}-{}", layer.name()))
    }

    /// `None` where there is no such file, or none that can be used.
    pub(in crate::store) fn open(&self, key: VectorKey) -> heed::Result<Option<Arc<VectorFile>>> {
        let path = self.path(key);
        let there = at(&path, FileIdentity::at(&path))?;
        let mut open_files = self.open.lock();
        // Another process may have made it again. One that it removed lists nothing any more.
        let same = |open: &&Arc<VectorFile>| there.is_none_or(|there| there == open.identity());
        if let Some(open) = open_files.get(&key).filter(same) {
            return Ok(Some(Arc::clone(open)));
        }
        let opened = at(&path, VectorFile::open(&path, key.dimensions, self.writable))?;
        let opened = opened.map(Arc::new);
        open_files.extend(opened.clone().map(|file| (key, file)));
        Ok(opened)
    }

    /// The file, which is made where there is none.
    pub(in crate::store) fn create(
        &self,
        key: VectorKey,
        precision: Precision,
    ) -> heed::Result<Arc<VectorFile>> {
        let path = self.path(key);
        if let Some(open) = self.open(key)?
            && at(&path, FileIdentity::at(&path))?.is_some()
        {
            return Ok(open);
        }
        at(&self.dir, std::fs::create_dir_all(&self.dir))?;
        // Others may still have a damaged one mapped, which must not be made shorter.
        if path.exists() {
            at(&path, std::fs::remove_file(&path))?;
        }
        let made = Arc::new(at(&path, VectorFile::create(&path, key.dimensions, precision))?);
        self.open.lock().insert(key, Arc::clone(&made));
        Ok(made)
    }

    pub(in crate::store) fn put(file: &VectorFile, row: Row, vector: &[f32]) -> heed::Result<()> {
        at(file.path(), file.put(row, vector))
    }

    /// `false` for a slot of another size.
    pub(in crate::store) fn put_stored(
        file: &VectorFile,
        row: Row,
        slot: &[u8],
    ) -> heed::Result<bool> {
        at(file.path(), file.put_stored(row, slot))
    }

    /// Brings everything that was written to the disk, by any process.
    pub(in crate::store) fn sync(&self) -> heed::Result<()> {
        let keys = self.listed()?;
        for key in &keys {
            let Some(file) = self.open(*key)? else { continue };
            at(file.path(), file.sync())?;
        }
        if keys.is_empty() {
            return Ok(());
        }
        at(&self.dir, File::open(&self.dir).and_then(|dir| dir.sync_all()))
    }

    /// Overwrites what is in the slots of these rows, in every file of the layer.
    pub(in crate::store) fn erase(
        &self,
        embedder: u8,
        layer: Layer,
        rows: &[Row],
    ) -> heed::Result<()> {
        for key in
            self.listed()?.into_iter().filter(|key| (key.embedder, key.layer) == (embedder, layer))
        {
            let Some(file) = self.open(key)? else { continue };
            at(file.path(), file.erase(rows).and_then(|()| file.sync()))?;
        }
        Ok(())
    }

    /// Removes the files of an embedder, apart from those of these dimensions.
    pub(in crate::store) fn remove(&self, embedder: u8, keep: Option<usize>) -> heed::Result<()> {
        for key in self.listed()? {
            if key.embedder == embedder && Some(key.dimensions) != keep {
                self.open.lock().remove(&key);
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
    let layer = Layer::ALL.into_iter().find(|other| other.name() == layer)?;
    Some(VectorKey { embedder, layer, dimensions })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_another_process_made_again_are_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (VectorFiles::new(dir.path(), true), VectorFiles::new(dir.path(), true));
        let key = VectorKey { embedder: 0, layer: Layer::Chunk, dimensions: 2 };
        let put = |row: Row| {
            let file = one.create(key, Precision::Float32).unwrap();
            VectorFiles::put(&file, row, &[0.6, 0.8]).unwrap();
        };
        let has_vector = |row: Row| {
            let file = other.open(key).unwrap();
            file.is_some_and(|file| file.get(row).unwrap().is_some())
        };
        put(1);
        assert!(has_vector(1) && !has_vector(2));
        other.remove(0, None).unwrap();
        put(2);
        assert!(!has_vector(1) && has_vector(2));
        // A rest of another format is no file of vectors, and is replaced.
        std::fs::write(one.path(key), "rest").unwrap();
        assert!(!has_vector(2));
        put(3);
        assert!(has_vector(3) && !has_vector(2));
    }
}
