//! The API keys of a base among its state, which the server and `halma keys` share.
use std::io;
use std::path::{Path, PathBuf};

use chrono::Utc;
use halma_core::check_limit;
use halma_engine::{BaseState, Engine, EngineError, Entries, Place, StateEntry};
use serde::{Deserialize, Serialize};

use super::key::{Credentials, GeneratedKey, generate};
use super::{Key, NewKey, Scope};
use crate::workspace::is_name;

/// The kind of the entries. The id of one is that of the key.
pub(crate) const KEY_ENTRIES: &str = "key";

/// Why keys cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    #[error("the API keys cannot be used: {0}")]
    Storage(io::Error),
    #[error("the API key `{id}` in `{place}` cannot be read: {reason}; revoke it")]
    Broken { id: String, place: String, reason: String },
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

/// The keys of a base and the workspaces below it. Once there was one, keys are required, even when
/// the last one is revoked.
#[derive(Clone)]
pub struct ApiKeys {
    entries: Entries,
    /// The folder of the base, which a key makes.
    folder: Option<PathBuf>,
}

/// A key after a change.
pub(super) struct ChangedKey {
    pub(super) id: String,
    pub(super) version: u64,
    /// `None` once it is revoked.
    pub(super) key: Option<Result<HashedKey, KeysError>>,
}

impl ApiKeys {
    /// The keys of the base in `dir`.
    pub fn for_base(dir: &Path) -> Self {
        Self::new(&BaseState::of_folder(dir), dir)
    }

    /// The keys of the base at a place, which need not be open.
    pub fn at(place: &Place) -> Result<Self, EngineError> {
        Ok(Self::new(&place.state()?, place.folder()))
    }

    /// The keys of the base of this engine.
    pub(crate) fn from_engine(engine: &Engine) -> Self {
        Self::new(engine.state(), engine.folder())
    }

    fn new(state: &BaseState, dir: &Path) -> Self {
        let entries = state.entries(KEY_ENTRIES);
        let folder = entries.are_local().then(|| dir.to_owned());
        Self { entries, folder }
    }

    /// Whether there ever was a key.
    pub fn exists(&self) -> Result<bool, KeysError> {
        Ok(!self.changed_since(0)?.is_empty())
    }

    /// Whether a look at them costs next to nothing.
    pub(super) fn are_local(&self) -> bool {
        self.entries.are_local()
    }

    /// The keys that were created, changed or revoked after a version: one short question.
    pub(super) fn changed_since(&self, version: u64) -> Result<Vec<ChangedKey>, KeysError> {
        let changed = self.entries.changed_since(version).map_err(KeysError::Storage)?;
        let read = |entry: StateEntry| {
            let key = entry.bytes.is_some().then(|| self.hashed(&entry));
            ChangedKey { id: entry.id, version: entry.version, key }
        };
        Ok(changed.into_iter().map(read).collect())
    }

    /// All keys, in the order of their creation.
    pub fn list(&self) -> Result<Vec<Key>, KeysError> {
        let stored = self.stored()?;
        let keys = stored.iter().map(|entry| Ok(self.parse(entry)?.key));
        let mut keys = keys.collect::<Result<Vec<Key>, KeysError>>()?;
        keys.sort_by_key(|key| key.created);
        Ok(keys)
    }

    /// Creates a key. Its text is returned here and stored nowhere.
    pub fn create(&self, new: NewKey) -> Result<(Key, String), KeysError> {
        let invalid = |reason| Err(KeysError::Invalid(reason));
        let workspace = new.workspace.unwrap_or_else(|| "default".into());
        if new.scopes.is_empty() {
            return invalid("a key needs at least one scope: ask, write, admin or metrics");
        }
        if !is_name(&workspace) {
            return invalid("the name of a workspace consists of a-z, 0-9, - and _");
        }
        if new.name.trim().is_empty() || new.name.chars().count() > 100 {
            return invalid("a key needs a name of 1 to 100 characters");
        }
        // A list of keys is printed to terminals, which obey such characters.
        if new.name.chars().any(char::is_control) {
            return invalid("the name of a key has no control characters");
        }
        if new.budget_per_day_usd.is_some_and(|usd| check_limit(usd).is_err()) {
            return invalid("a daily budget must be a number from 0 to 1000000000");
        }
        if let Some(documents) = &new.documents {
            documents.check().map_err(|e| KeysError::Condition(e.to_string()))?;
            if documents.is_empty() {
                return invalid("a key for some documents needs a condition");
            }
            if new.scopes.contains(&Scope::Admin) {
                return invalid(
                    "a key for some documents cannot have the scope admin, which reaches all",
                );
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
        if let Some(folder) = &self.folder {
            // What fails here is reported where the file is opened.
            let _ = std::fs::create_dir_all(folder);
        }
        self.put(&stored, 0)?;
        Ok((key, text))
    }

    /// Revokes a key.
    pub fn revoke(&self, id: &str) -> Result<(), KeysError> {
        let removed = self.entries.remove(id).map_err(KeysError::Storage)?;
        if removed { Ok(()) } else { Err(KeysError::Unknown(id.to_owned())) }
    }

    /// Revokes the keys of a workspace that is removed, so that none of them opens another one that
    /// gets its name.
    pub(crate) fn revoke_all_of(&self, workspace: &str) -> Result<(), KeysError> {
        let keys = self.list()?.into_iter().filter(|key| key.workspace == workspace);
        keys.map(|key| key.id).try_for_each(|id| match self.revoke(&id) {
            Err(KeysError::Unknown(_)) => Ok(()),
            revoked => revoked,
        })
    }

    /// Binds the keys of a workspace that are not bound yet to the base that it has now, so that
    /// they do not open another one that gets its name.
    pub(crate) fn bind(&self, workspace: &str, id: &str) -> Result<(), KeysError> {
        for entry in self.stored()? {
            let mut stored = self.parse(&entry)?;
            if stored.key.workspace == workspace && stored.workspace_id.is_none() {
                stored.workspace_id = Some(id.to_owned());
                // One that was changed meanwhile was bound or revoked by another program.
                self.put(&stored, entry.version)?;
            }
        }
        Ok(())
    }

    fn stored(&self) -> Result<Vec<StateEntry>, KeysError> {
        self.entries.list().map_err(KeysError::Storage)
    }

    fn put(&self, stored: &StoredKey, expected: u64) -> Result<(), KeysError> {
        let bytes = serde_json::to_vec(stored).map_err(|e| KeysError::Storage(e.into()))?;
        self.entries.put(&stored.key.id, expected, &bytes).map_err(KeysError::Storage).map(drop)
    }

    fn parse(&self, entry: &StateEntry) -> Result<StoredKey, KeysError> {
        serde_json::from_slice(entry.bytes.as_deref().unwrap_or_default())
            .map_err(|e| self.broken(&entry.id, e.to_string()))
    }

    /// A key with the hash of its secret.
    fn hashed(&self, entry: &StateEntry) -> Result<HashedKey, KeysError> {
        let StoredKey { key, hash, workspace_id } = self.parse(entry)?;
        let hash = blake3::Hash::from_hex(&hash);
        let hash = hash.map_err(|e| self.broken(&entry.id, e.to_string()))?;
        Ok((Key { workspace_id, ..key }, hash))
    }

    fn broken(&self, id: &str, reason: String) -> KeysError {
        KeysError::Broken { id: id.to_owned(), place: self.entries.place(), reason }
    }
}

/// Whether the credentials have the secret that was hashed; takes constant time.
pub(super) fn matches(credentials: &Credentials<'_>, hash: &blake3::Hash) -> bool {
    // `blake3::Hash` compares in constant time.
    credentials.hash() == *hash
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::keys) fn new_key(name: &str) -> NewKey {
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
        let keys = ApiKeys::for_base(dir.path());
        assert!(!keys.exists().unwrap() && keys.list().unwrap().is_empty());
        let (key, text) = keys.create(new_key("chat")).unwrap();
        let secret = text.rsplit('_').next().unwrap();
        let entry = keys.stored().unwrap().remove(0);
        let written = String::from_utf8(entry.bytes.clone().unwrap()).unwrap();
        assert!(!written.contains(secret) && written.contains(&key.id));
        let (_, hash) = keys.hashed(&entry).unwrap();
        assert!(matches(&Credentials::parse(&text).unwrap(), &hash));
        let wrong = format!("halma_{}_{}", key.id, "0".repeat(48));
        assert!(!matches(&Credentials::parse(&wrong).unwrap(), &hash));
    }

    #[test]
    fn keys_are_required_after_the_last_one_is_revoked() {
        let dir = tempfile::tempdir().unwrap();
        let keys = ApiKeys::for_base(dir.path());
        let (key, _) = keys.create(new_key("a")).unwrap();
        assert!(matches!(keys.revoke("nothing"), Err(KeysError::Unknown(_))));
        keys.revoke(&key.id).unwrap();
        assert!(keys.exists().unwrap() && keys.list().unwrap().is_empty());
    }

    #[test]
    fn invalid_keys_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let keys = ApiKeys::for_base(dir.path());
        assert!(keys.create(new_key(" ")).is_err());
        assert!(keys.create(new_key("a\u{1b}[2J")).is_err());
        assert!(keys.create(NewKey { scopes: vec![], ..new_key("a") }).is_err());
        assert!(keys.create(NewKey { workspace: Some("../x".into()), ..new_key("a") }).is_err());
        let documents = |json: &str| Some(serde_json::from_str(json).unwrap());
        for wrong in ["{}", r#"{"a b": 1}"#, r#"{"a": {"gt": "x"}}"#] {
            assert!(keys.create(NewKey { documents: documents(wrong), ..new_key("a") }).is_err());
        }
        let (scopes, documents) = (vec![Scope::Admin], documents(r#"{"team": "a"}"#));
        assert!(keys.create(NewKey { scopes, documents, ..new_key("a") }).is_err());
        for invalid in ["", "halma", "halma_", "halma_a", "other_a_b", "halma__b"] {
            assert!(Credentials::parse(invalid).is_none(), "{invalid}");
        }
        keys.entries.put("a", 0, b"{}").unwrap();
        assert!(matches!(keys.list(), Err(KeysError::Broken { .. })));
    }
}
