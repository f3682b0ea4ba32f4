//! A file that was received: what it is, and its move to the originals.
use std::fs::File;
use std::path::Path;

use halma_core::Metadata;
use halma_engine::Engine;
use tempfile::NamedTempFile;

use crate::builds::RefusedFile;
use crate::problem::Problem;

const TAKEN: &str = "there is another file of this name";
pub(super) const TAKEN_HINT: &str =
    "give it another name, or send it to `/api/v1/documents?replace=true`";

/// A file that was received as a whole.
pub(super) struct ReceivedFile {
    pub(super) file: NamedTempFile,
    pub(super) name: String,
    /// The fields that it gets; `None` leaves those that the file of its name has.
    pub(super) metadata: Option<Metadata>,
}

impl ReceivedFile {
    /// Why it is refused: it is nothing that can be read, or, unless it is to replace that, there is
    /// another file of its name. No file is loaded into memory, except one whose kind only the whole file
    /// tells.
    pub(super) fn check(
        &self,
        engine: &Engine,
        replace: bool,
    ) -> Result<Result<(), RefusedFile>, Problem> {
        let Self { file, name, .. } = self;
        if let Err(refused) = engine.base().recognise_file(name, file.path())? {
            return Ok(Err(RefusedFile::new(name, refused.reason, &refused.hint)));
        }
        self.check_name(engine, replace)
    }

    /// Refuses a name that a file with other contents has, unless that is to be replaced.
    pub(super) fn check_name(
        &self,
        engine: &Engine,
        replace: bool,
    ) -> Result<Result<(), RefusedFile>, Problem> {
        let Self { file, name, .. } = self;
        let former = engine.originals().find(name).filter(|_| !replace);
        if let Some(former) = former
            && !are_same(&former, file.path()).map_err(|e| Problem::io(&e))?
        {
            let refused = RefusedFile::new(name, TAKEN, TAKEN_HINT);
            return Ok(Err(RefusedFile { replaceable: true, ..refused }));
        }
        Ok(Ok(()))
    }

    /// Returns once it is on the disk.
    pub(super) fn sync(&self) -> Result<(), Problem> {
        self.file.as_file().sync_all().map_err(|e| Problem::io(&e))
    }

    /// Moves it to the originals, unless its name is taken by what it cannot replace.
    pub(super) fn move_to_originals(
        self,
        engine: &Engine,
    ) -> Result<Result<(), RefusedFile>, Problem> {
        let Self { file, name, metadata } = self;
        let originals = engine.originals().dir();
        let target = originals.join(&name);
        let taken = || {
            let reason = "this name is taken by a document that this key does not see";
            Ok(Err(RefusedFile::new(&name, reason, "give the file another name")))
        };
        if target.is_dir() {
            return Ok(Err(RefusedFile::new(&name, "a folder has this name", "rename the file")));
        }
        if engine.hides(&name)? {
            return taken();
        }
        let folder = target.parent().unwrap_or(originals);
        if std::fs::create_dir_all(folder).is_err() {
            return Ok(Err(RefusedFile::new(
                &name,
                "a file has the name of its folder",
                "rename it",
            )));
        }
        let persist = |target: &Path| {
            file.persist(target).map_err(|e| e.error)?;
            // So that a power failure does not take the name away that was answered with 200.
            std::fs::File::open(folder)?.sync_all()
        };
        let put = engine.originals().put(&name, metadata.as_ref(), persist);
        if put.map_err(|e| Problem::io(&e))? { Ok(Ok(())) } else { taken() }
    }
}

/// Whether two files hold the same bytes.
fn are_same(one: &Path, other: &Path) -> std::io::Result<bool> {
    let hash = |path: &Path| -> std::io::Result<_> {
        Ok(blake3::Hasher::new().update_reader(File::open(path)?)?.finalize())
    };
    Ok(one.metadata()?.len() == other.metadata()?.len() && hash(one)? == hash(other)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_the_same_by_every_byte() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let mut bytes = vec![7; 300_000];
        std::fs::write(path("a"), &bytes).unwrap();
        std::fs::write(path("same"), &bytes).unwrap();
        std::fs::write(path("shorter"), &bytes[1..]).unwrap();
        *bytes.last_mut().unwrap() = 8;
        std::fs::write(path("other"), &bytes).unwrap();
        let same = |other: &str| are_same(&path("a"), &path(other)).unwrap();
        assert!(same("same") && !same("shorter") && !same("other"));
        assert!(are_same(&path("a"), &path("nothing")).is_err());
    }
}
