//! The files that were uploaded to a base, stored in its folder so that they can be opened again.
mod fields;
mod names;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use halma_core::{Metadata, MetadataFilter};
use halma_kb::{is_metadata_file, metadata_file, read_metadata_file};
use parking_lot::Mutex;

use self::fields::{
    prepare_metadata, remove_orphan, remove_orphans, set_aside_metadata, write_metadata,
};
pub use self::names::safe_name;

/// The folder of originals in the folder of a base.
const FOLDER: &str = "files";

/// The originals of one base.
#[derive(Debug, Clone)]
pub struct Originals {
    dir: PathBuf,
    /// Only files whose fields meet these are there.
    filter: MetadataFilter,
    /// Held while a file and its fields are put in place or removed; counts removals.
    lock: Arc<Mutex<u64>>,
}

/// A file among the originals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Original {
    /// The name its document has.
    pub name: String,
    pub bytes: u64,
    pub modified: Option<SystemTime>,
}

impl Originals {
    /// The originals of the base in `base_dir`; [`Originals::create`] creates the folder.
    pub fn new(base_dir: &Path) -> Self {
        Self { dir: base_dir.join(FOLDER), filter: MetadataFilter::default(), lock: Arc::default() }
    }

    /// The same files for those who see only the ones whose fields meet the conditions.
    pub(crate) fn restricted(&self, filter: MetadataFilter) -> Self {
        Self { dir: self.dir.clone(), filter, lock: Arc::clone(&self.lock) }
    }

    /// The fields of a file, as stored next to it; none where they cannot be read.
    pub fn metadata(&self, name: &str) -> Option<Metadata> {
        read_metadata_file(&self.find(name)?).ok().map(Option::unwrap_or_default)
    }

    /// Stores the fields of a file next to it. Whether there is such a file.
    pub fn set_metadata(&self, name: &str, metadata: &Metadata) -> std::io::Result<bool> {
        let _guard = self.lock.lock();
        let Some(path) = self.find(name) else { return Ok(false) };
        write_metadata(&path, metadata).map(|()| true)
    }

    /// Puts a file into its place, in which there may be another one, and its fields next to it;
    /// `None` leaves the fields that the other one has. At no time has the new file the fields of the
    /// old one, or the reverse; when the file cannot be placed, the old one has its fields as before.
    /// `Ok(false)`: there is a file of this name that is not to be seen here.
    pub fn put(
        &self,
        name: &str,
        metadata: Option<&Metadata>,
        place: impl FnOnce(&Path) -> std::io::Result<()>,
    ) -> std::io::Result<bool> {
        let _guard = self.lock.lock();
        if self.hides(name) {
            return Ok(false);
        }
        let target = self.dir.join(name);
        if !target.exists() {
            // Before the file, so that a crash leaves no file without its fields. Fields that a file
            // left here which is gone are not those of this one.
            write_metadata(&target, metadata.unwrap_or(&Metadata::default()))?;
            return place(&target).map(|()| true).inspect_err(|_| drop(remove_orphan(&target)));
        }
        // A file that has these fields keeps them all the time.
        let current = read_metadata_file(&target).ok().flatten();
        let Some(metadata) = metadata.filter(|fields| current.as_ref() != Some(*fields)) else {
            return place(&target).map(|()| true);
        };
        // On the disk before anything is changed: a disk that is full leaves all as it was.
        let new = prepare_metadata(&target, metadata)?;
        let former = set_aside_metadata(&target)?;
        let before = stamp(&target);
        let placed = place(&target);
        // A file may stand there although its folder could not be brought to the disk.
        let is_placed = placed.is_ok() || stamp(&target) != before;
        let fields = if is_placed { new } else { former };
        if let Some(fields) = fields {
            fields.persist(metadata_file(&target)).map_err(|e| e.error)?;
        }
        placed.map(|()| true)
    }

    /// Removes fields whose file is not there, as a crash leaves them that came before the file.
    /// Returns how many there were. Nothing may be put here meanwhile, by any program.
    pub fn remove_orphaned_fields(&self) -> std::io::Result<usize> {
        remove_orphans(&self.dir)
    }

    /// Whether there is a file of this name that is not to be seen here.
    pub fn hides(&self, name: &str) -> bool {
        let Ok(name) = safe_name(name) else { return false };
        self.dir.join(&name).exists() && self.find(&name).is_none()
    }

    fn admits(&self, path: &Path) -> bool {
        self.filter.is_empty()
            || read_metadata_file(path)
                .is_ok_and(|metadata| self.filter.admits(&metadata.unwrap_or_default()))
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Creates the folder.
    pub fn create(&self) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.dir)
    }

    /// The path of the file of this name, if there is one. A name never leads out of the folder.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let path = self.dir.join(safe_name(name).ok()?);
        let real = path.canonicalize().ok()?;
        let inside = real.starts_with(self.dir.canonicalize().ok()?);
        let fields = is_metadata_file(&real.to_string_lossy());
        (inside && !fields && real.is_file() && self.admits(&real)).then_some(real)
    }

    /// The file of this name with its size.
    pub fn get(&self, name: &str) -> Option<Original> {
        let about = self.find(name)?.metadata().ok()?;
        Some(Original { name: name.into(), bytes: about.len(), modified: about.modified().ok() })
    }

    /// All files, sorted by name.
    pub fn list(&self) -> Vec<Original> {
        let mut files = vec![];
        list(&self.dir, "", &mut files);
        files.retain(|file| self.filter.is_empty() || self.admits(&self.dir.join(&file.name)));
        files.sort_by(|a, b| a.name.cmp(&b.name));
        files
    }

    /// The sizes of all files, in bytes, also of those that are not to be seen here.
    pub fn sizes(&self) -> Vec<u64> {
        let mut files = vec![];
        list(&self.dir, "", &mut files);
        files.into_iter().map(|file| file.bytes).collect()
    }

    /// How often files were removed by [`Originals::remove`] of this value, its copies and views. Waits
    /// for a removal that is under way.
    pub fn removals(&self) -> u64 {
        *self.lock.lock()
    }

    /// Removes files, and the folders that they leave empty.
    pub fn remove(&self, names: &[String]) -> std::io::Result<()> {
        let mut removals = self.lock.lock();
        *removals += 1;
        for path in names.iter().filter_map(|name| self.find(name)) {
            std::fs::remove_file(&path)?;
            match std::fs::remove_file(metadata_file(&path)) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
            let mut folder = path.parent();
            // A folder that is not empty stays, which is what ends this.
            while let Some(empty) = folder.filter(|f| f.starts_with(&self.dir) && **f != self.dir) {
                if std::fs::remove_dir(empty).is_err() {
                    break;
                }
                folder = empty.parent();
            }
        }
        Ok(())
    }
}

fn list(dir: &Path, below: &str, files: &mut Vec<Original>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let Ok(part) = entry.file_name().into_string() else { continue };
        let Ok(about) = entry.metadata() else { continue };
        let name = if below.is_empty() { part.clone() } else { format!("{below}/{part}") };
        if part.starts_with('.') {
            continue;
        }
        if about.is_dir() {
            list(&entry.path(), &name, files);
        } else if about.is_file() && !is_metadata_file(&name) {
            files.push(Original { name, bytes: about.len(), modified: about.modified().ok() });
        }
    }
}

/// What differs between a file and the one that takes its place.
fn stamp(path: &Path) -> Option<(u64, Option<SystemTime>)> {
    let about = path.metadata().ok()?;
    Some((about.len(), about.modified().ok()))
}
