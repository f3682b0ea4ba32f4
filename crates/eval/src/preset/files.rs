//! The question files that a preset needs: which they are, where they are published, and whether
//! they lie in a folder.
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Preset;
use crate::data::{Format, recognise};

/// Folders below the one that is searched.
const DEPTH: usize = 3;

/// A question file of a preset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NeededFile {
    pub format: Format,
    /// Its name as published.
    pub file: String,
    /// Where its authors publish it.
    pub source: String,
}

impl Preset {
    /// One for each of its data sets.
    pub fn needed_files(&self) -> Vec<NeededFile> {
        let file = |format: Format| {
            let entry = format.entry();
            let published = entry.files.last().map(|file| file.file.clone());
            let file = self.files.get(format.name()).cloned().or(published).unwrap_or_default();
            NeededFile { format, file, source: entry.source.clone() }
        };
        self.formats().into_iter().map(file).collect()
    }
}

/// The file in the folder or below it; several sets have a `dev.json`, so its records decide.
pub fn find_file(folder: &Path, needed: &NeededFile) -> Option<PathBuf> {
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let path = folder.join(&needed.file);
        if path.is_file() && recognise(&path).is_ok_and(|format| format == needed.format) {
            return Some(path);
        }
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut below: Vec<PathBuf> = below.map(|entry| entry.path()).collect();
        below.sort_by(|a, b| b.cmp(a));
        if depth < DEPTH {
            folders.extend(below.into_iter().map(|folder| (folder, depth + 1)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::preset;

    #[test]
    fn a_file_is_found_by_its_name_and_its_records() {
        let needed = preset("kar3-table1").unwrap().needed_files();
        assert_eq!(needed[0].file, "hotpot_dev_distractor_v1.json");
        assert!(needed.iter().all(|file| !file.source.is_empty() && !file.file.is_empty()));
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(find_file(folder.path(), &needed[0]), None);
        let fixture =
            |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
        let below = folder.path().join("a/2wiki");
        std::fs::create_dir_all(&below).unwrap();
        // `dev.json` of another set lies nearer.
        std::fs::copy(fixture("strategyqa.json"), folder.path().join("dev.json")).unwrap();
        std::fs::copy(fixture("2wiki.json"), below.join("dev.json")).unwrap();
        assert_eq!(needed[1].file, "dev.json");
        assert_eq!(find_file(folder.path(), &needed[1]), Some(below.join("dev.json")));
    }
}
