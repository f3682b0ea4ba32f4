//! The replies that a base stores so that no call is paid for twice: what they take, and their removal.
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use halma_kb::{BUILD_LOCK, Base, FileLock, KbError, SERVER_LOCK};
use halma_models::{Cache, CacheFigures};
use halma_net::daily::DailyFigures;
use serde::Serialize;

use crate::assemble;
use crate::error::EngineError;
use crate::shared::Place;

/// The folder of the workspaces of a server, in that of its base.
const WORKSPACES: &str = "workspaces";

/// What the cache of a base has and takes on the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CacheUse {
    /// Replies of models.
    pub replies: u64,
    /// How many bytes these replies take; the rest of the files is free for new ones.
    pub bytes_in_use: u64,
    /// All files of replies.
    pub bytes_on_disk: u64,
    /// Stored replies of web searches.
    pub web: DailyFigures,
    /// Stored replies of a knowledge graph.
    pub kg: DailyFigures,
}

impl CacheUse {
    /// Of the base that `--kb` names: a folder, or an address with a replica on this machine.
    pub fn read(kb: &Path) -> Result<Self, EngineError> {
        let dir = folder(kb)?.join("cache");
        let replies = CacheFigures::read(&dir).map_err(|e| EngineError::Cache(Box::new(e)))?;
        Ok(Self {
            replies: replies.replies,
            bytes_in_use: replies.bytes_in_use,
            bytes_on_disk: replies.bytes_on_disk,
            web: DailyFigures::read(&assemble::web_folder(&dir))?,
            kg: DailyFigures::read(&assemble::kg_folder(&dir))?,
        })
    }
}

/// Destroys the stored replies of models with their files; returns what there was. Refused while a
/// server or a build uses the base.
pub fn clear_cache(kb: &Path) -> Result<CacheUse, EngineError> {
    let dir = folder(kb)?;
    let _locks = [lock(&dir, SERVER_LOCK)?, lock_above(&dir)?, lock(&dir, BUILD_LOCK)?];
    let former = CacheUse::read(kb)?;
    Cache::destroy(&dir.join("cache")).map_err(|e| EngineError::Cache(Box::new(e)))?;
    Ok(former)
}

/// The folder of a base; that of a replica may not be there yet.
fn folder(kb: &Path) -> Result<PathBuf, EngineError> {
    let place = Place::new(kb)?;
    let dir = place.folder().to_owned();
    if place.address().is_none() && !Base::exists(&dir) {
        return Err(KbError::NoBase { dir }.into());
    }
    Ok(dir)
}

/// The lock of the server of a workspace, which is in the folder of its base.
fn lock_above(dir: &Path) -> Result<Option<FileLock>, EngineError> {
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let workspaces = dir.parent().filter(|parent| parent.ends_with(WORKSPACES));
    let base = workspaces.and_then(Path::parent);
    base.map_or(Ok(None), |base| lock(base, SERVER_LOCK))
}

/// Takes a lock that no one may hold; `None` where it was never made.
fn lock(dir: &Path, name: &str) -> Result<Option<FileLock>, EngineError> {
    let path = dir.join(name);
    let file = match File::options().write(true).open(&path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.map_err(|e| EngineError::file(&path, e))?,
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(FileLock(file))),
        Err(TryLockError::WouldBlock) => {
            let program = if name == SERVER_LOCK { "server" } else { "build" };
            Err(EngineError::CacheInUse { lock: path, program })
        }
        Err(TryLockError::Error(e)) => Err(EngineError::file(&path, e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_or_a_build_uses_is_not_cleared() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().join("workspaces/team");
        for base in [dir.path(), &workspace] {
            std::fs::create_dir_all(base).unwrap();
            drop(Base::create_or_open(base, halma_kb::BaseOptions::default()).unwrap());
        }
        for (name, program) in [(SERVER_LOCK, "server"), (BUILD_LOCK, "build")] {
            let file = File::create(dir.path().join(name)).unwrap();
            file.lock().unwrap();
            let _held = FileLock(file);
            let refused = clear_cache(dir.path()).unwrap_err().to_string();
            assert!(refused.contains(program) && refused.contains(name), "{refused}");
            // The server of the base has its workspaces open; a build is of one base.
            assert_eq!(clear_cache(&workspace).is_err(), name == SERVER_LOCK);
        }
        clear_cache(dir.path()).unwrap();
        assert!(matches!(
            clear_cache(&dir.path().join("none")),
            Err(EngineError::Kb(KbError::NoBase { .. }))
        ));
    }
}
