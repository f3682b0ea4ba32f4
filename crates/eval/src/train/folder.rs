//! Writing the files of a training set, all or none, without replacing others.
use std::path::Path;

use super::error::TrainError;
use crate::error::EvalError;
use crate::files::write;

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
    std::fs::create_dir_all(folder).map_err(|source| EvalError::File {
        file: folder.into(),
        doing: "the folder cannot be made",
        source,
    })?;
    for OutputFile { name, bytes } in files {
        write(&folder.join(name), "the training data cannot be written", bytes)?;
    }
    Ok(())
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
}
