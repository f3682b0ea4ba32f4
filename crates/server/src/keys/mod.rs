//! Keys: who may do what, in which workspace, until when, for how much a day.
mod file;
mod key;

pub use file::{KeyFile, KeysError};
pub(crate) use key::hex;
pub use key::{Key, NewKey, Scope};
pub(crate) use watched::Keys;

mod watched;
