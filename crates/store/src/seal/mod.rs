//! Values that can be destroyed: each is stored enciphered, its key is in a small file next to
//! the store, and wiping the key's sixteen bytes destroys every copy that the store ever made of
//! the value (docs/adr/0010-sealed-records.md).
mod call_keys;
mod cipher;
mod environment;
mod key_file;
mod key_folder;
mod key_store;
mod keys;
mod private;
mod salvage;
mod wipe;

pub use call_keys::CallKeys;
pub use cipher::{DamagedValue, seal, unseal, unseal_part, value_len};
pub use environment::{
    CopyCounts, CopyError, copy_environment, copy_open_environment, is_environment,
};
pub use key_folder::KeyFolder;
pub use key_store::KeyStore;
pub use keys::{Key, Keys, SealError, Slot};
pub use salvage::{SalvageCounts, pad_environment, salvage_environment};
pub use wipe::wipe_folder;
