//! Fields of documents in files next to them.
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use halma_core::Metadata;
use serde_json::error::Category;

use super::{Refusal, refusal};

/// What the name of a file with the fields of another one ends with.
const ENDING: &str = ".meta.json";

/// The largest of them, in bytes.
const LARGEST: u64 = 1_000_000;

/// Whether a file holds the fields of another one, by its name.
pub fn is_metadata_file(name: &str) -> bool {
    name.len() > ENDING.len() && name.to_lowercase().ends_with(ENDING)
}

/// The file with the fields of a file: `report.pdf.meta.json` next to `report.pdf`.
pub fn metadata_file(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ENDING);
    name.into()
}

/// The fields in the file next to a file; `None` where there is none. The error says why the file
/// is not valid, so that a document is not taken in with fewer fields than it should have.
pub fn read_metadata_file(path: &Path) -> Result<Option<Metadata>, Refusal> {
    let path = metadata_file(path);
    let shown = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let about = match std::fs::metadata(&path) {
        // Where the longer name is too long, there is no file of that name.
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::InvalidFilename) => {
            return Ok(None);
        }
        about => about,
    };
    let unreadable = |e: std::io::Error| {
        refusal(format!("its fields in `{shown}` cannot be read: {e}"), "check that file")
    };
    if about.map_err(unreadable)?.len() > LARGEST {
        return Err(refusal(format!("`{shown}` is too large"), "it holds a few fields only"));
    }
    let text = std::fs::read_to_string(&path).map_err(unreadable)?;
    let hint = "write one JSON object of texts, numbers, truths and lists";
    let metadata: Metadata = serde_json::from_str(&text).map_err(|e| {
        let reason = match e.classify() {
            Category::Data => format!("`{shown}` does not fit: {e}"),
            _ => format!("`{shown}` is not valid JSON: {e}"),
        };
        refusal(reason, hint)
    })?;
    metadata.check().map_err(|e| refusal(format!("`{shown}`: {e}"), hint))?;
    Ok(Some(metadata))
}
