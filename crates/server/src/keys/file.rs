//! The key file, which the server and `halma keys` share.
use std::path::{Path, PathBuf};

use chrono::Utc;
use halma_core::check_limit;
use halma_engine::{Engine, EngineError, Place, SharedSpace};
use serde::{Deserialize, Serialize};

use super::key::{Credentials, GeneratedKey, generate};
use super::storage::{Stamp, Storage, newer};
use super::{Key, NewKey, Scope};
use crate::workspace::is_name;

const FILE: &str = "keys.json";

/// The version of the file format: from 2 on keys may be for some documents only, which older
/// programs would not heed.
const VERSION: u32 = 2;
const OLDEST: u32 = 1;

/// Why keys cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    #[error("cannot use `{path}`: {source}; check the path and its permissions")]
    File { path: PathBuf, source: std::io::Error },
    #[error("`{name}` is not a valid key file ({reason}); fix it, or move it away to start over")]
    Broken { name: String, reason: String },
    #[error("the API keys: {0}")]
    Database(#[from] halma_pg::PgError),
    #[error("there is no key `{0}`; `halma keys list` lists all keys")]
    Unknown(String),
    #[error("{0}")]
    Invalid(&'static str),
    #[error("{0}")]
    Condition(String),
    #[error("the system has no random numbers: {0}")]
    Random(getrandom::Error),
}

impl KeysError {
    /// Whether the user can fix it by calling Halma differently (exit code 2).
    pub fn is_wrong_use(&self) -> bool {
        matches!(self, Self::Unknown(_) | Self::Invalid(_) | Self::Condition(_))
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    version: u32,
    keys: Vec<StoredKey>,
}

/// A key with the hash of its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredKey {
    #[serde(flatten)]
    key: Key,
    hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workspace_id: Option<String>,
}

/// A key with the hash of its secret, as requests are compared with it.
pub(super) type HashedKey = (Key, blake3::Hash);

/// The keys of a base and the workspaces below it. Once the file exists, keys are required, even when
/// the last one is revoked. A base that is shared has the file in its database.
#[derive(Debug, Clone)]
pub struct KeyFile {
    storage: Storage,
}

/// The keys after a change.
pub(super) struct ChangedKeys {
    pub(super) stamp: Option<Stamp>,
    pub(super) keys: Result<Vec<HashedKey>, KeysError>,
}

impl KeyFile {
    /// The key file of the base in `dir`.
    pub fn for_base(dir: &Path) -> Self {
        Self { storage: Storage::File(dir.join(FILE)) }
    }

    /// The keys of a base that is shared.
    pub fn shared(space: SharedSpace) -> Self {
        Self { storage: Storage::Database(space) }
    }

    /// The keys of the base at a place, which need not be open.
    pub fn at(place: &Place) -> Result<Self, EngineError> {
        Ok(place.space()?.map_or_else(|| Self::for_base(place.folder()), Self::shared))
    }

    /// The keys of the base of this engine, whose folder is `dir`.
    pub(crate) fn of(engine: &Engine, dir: &Path) -> Self {
        engine.shared().map_or_else(|| Self::for_base(dir), |space| Self::shared(space.clone()))
    }

    /// Whether there ever was a key.
    pub fn exists(&self) -> Result<bool, KeysError> {
        self.storage.exists()
    }

    /// Whether a look at it costs next to nothing.
    pub(super) fn is_local(&self) -> bool {
        matches!(self.storage, Storage::File(_))
    }

    /// The keys, if they are not those of the stamp any more.
    pub(super) fn changed_since(
        &self,
        known: Option<Stamp>,
    ) -> Result<Option<ChangedKeys>, KeysError> {
        match &self.storage {
            Storage::File(path) => {
                let stamp = Storage::file_stamp(path);
                let changed = || ChangedKeys { stamp, keys: self.hashed() };
                Ok((stamp != known).then(changed))
            }
            Storage::Database(space) => Ok(newer(space, known)?.map(|changed| {
                let keys = self.parse(Some(&changed.text)).and_then(|keys| self.hashes(keys));
                ChangedKeys { stamp: Some(changed.stamp), keys }
            })),
        }
    }

    /// All keys, in the order of their creation.
    pub fn list(&self) -> Result<Vec<Key>, KeysError> {
        Ok(self.read()?.into_iter().map(|stored| stored.key).collect())
    }

    /// Creates a key. Its text is returned here and stored nowhere.
    pub fn create(&self, new: NewKey) -> Result<(Key, String), KeysError> {
        let workspace = new.workspace.unwrap_or_else(|| "default".into());
        if new.scopes.is_empty() {
            return Err(KeysError::Invalid(
                "a key needs at least one scope: ask, write, admin or metrics",
            ));
        }
        if !is_name(&workspace) {
            return Err(KeysError::Invalid(
                "the name of a workspace consists of a-z, 0-9, - and _",
            ));
        }
        if new.name.trim().is_empty() || new.name.chars().count() > 100 {
            return Err(KeysError::Invalid("a key needs a name of 1 to 100 characters"));
        }
        // A list of keys is printed to terminals, which obey such characters.
        if new.name.chars().any(char::is_control) {
            return Err(KeysError::Invalid("the name of a key has no control characters"));
        }
        if new.budget_per_day_usd.is_some_and(|usd| check_limit(usd).is_err()) {
            return Err(KeysError::Invalid("a daily budget must be a number from 0 to 1000000000"));
        }
        if let Some(documents) = &new.documents {
            documents.check().map_err(|e| KeysError::Condition(e.to_string()))?;
            if documents.is_empty() {
                return Err(KeysError::Invalid("a key for some documents needs a condition"));
            }
            if new.scopes.contains(&Scope::Admin) {
                return Err(KeysError::Invalid(
                    "a key for some documents cannot have the scope admin, which reaches all",
                ));
            }
        }
        let GeneratedKey { id, text, hash } = generate().map_err(KeysError::Random)?;
        let mut scopes = new.scopes;
        scopes.sort_unstable();
        scopes.dedup();
        let key = Key {
            id,
            name: new.name.trim().to_owned(),
            scopes,
            workspace,
            workspace_id: None,
            created: Utc::now(),
            expires: new.expires,
            budget_per_day_usd: new.budget_per_day_usd,
            calls_per_day: new.calls_per_day,
            documents: new.documents,
        };
        let hash = hash.to_hex().to_string();
        let stored = StoredKey { key: key.clone(), hash, workspace_id: None };
        self.change(|keys| {
            keys.push(stored.clone());
            Ok(())
        })?;
        Ok((key, text))
    }

    /// Revokes a key permanently.
    pub fn revoke(&self, id: &str) -> Result<(), KeysError> {
        self.change(|keys| {
            let before = keys.len();
            keys.retain(|stored| stored.key.id != id);
            if keys.len() == before { Err(KeysError::Unknown(id.to_owned())) } else { Ok(()) }
        })
    }

    /// Revokes the keys of a workspace that is removed, so that none of them opens another one that
    /// gets its name.
    pub(crate) fn revoke_all_of(&self, workspace: &str) -> Result<(), KeysError> {
        if !self.exists()? {
            return Ok(());
        }
        self.change(|keys| {
            keys.retain(|stored| stored.key.workspace != workspace);
            Ok(())
        })
    }

    /// Binds the keys of a workspace that are not bound yet to the base that it has now, so that
    /// they do not open another one that gets its name.
    pub(crate) fn bind(&self, workspace: &str, id: &str) -> Result<(), KeysError> {
        let is_unbound =
            |stored: &StoredKey| stored.key.workspace == workspace && stored.workspace_id.is_none();
        if !self.read()?.iter().any(is_unbound) {
            return Ok(());
        }
        self.change(|keys| {
            for stored in keys.iter_mut().filter(|stored| is_unbound(stored)) {
                stored.workspace_id = Some(id.to_owned());
            }
            Ok(())
        })
    }

    fn change(
        &self,
        change: impl Fn(&mut Vec<StoredKey>) -> Result<(), KeysError>,
    ) -> Result<(), KeysError> {
        self.storage.change(|former| {
            let mut keys = self.parse(former.as_deref())?;
            change(&mut keys)?;
            let contents = Contents { version: VERSION, keys };
            serde_json::to_vec_pretty(&contents).map_err(|e| self.broken(e.to_string()))
        })
    }

    fn read(&self) -> Result<Vec<StoredKey>, KeysError> {
        self.parse(self.storage.read()?.as_deref())
    }

    fn parse(&self, text: Option<&[u8]>) -> Result<Vec<StoredKey>, KeysError> {
        let Some(text) = text else { return Ok(vec![]) };
        let contents: Contents =
            serde_json::from_slice(text).map_err(|e| self.broken(e.to_string()))?;
        if !(OLDEST..=VERSION).contains(&contents.version) {
            return Err(self.broken(format!("its version is {}", contents.version)));
        }
        Ok(contents.keys)
    }

    fn broken(&self, reason: String) -> KeysError {
        KeysError::Broken { name: self.storage.name(), reason }
    }

    /// The keys with the hashes of their secrets.
    pub(super) fn hashed(&self) -> Result<Vec<HashedKey>, KeysError> {
        self.hashes(self.read()?)
    }

    fn hashes(&self, keys: Vec<StoredKey>) -> Result<Vec<HashedKey>, KeysError> {
        let hashed = |stored: StoredKey| {
            let hash = blake3::Hash::from_hex(&stored.hash);
            let hash = hash.map_err(|e| self.broken(e.to_string()))?;
            Ok((Key { workspace_id: stored.workspace_id, ..stored.key }, hash))
        };
        keys.into_iter().map(hashed).collect()
    }
}

/// Whether the credentials have the secret that was hashed; takes constant time.
pub(super) fn matches(credentials: &Credentials<'_>, hash: &blake3::Hash) -> bool {
    // `blake3::Hash` compares in constant time.
    credentials.hash() == *hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(name: &str) -> NewKey {
        NewKey {
            name: name.into(),
            scopes: vec![Scope::Ask],
            workspace: None,
            expires: None,
            budget_per_day_usd: None,
            calls_per_day: None,
            documents: None,
        }
    }

    #[test]
    fn a_secret_is_returned_once_and_never_stored() {
        let dir = tempfile::tempdir().unwrap();
        let file = KeyFile::for_base(dir.path());
        assert!(!file.exists().unwrap() && file.list().unwrap().is_empty());
        let (key, text) = file.create(new("chat")).unwrap();
        let secret = text.rsplit('_').next().unwrap();
        let written = std::fs::read_to_string(dir.path().join(FILE)).unwrap();
        assert!(!written.contains(secret) && written.contains(&key.id));
        let (_, hash) = file.hashed().unwrap().remove(0);
        assert!(matches(&Credentials::parse(&text).unwrap(), &hash));
        let wrong = format!("halma_{}_{}", key.id, "0".repeat(48));
        assert!(!matches(&Credentials::parse(&wrong).unwrap(), &hash));
    }

    #[test]
    fn a_revoked_key_is_removed_and_the_file_remains() {
        let dir = tempfile::tempdir().unwrap();
        let file = KeyFile::for_base(dir.path());
        let (key, _) = file.create(new("a")).unwrap();
        assert!(matches!(file.revoke("nothing"), Err(KeysError::Unknown(_))));
        file.revoke(&key.id).unwrap();
        assert!(file.exists().unwrap() && file.list().unwrap().is_empty());
    }

    #[test]
    fn invalid_keys_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = KeyFile::for_base(dir.path());
        assert!(file.create(new(" ")).is_err());
        assert!(file.create(new("a\u{1b}[2J")).is_err());
        assert!(file.create(NewKey { scopes: vec![], ..new("a") }).is_err());
        assert!(file.create(NewKey { workspace: Some("../x".into()), ..new("a") }).is_err());
        let documents = |json: &str| Some(serde_json::from_str(json).unwrap());
        for wrong in ["{}", r#"{"a b": 1}"#, r#"{"a": {"gt": "x"}}"#] {
            assert!(file.create(NewKey { documents: documents(wrong), ..new("a") }).is_err());
        }
        let (scopes, documents) = (vec![Scope::Admin], documents(r#"{"team": "a"}"#));
        assert!(file.create(NewKey { scopes, documents, ..new("a") }).is_err());
        for invalid in ["", "halma", "halma_", "halma_a", "other_a_b", "halma__b"] {
            assert!(Credentials::parse(invalid).is_none(), "{invalid}");
        }
        std::fs::write(dir.path().join(FILE), "{}").unwrap();
        assert!(matches!(file.list(), Err(KeysError::Broken { .. })));
    }
}
