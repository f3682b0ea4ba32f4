//! Writing files of the output folder.
use std::path::Path;

use crate::error::EvalError;

/// Writes a temporary file first, so that a killed run leaves the previous file whole.
pub(crate) fn write(file: &Path, doing: &'static str, bytes: &[u8]) -> Result<(), EvalError> {
    let mut new = file.as_os_str().to_owned();
    new.push(".new");
    std::fs::write(&new, bytes)
        .and_then(|()| std::fs::rename(&new, file))
        .map_err(|source| EvalError::File { file: file.into(), doing, source })
}
