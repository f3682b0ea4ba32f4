//! The fields of originals, in files next to them.
use std::path::{Path, PathBuf};

use halma_core::Metadata;
use halma_kb::metadata_file;
use tempfile::NamedTempFile;

use crate::storage::replace_file;

/// Removes the fields of a file that is not there.
pub(super) fn remove_orphan(path: &Path) -> std::io::Result<bool> {
    // A link that leads nowhere is a file here.
    match path.symlink_metadata() {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        about => return about.map(|_| false),
    }
    match std::fs::remove_file(metadata_file(path)) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true),
    }
}

pub(super) fn remove_orphans(dir: &Path) -> std::io::Result<usize> {
    let mut removed = 0;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with('.') {
            continue;
        }
        if entry.file_type()?.is_dir() {
            removed += remove_orphans(&entry.path())?;
        } else if let Some(path) = described_by(&entry.path()) {
            removed += usize::from(remove_orphan(&path)?);
        }
    }
    Ok(removed)
}

/// The file whose fields a file holds, if it is one of fields.
fn described_by(fields: &Path) -> Option<PathBuf> {
    let file = fields.with_extension("").with_extension("");
    (metadata_file(&file) == fields).then_some(file)
}

/// Puts the fields of a file next to it, whole or not at all; no fields are no file.
pub(super) fn write_metadata(path: &Path, metadata: &Metadata) -> std::io::Result<()> {
    let target = metadata_file(path);
    if !metadata.is_empty() {
        return replace_file(&target, &serde_json::to_vec_pretty(metadata)?);
    }
    match std::fs::remove_file(target) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Writes the fields of a file to a temporary file next to it; `None` where there are none.
pub(super) fn prepare_metadata(
    path: &Path,
    metadata: &Metadata,
) -> std::io::Result<Option<NamedTempFile>> {
    if metadata.is_empty() {
        return Ok(None);
    }
    let mut file = temporary_file(path)?;
    serde_json::to_writer_pretty(&mut file, metadata)?;
    file.as_file().sync_all()?;
    Ok(Some(file))
}

/// Moves the fields of a file to a temporary file next to it; `None` where there are none.
pub(super) fn set_aside_metadata(path: &Path) -> std::io::Result<Option<NamedTempFile>> {
    let fields = metadata_file(path);
    if !fields.exists() {
        return Ok(None);
    }
    let file = temporary_file(path)?;
    std::fs::rename(fields, file.path())?;
    Ok(Some(file))
}

/// A file in the folder of another one that is gone when it is dropped.
fn temporary_file(path: &Path) -> std::io::Result<NamedTempFile> {
    NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))
}
