//! API keys: their scopes, workspace, expiry and daily budget.
mod accepted_keys;
mod file;
mod key;
mod storage;

pub(crate) use accepted_keys::Keys;
pub use file::{KeyFile, KeysError};
pub use key::{Key, NewKey, Scope};
pub(crate) use storage::KEY_ENTRIES;
