//! A base that a command has created and left empty is removed again.
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use halma_engine::{BUILD_LOCK, Engine, EngineError, Place, SERVER_LOCK};

use super::inputs::count_documents;

/// A folder that did not exist before the command. Everything in it was made since.
pub(super) struct NewBase(PathBuf);

impl NewBase {
    /// `None` where the folder exists already, whatever is in it, and for an address. To be asked
    /// before the base is created.
    pub(super) fn before(kb: &Path) -> Result<Option<Self>, EngineError> {
        let place = Place::new(kb)?;
        // Also where it cannot be looked at, or is a link.
        let is_absent = std::fs::symlink_metadata(place.folder())
            .is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
        let is_new = place.address().is_none() && is_absent;
        Ok(is_new.then(|| Self(place.folder().to_owned())))
    }

    /// Removes the folder, unless the base holds documents or another process works on it.
    pub(super) fn remove_if_empty(self, engine: Engine) -> anyhow::Result<()> {
        // Held until the folder is gone, so that no other build begins in it.
        let Some(_locks) = self.locks() else { return Ok(()) };
        if count_documents(&engine)? > 0 {
            return Ok(());
        }
        drop(engine);
        Ok(std::fs::remove_dir_all(&self.0)?)
    }

    fn locks(&self) -> Option<[File; 2]> {
        let lock = |name| {
            let path = self.0.join(name);
            let opened = File::options().create(true).truncate(false).write(true).open(path);
            opened.ok().filter(|file| file.try_lock().is_ok())
        };
        Some([lock(SERVER_LOCK)?, lock(BUILD_LOCK)?])
    }
}
