//! Where a base is: in a folder, or in a database with a replica on this machine.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use halma_store::pg::Address;
use halma_store::seal::wipe_folder;

use super::SharedSpace;
use crate::error::EngineError;
use crate::storage::state::BaseState;

/// The folder of the replicas, unless this variable names one.
const REPLICAS: &str = "HALMA_REPLICAS";

/// The folder of the keys of other workspaces, below that of the first.
const SIBLINGS: &str = "workspaces";

/// Where a base is.
#[derive(Debug, Clone)]
pub struct Place {
    folder: PathBuf,
    address: Option<Arc<Address>>,
}

impl Place {
    /// From what `--kb` says: a folder, or `postgres://user@host/db?workspace=NAME&keys=DIR`.
    pub fn new(kb: &Path) -> Result<Self, EngineError> {
        // One that is misspelt must not become a folder, with its password in messages.
        let text = kb.to_str().filter(|text| Address::is_address(text));
        let Some(text) = text else { return Ok(Self { folder: kb.to_owned(), address: None }) };
        let address = Address::parse(text)?;
        let folder = replicas()?.join(address.identity());
        Ok(Self { folder, address: Some(Arc::new(address)) })
    }

    /// The same base with its replica in this folder: for tests, in which one program is several
    /// machines.
    #[must_use]
    pub fn with_replica(self, folder: &Path) -> Self {
        Self { folder: folder.to_owned(), ..self }
    }

    /// Where the base keeps its state; the base itself is not opened.
    pub fn state(&self) -> Result<BaseState, EngineError> {
        let folder = || BaseState::of_folder(&self.folder);
        let address = self.address.as_deref();
        address.map_or_else(|| Ok(folder()), |at| Ok(BaseState::Shared(SharedSpace::connect(at)?)))
    }

    /// Another base in the place of one whose folder would be `dir`.
    pub(crate) fn sibling(&self, dir: &Path) -> Self {
        let Some(address) = &self.address else {
            return Self { folder: dir.to_owned(), address: None };
        };
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        let mut sibling = address.with_workspace(&format!("{}/{name}", address.workspace()));
        // Each base numbers its keys by itself.
        if let Some(keys) = address.keys() {
            sibling = sibling.with_keys(keys.join(SIBLINGS).join(&*name));
        }
        Self { folder: dir.to_owned(), address: Some(Arc::new(sibling)) }
    }

    /// Removes everything of a workspace from its database, and its folder of keys. First the keys,
    /// without which the rest cannot be read.
    pub(crate) fn erase(&self) -> Result<(), EngineError> {
        let Some(address) = &self.address else { return Ok(()) };
        let space = SharedSpace::connect(address)?;
        wipe_folder(super::keys_of(address)?).map_err(EngineError::Keys)?;
        let home = space.home().clone();
        Ok(space.wait(async move { home.erase(home.workspace()).await })?)
    }

    /// The folder of the base or of its replica on this machine.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The address, for a base that is shared.
    pub fn address(&self) -> Option<&Address> {
        self.address.as_deref()
    }
}

/// [`Place::folder`] of what `--kb` says.
pub fn base_folder(kb: &Path) -> Result<PathBuf, EngineError> {
    Ok(Place::new(kb)?.folder)
}

/// The folder of the replicas on this machine.
fn replicas() -> Result<PathBuf, EngineError> {
    if let Some(folder) = std::env::var_os(REPLICAS).filter(|folder| !folder.is_empty()) {
        return Ok(folder.into());
    }
    let named = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty());
    let default = || Some(PathBuf::from(named("HOME")?).join(".cache"));
    let cache = named("XDG_CACHE_HOME").map(PathBuf::from).or_else(default);
    let cache = cache.ok_or(EngineError::NoReplicaFolder { variable: REPLICAS })?;
    Ok(cache.join("halma/replicas"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_address_is_not_a_folder_and_its_password_is_not_shown() {
        for (kb, scheme) in [("postgre://user:secret@h/db", "postgre"), ("http://h/db", "http")] {
            let refused = Place::new(Path::new(kb)).unwrap_err();
            assert!(refused.is_wrong_use());
            let refused = refused.to_string();
            assert!(refused.contains(&format!("begins with `{scheme}://`")), "{refused}");
            assert!(!refused.contains("secret"), "{refused}");
        }
        assert!(Place::new(Path::new("a folder/b:c")).unwrap().address().is_none());
    }
}
