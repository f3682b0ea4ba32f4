//! Fields of documents in files next to them.
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use halma_core::Metadata;

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
    let bytes = std::fs::read(&path).map_err(unreadable)?;
    let text = halma_parse::certain_text(&bytes)
        .map_err(|e| refusal(format!("its fields in `{shown}` cannot be read: {e}"), e.hint))?;
    let hint = "write one JSON object of texts, numbers, truths and lists";
    let metadata: Metadata = serde_json::from_str(&text).map_err(|e| {
        let what = if e.is_data() { "does not fit" } else { "is not valid JSON" };
        refusal(format!("`{shown}` {what}: {e}"), hint)
    })?;
    metadata.check().map_err(|e| refusal(format!("`{shown}`: {e}"), hint))?;
    Ok(Some(metadata))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Option<Metadata>, Refusal> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.md.meta.json"), bytes).unwrap();
        read_metadata_file(&dir.path().join("a.md"))
    }

    #[test]
    fn fields_with_a_mark_are_read_as_powershell_and_notepad_write_them() {
        let json = "\u{feff}{\"team\": \"Bücher\"}\r\n";
        let little: Vec<u8> = json.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = json.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [json.as_bytes(), &little, &big] {
            assert_eq!(read(bytes).unwrap().unwrap().0.len(), 1);
        }
    }

    #[test]
    fn what_is_wrong_with_fields_names_file_and_place() {
        let broken = read(b"{\n\"team\": \"legal\",\n}").unwrap_err().reason;
        assert!(broken.contains("a.md.meta.json") && broken.contains("line 3"), "{broken}");
        let latin = read(b"{\"team\": \"B\xfccher\"}").unwrap_err();
        assert!(latin.reason.contains("a.md.meta.json"), "{latin:?}");
        assert!(latin.hint.contains("UTF-8"), "{latin:?}");
        assert!(read(&[]).unwrap_err().reason.contains("not valid JSON"));
    }
}
