//! API keys: their scopes, workspace, expiry and daily budget.
mod accepted_keys;
mod key;
mod stored;

pub(crate) use accepted_keys::Keys;
pub use key::{Key, NewKey, Scope};
pub(crate) use stored::KEY_ENTRIES;
pub use stored::{ApiKeys, KeysError};
