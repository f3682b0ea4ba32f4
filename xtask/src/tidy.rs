//! All rules over all files of the repository.
use std::fmt;
use std::path::{Path, PathBuf};

use crate::{
    budget, cycles, demo, documents, edges, folders, layers, lines, prompts, vocabulary, world,
};

/// One thing that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    /// Relative to the root of the repository, with `/`.
    pub(crate) file: String,
    /// From 1.
    pub(crate) line: usize,
    pub(crate) what: String,
    /// What to do about it.
    pub(crate) hint: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}; {}", self.file, self.line, self.what, self.hint)
    }
}

/// A text file of the repository.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn violation(&self, line: usize, what: String, hint: &str) -> Violation {
        Violation { file: self.path.clone(), line, what, hint: hint.to_owned() }
    }

    /// The name of the crate's folder when the file belongs to one of `crates/`.
    pub(crate) fn krate(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.extension("rs")
    }

    pub(crate) fn is_markdown(&self) -> bool {
        self.extension("md")
    }

    fn extension(&self, wanted: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|extension| extension == wanted)
    }
}

/// What could not be looked at.
#[derive(Debug)]
pub(crate) struct Unreadable {
    path: PathBuf,
    source: std::io::Error,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {}: {}", self.path.display(), self.source)
    }
}

/// Checks the repository at `root`; the violations are in the order of their files.
pub(crate) fn tidy(root: &Path) -> Result<Vec<Violation>, Unreadable> {
    let mut sources = vec![];
    collect(root, "", &mut sources)?;
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    let mut violations = vec![];
    violations.extend(edges::check(&sources));
    violations.extend(prompts::check(&sources));
    violations.extend(lines::check(&sources));
    violations.extend(budget::check(&sources));
    violations.extend(folders::check(&sources));
    violations.extend(cycles::check(&sources));
    violations.extend(layers::check(&sources));
    violations.extend(vocabulary::check(&sources));
    violations.extend(documents::check(&sources));
    violations.extend(demo::check(&sources));
    violations.extend(world::check(&sources));
    violations.sort();
    Ok(violations)
}

/// Folders that are not part of the repository: build results, and what is next to the checkout,
/// which may be linked into its root.
const FOREIGN: &[&str] = &["target", "node_modules"];
const FOREIGN_AT_ROOT: &str = "shared";

fn collect(root: &Path, below: &str, sources: &mut Vec<Source>) -> Result<(), Unreadable> {
    let folder = root.join(below);
    let fail = |path: &Path, source| Unreadable { path: path.to_owned(), source };
    for entry in std::fs::read_dir(&folder).map_err(|e| fail(&folder, e))? {
        let entry = entry.map_err(|e| fail(&folder, e))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        let kind = entry.file_type().map_err(|e| fail(&entry.path(), e))?;
        let hidden = name.starts_with('.') && name != ".ci";
        if kind.is_dir() {
            let foreign = FOREIGN.contains(&name.as_str()) || path == FOREIGN_AT_ROOT;
            if !hidden && !foreign {
                collect(root, &path, sources)?;
            }
        } else if kind.is_file() {
            let bytes = std::fs::read(entry.path()).map_err(|e| fail(&entry.path(), e))?;
            // What is not text has no lines to check, but may be linked to.
            let text = String::from_utf8(bytes).unwrap_or_default();
            sources.push(Source { path, text });
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod testing {
    //! What the tests of the rules share.
    use super::{Source, Violation};

    pub(crate) fn sources(files: &[(&str, &str)]) -> Vec<Source> {
        let source = |(path, text): &(&str, &str)| Source {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        files.iter().map(source).collect()
    }

    /// `file:line: what` of each violation, without the hint.
    pub(crate) fn said(violations: &[Violation]) -> Vec<String> {
        violations.iter().map(|v| format!("{}:{}: {}", v.file, v.line, v.what)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let violations = tidy(crate::root()).unwrap();
        let lines: Vec<String> = violations.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
    }

    #[test]
    fn a_violation_says_where_what_and_what_to_do() {
        let source = Source { path: "a/b.rs".into(), text: String::new() };
        let violation = source.violation(3, "it is long".into(), "shorten it");
        assert_eq!(violation.to_string(), "a/b.rs:3: it is long; shorten it");
    }

    #[test]
    fn a_file_knows_its_crate() {
        let of = |path: &str| Source { path: path.into(), text: String::new() };
        assert_eq!(of("crates/kb/src/lib.rs").krate(), Some("kb"));
        assert_eq!(of("xtask/src/main.rs").krate(), None);
    }
}
