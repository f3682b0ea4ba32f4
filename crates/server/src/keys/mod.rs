//! API keys: their scopes, workspace, expiry and daily budget.
mod file;
mod key;
mod live;
mod storage;

pub use file::{KeyFile, KeysError};
pub use key::{Key, NewKey, Scope};
pub(crate) use live::Keys;
pub(crate) use storage::KEY_ENTRIES;
