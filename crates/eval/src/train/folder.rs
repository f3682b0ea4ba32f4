//! Writing the files of a training set, all or none, without replacing others.
use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::chat::pretty;
use super::error::TrainError;
use crate::journal::write;
use crate::runner::make_folder;

/// A file by its name in the folder.
pub(super) struct OutputFile {
    pub(super) name: &'static str,
    pub(super) bytes: Vec<u8>,
}

/// Writes the files. One that exists with other bytes is replaced with `force` only; which is
/// found out before the first is written.
pub(super) fn write_all(
    folder: &Path,
    files: &[OutputFile],
    force: bool,
) -> Result<(), TrainError> {
    for OutputFile { name, bytes } in files {
        let file = folder.join(name);
        let differs = std::fs::read(&file).is_ok_and(|existing| existing != *bytes);
        if differs && !force {
            return Err(TrainError::Exists { file });
        }
    }
    make_folder(folder)?;
    for OutputFile { name, bytes } in files {
        write(&folder.join(name), "the training data cannot be written", bytes)?;
    }
    Ok(())
}

/// The file that says what a training set holds, and how its other files were left.
const STATISTICS: &str = "statistics.json";

/// Writes a training set whose command may be run again with more to make it of, and its
/// statistics. Files that are as an earlier run has left them are replaced, others with `force`
/// only.
pub(super) fn write_again(
    folder: &Path,
    mut files: Vec<OutputFile>,
    mut statistics: Value,
    force: bool,
) -> Result<(), TrainError> {
    let left = hashes_of_last_run(folder);
    let hash = |bytes: &[u8]| blake3::hash(bytes).to_hex().to_string();
    let is_left = |file: &OutputFile| {
        let existing = std::fs::read(folder.join(file.name));
        existing.is_ok_and(|existing| left.get(file.name) == Some(&hash(&existing)))
    };
    let others = files.iter().any(|file| folder.join(file.name).exists() && !is_left(file));
    let hashes: BTreeMap<_, _> = files.iter().map(|file| (file.name, hash(&file.bytes))).collect();
    statistics["files"] = json!(hashes);
    files.push(OutputFile { name: STATISTICS, bytes: pretty(&statistics) });
    write_all(folder, &files, force || !left.is_empty() && !others)
}

/// The hashes of the files by name; none where there was no run, or one that did not record them.
fn hashes_of_last_run(folder: &Path) -> BTreeMap<String, String> {
    let bytes = std::fs::read(folder.join(STATISTICS)).ok();
    let statistics = bytes.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let files = statistics.as_ref().and_then(|statistics| statistics.get("files"));
    files.and_then(|files| serde_json::from_value(files.clone()).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_bytes_are_replaced_only_when_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = |text: &str| [OutputFile { name: "train.jsonl", bytes: text.into() }];
        write_all(folder.path(), &file("a"), false).unwrap();
        write_all(folder.path(), &file("a"), false).unwrap();
        let refused = write_all(folder.path(), &file("b"), false).unwrap_err();
        assert!(refused.is_wrong_use() && refused.to_string().contains("--force"), "{refused}");
        write_all(folder.path(), &file("b"), true).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("train.jsonl")).unwrap(), "b");
    }

    #[test]
    fn what_an_earlier_run_has_left_is_replaced_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let write = |text: &str| {
            let files = vec![OutputFile { name: "train.jsonl", bytes: text.into() }];
            write_again(folder.path(), files, json!({ "train": 1 }), false)
        };
        write("a").unwrap();
        write("a and more").unwrap();
        let train = folder.path().join("train.jsonl");
        assert_eq!(std::fs::read_to_string(&train).unwrap(), "a and more");
        std::fs::write(&train, "changed by hand").unwrap();
        assert!(write("a and still more").unwrap_err().to_string().contains("--force"));
        assert_eq!(std::fs::read_to_string(&train).unwrap(), "changed by hand");
    }
}
