//! The file of keys, which the server and `halma keys` share.
use std::path::{Path, PathBuf};

use chrono::Utc;
use serde::{Deserialize, Serialize};

use super::key::{Credentials, fresh};
use super::{Key, NewKey};
use crate::workspace::is_name;

const FILE: &str = "keys.json";

/// The version of the file's form.
const VERSION: u32 = 1;

/// What can be wrong with keys.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    #[error("`{path}`: {source}")]
    File { path: PathBuf, source: std::io::Error },
    #[error("`{path}` is no file of keys ({reason}); mend it, or move it away to begin anew")]
    Broken { path: PathBuf, reason: String },
    #[error("there is no key `{0}`; `halma keys list` shows all")]
    Unknown(String),
    #[error("{0}")]
    Unfit(&'static str),
    #[error("there are no random numbers to be had: {0}")]
    Random(getrandom::Error),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    keys: Vec<Kept>,
}

/// A key with the hash of its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    key: Key,
    hash: String,
}

/// The keys of a base and the workspaces below it. Once the file is there, keys are required, even
/// when the last one was revoked.
#[derive(Debug, Clone)]
pub struct KeyFile {
    path: PathBuf,
}

impl KeyFile {
    /// That of the base in `dir`.
    pub fn of(dir: &Path) -> Self {
        Self { path: dir.join(FILE) }
    }

    pub fn exists(&self) -> bool {
        self.path.exists()
    }

    /// When it was last written; `None` when it is not there.
    pub(super) fn stamp(&self) -> Option<(std::time::SystemTime, u64)> {
        let about = std::fs::metadata(&self.path).ok()?;
        Some((about.modified().ok()?, about.len()))
    }

    /// All keys, in the order of their making.
    pub fn list(&self) -> Result<Vec<Key>, KeysError> {
        Ok(self.read()?.into_iter().map(|kept| kept.key).collect())
    }

    /// Makes a key; its text is told here and never again.
    pub fn create(&self, new: NewKey) -> Result<(Key, String), KeysError> {
        let workspace = new.workspace.unwrap_or_else(|| "default".into());
        if new.scopes.is_empty() {
            return Err(KeysError::Unfit("a key needs a scope: ask, write or admin"));
        }
        if !is_name(&workspace) {
            return Err(KeysError::Unfit("a workspace is named by a-z, 0-9, - and _"));
        }
        if new.name.trim().is_empty() || new.name.chars().count() > 100 {
            return Err(KeysError::Unfit("a key needs a name of 1 to 100 characters"));
        }
        if new.budget_per_day_usd.is_some_and(|usd| !usd.is_finite() || usd < 0.0) {
            return Err(KeysError::Unfit("a budget is no negative number"));
        }
        let (id, text, hash) = fresh().map_err(KeysError::Random)?;
        let mut scopes = new.scopes;
        scopes.sort_unstable();
        scopes.dedup();
        let key = Key {
            id,
            name: new.name.trim().to_owned(),
            scopes,
            workspace,
            created: Utc::now(),
            expires: new.expires,
            budget_per_day_usd: new.budget_per_day_usd,
            calls_per_day: new.calls_per_day,
        };
        let kept = Kept { key: key.clone(), hash: hash.to_hex().to_string() };
        self.change(|keys| {
            keys.push(kept);
            Ok(())
        })?;
        Ok((key, text))
    }

    /// Takes a key away for good.
    pub fn revoke(&self, id: &str) -> Result<(), KeysError> {
        self.change(|keys| {
            let before = keys.len();
            keys.retain(|kept| kept.key.id != id);
            if keys.len() == before { Err(KeysError::Unknown(id.to_owned())) } else { Ok(()) }
        })
    }

    fn change(
        &self,
        change: impl FnOnce(&mut Vec<Kept>) -> Result<(), KeysError>,
    ) -> Result<(), KeysError> {
        let failed = |source| KeysError::File { path: self.path.clone(), source };
        let folder = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(failed)?;
        // One at a time: a server and a command may both be at it.
        let lock = std::fs::File::create(self.path.with_extension("lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut keys = self.read()?;
        change(&mut keys)?;
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        let written = Written { version: VERSION, keys };
        serde_json::to_writer_pretty(&mut file, &written).map_err(|e| failed(e.into()))?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&self.path).map_err(|e| failed(e.error))?;
        Ok(())
    }

    fn read(&self) -> Result<Vec<Kept>, KeysError> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(vec![]),
            Err(source) => return Err(KeysError::File { path: self.path.clone(), source }),
        };
        let broken = |reason| KeysError::Broken { path: self.path.clone(), reason };
        let written: Written = serde_json::from_str(&text).map_err(|e| broken(e.to_string()))?;
        if written.version != VERSION {
            return Err(broken(format!("its version is {}", written.version)));
        }
        Ok(written.keys)
    }

    /// What the server holds in memory.
    pub(super) fn hashed(&self) -> Result<Vec<(Key, blake3::Hash)>, KeysError> {
        let broken = |reason: String| KeysError::Broken { path: self.path.clone(), reason };
        let hashed = |kept: Kept| {
            let hash = blake3::Hash::from_hex(&kept.hash).map_err(|e| broken(e.to_string()))?;
            Ok((kept.key, hash))
        };
        self.read()?.into_iter().map(hashed).collect()
    }
}

/// Whether the text is the key that was hashed; takes as long for any text of the same length.
pub(super) fn fits(credentials: &Credentials<'_>, hash: &blake3::Hash) -> bool {
    // `blake3::Hash` compares in constant time.
    credentials.hash() == *hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Scope;

    fn new(name: &str) -> NewKey {
        NewKey {
            name: name.into(),
            scopes: vec![Scope::Ask],
            workspace: None,
            expires: None,
            budget_per_day_usd: None,
            calls_per_day: None,
        }
    }

    #[test]
    fn a_secret_is_told_once_and_kept_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let file = KeyFile::of(dir.path());
        assert!(!file.exists() && file.list().unwrap().is_empty());
        let (key, text) = file.create(new("chat")).unwrap();
        let secret = text.rsplit('_').next().unwrap();
        let written = std::fs::read_to_string(dir.path().join(FILE)).unwrap();
        assert!(!written.contains(secret) && written.contains(&key.id));
        let (_, hash) = file.hashed().unwrap().remove(0);
        assert!(fits(&Credentials::parse(&text).unwrap(), &hash));
        let wrong = format!("halma_{}_{}", key.id, "0".repeat(48));
        assert!(!fits(&Credentials::parse(&wrong).unwrap(), &hash));
    }

    #[test]
    fn a_revoked_key_is_gone_and_the_file_stays() {
        let dir = tempfile::tempdir().unwrap();
        let file = KeyFile::of(dir.path());
        let (key, _) = file.create(new("a")).unwrap();
        assert!(matches!(file.revoke("nothing"), Err(KeysError::Unknown(_))));
        file.revoke(&key.id).unwrap();
        assert!(file.exists() && file.list().unwrap().is_empty());
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = KeyFile::of(dir.path());
        assert!(file.create(new(" ")).is_err());
        assert!(file.create(NewKey { scopes: vec![], ..new("a") }).is_err());
        assert!(file.create(NewKey { workspace: Some("../x".into()), ..new("a") }).is_err());
        for wrong in ["", "halma", "halma_", "halma_a", "other_a_b", "halma__b"] {
            assert!(Credentials::parse(wrong).is_none(), "{wrong}");
        }
        std::fs::write(dir.path().join(FILE), "{}").unwrap();
        assert!(matches!(file.list(), Err(KeysError::Broken { .. })));
    }
}
