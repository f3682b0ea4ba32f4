//! What former versions sealed, so that `halma kb migrate` can read it.
mod cipher;
mod keys;

pub use cipher::{seal, unseal};
pub use keys::FormerKeys;
