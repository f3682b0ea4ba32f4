//! Folders of code: not too many files in one, and one module layout.
use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::{Source, Violation};

/// Files of code in one folder.
const MOST_FILES: usize = 16;

pub(crate) fn check(sources: &[Source]) -> Vec<Violation> {
    let mut violations = crowded(sources);
    violations.extend(two_layouts(sources));
    violations
}

fn is_code(source: &Source) -> bool {
    let code = source.is_rust() || [".ts", ".svelte"].iter().any(|e| source.path.ends_with(e));
    code && (source.path.starts_with("crates/") || source.path.starts_with("xtask/"))
}

fn crowded(sources: &[Source]) -> Vec<Violation> {
    let mut folders: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in sources.iter().filter(|source| is_code(source)) {
        let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        folders.entry(folder).or_default().push(source);
    }
    let mut violations = vec![];
    for (folder, files) in folders.iter().filter(|(_, files)| files.len() > MOST_FILES) {
        let what = format!("{} files in `{folder}`, at most {MOST_FILES}", files.len());
        violations.push(files[0].violation(1, what, "part the folder by what the files are about"));
    }
    violations
}

/// A module with modules below it is `x/mod.rs`, never `x.rs` next to a folder `x`.
fn two_layouts(sources: &[Source]) -> Vec<Violation> {
    let rust: Vec<&Source> = sources.iter().filter(|s| is_code(s) && s.is_rust()).collect();
    let folders: BTreeSet<&str> =
        rust.iter().filter_map(|s| s.path.rsplit_once('/').map(|(folder, _)| folder)).collect();
    let parted = rust.iter().filter(|s| folders.contains(s.path.trim_end_matches(".rs")));
    let hint = "move it into its folder as `mod.rs`";
    parted.map(|s| s.violation(1, "a module next to its own folder".into(), hint)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::{said, sources};

    #[test]
    fn a_crowded_folder_is_found() {
        let paths: Vec<String> = (10..27).map(|i| format!("crates/kb/src/a/{i}.rs")).collect();
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
        let expected = ["crates/kb/src/a/10.rs:1: 17 files in `crates/kb/src/a`, at most 16"];
        assert_eq!(said(&check(&sources(&files))), expected);
        assert!(check(&sources(&files[1..])).is_empty());
    }

    #[test]
    fn a_module_lies_in_its_folder() {
        let files = [("crates/kb/src/a.rs", ""), ("crates/kb/src/a/b.rs", "")];
        assert_eq!(said(&check(&sources(&files))).len(), 1);
        let files = [("crates/kb/src/a/mod.rs", ""), ("crates/kb/src/a/b.rs", "")];
        assert!(check(&sources(&files)).is_empty());
    }
}
