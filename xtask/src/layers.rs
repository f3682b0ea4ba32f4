//! The layers of crate `kb`: which of its folders may import which (`ARCHITECTURE.md` has the same
//! in short). Imports point down, so that a folder can be read with those above it left aside.
use crate::cycles::Modules;
use crate::shipped::shipped;
use crate::tidy::{Source, Violation};

/// Each folder and loose file of `crates/kb/src`, low to high, with those above it in this list that
/// it may import.
const FOLDERS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("names", &[]),
    ("progress", &[]),
    ("terms", &[]),
    ("values", &[]),
    ("lock_file", &["error"]),
    ("parallel", &["error"]),
    ("workers", &["parallel"]),
    ("settings", &["values", "workers"]),
    ("store", &["error", "lock_file", "names", "settings", "terms"]),
    ("lexical", &["error", "parallel", "store", "terms"]),
    ("tables", &["error", "store", "values", "workers"]),
    ("vectors", &["error", "parallel", "store"]),
    ("cut", &["error", "settings", "store", "values", "vectors"]),
    ("mentions", &["cut", "error", "parallel", "progress", "settings", "store", "terms"]),
    ("memory", &["error", "lexical", "names", "store", "terms", "vectors", "mentions"]),
    (
        "base",
        &[
            "error",
            "lexical",
            "lock_file",
            "memory",
            "parallel",
            "settings",
            "store",
            "tables",
            "workers",
        ],
    ),
    ("feedback", &["base", "error", "memory", "settings", "store", "vectors"]),
    ("read", &["base", "error", "settings", "store"]),
    (
        "search",
        &[
            "base", "error", "lexical", "memory", "settings", "store", "tables", "terms",
            "vectors", "mentions",
        ],
    ),
    ("delete", &["base", "error", "names", "read", "store"]),
    (
        "stages",
        &["base", "cut", "error", "progress", "read", "settings", "store", "terms", "vectors"],
    ),
    ("extract", &["base", "error", "settings", "stages", "store", "terms", "values", "vectors"]),
    (
        "build",
        &[
            "base", "cut", "error", "extract", "lexical", "memory", "parallel", "progress", "read",
            "settings", "stages", "store", "terms", "vectors", "mentions",
        ],
    ),
    (
        "inspect",
        &["base", "build", "error", "extract", "memory", "names", "settings", "store", "values"],
    ),
    ("tags", &["base", "build", "error", "extract", "stages", "store", "terms"]),
    ("maintain", &["base", "error", "inspect", "lock_file", "settings", "store"]),
];

pub(crate) fn check(sources: &[Source]) -> Vec<Violation> {
    let code = shipped(sources);
    let files: Vec<&Source> = code.iter().filter(|s| s.krate() == Some("kb")).collect();
    let modules = Modules::read(&files);
    let mut violations = vec![];
    for (at, file) in files.iter().enumerate() {
        let Some(folder) = modules.folder(at) else { continue };
        let Some((_, allowed)) = FOLDERS.iter().find(|(name, _)| *name == folder) else {
            let what = format!("`{folder}` is not in the table of kb's folders");
            let hint = "add it to xtask/src/layers.rs, after everything that it imports";
            violations.push(file.violation(1, what, hint));
            continue;
        };
        for used in modules.uses(at) {
            let target = modules.defining(&used.path).and_then(|target| modules.folder(target));
            let Some(target) = target.filter(|target| *target != folder) else { continue };
            if !allowed.contains(&target) {
                let what = format!("`{folder}` may not import `{}` of `{target}`", used.name);
                let hint = "move what both need into a folder below them; an import that points \
                            down is added to xtask/src/layers.rs";
                violations.push(file.violation(used.line, what, hint));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::{said, sources};

    #[test]
    fn the_table_itself_points_down() {
        for (at, (folder, allowed)) in FOLDERS.iter().enumerate() {
            for name in *allowed {
                let is_below = FOLDERS[..at].iter().any(|(below, _)| below == name);
                assert!(is_below, "`{name}` is not below `{folder}`");
            }
        }
    }

    #[test]
    fn an_import_from_above_is_named_with_its_line() {
        let files = sources(&[
            ("crates/kb/src/lib.rs", "pub use search::Ranker;\n"),
            ("crates/kb/src/search/mod.rs", "use crate::store::Row;\npub struct Ranker;\n"),
            ("crates/kb/src/store/mod.rs", "use crate::error::KbError;\npub struct Row;\n"),
            ("crates/kb/src/store/rows.rs", "use super::Row;\n\nuse crate::Ranker;\n"),
            ("crates/kb/src/error/mod.rs", "pub enum KbError {}\n"),
        ]);
        let expected =
            ["crates/kb/src/store/rows.rs:3: `store` may not import `Ranker` of `search`"];
        assert_eq!(said(&check(&files)), expected);
    }

    #[test]
    fn a_new_folder_needs_a_place() {
        let files = sources(&[("crates/kb/src/magic.rs", "use crate::store::Row;\n")]);
        let expected = ["crates/kb/src/magic.rs:1: `magic` is not in the table of kb's folders"];
        assert_eq!(said(&check(&files)), expected);
    }
}
