//! The one `unsafe` call of the local models: mapping a graph's tensors into memory.
use std::path::Path;

use rten::{LoadError, Model, ModelOptions};

/// Loads a graph with its tensors mapped: opening takes a millisecond instead of some 70, and the
/// word vectors that no text needs never enter memory.
#[expect(unsafe_code, reason = "rten leaves the choice to map files to its callers")]
pub(crate) fn load(options: &ModelOptions, path: &Path) -> Result<Model, LoadError> {
    // SAFETY: a mapped file must not change while it is in use. Halma only ever replaces these
    // files by renaming others over them, which leaves the mapped ones as they were. A user
    // who writes into them with other tools can make vectors and scores wrong or end the process, as
    // with every program that maps its files; no bytes are read as anything but numbers.
    unsafe { options.load_mmap(path) }
}
