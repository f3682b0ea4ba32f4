//! Circles of files: few files that use one another can be read together, many cannot.
//!
//! An edge leads from a file to the file that defines what a `use` of this crate names;
//! re-exports are followed, so that a facade such as `lib.rs` stands for nothing itself.
use std::collections::{BTreeMap, BTreeSet};

use crate::shipped::shipped;
use crate::tidy::{Source, Violation};
use crate::use_paths::{Use, uses};

/// Files in one circle.
const MOST_FILES: usize = 4;

pub(crate) fn check(sources: &[Source]) -> Vec<Violation> {
    let code = shipped(sources);
    let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in &code {
        crates.entry(source.krate().unwrap_or_default()).or_default().push(source);
    }
    let mut violations = vec![];
    for files in crates.values() {
        let edges = Modules::read(files).edges();
        for circle in
            strongly_connected(&edges).into_iter().filter(|circle| circle.len() > MOST_FILES)
        {
            let names: Vec<&str> = circle.iter().map(|at| files[*at].path.as_str()).collect();
            let what =
                format!("{} files use one another in a circle: {}", names.len(), names.join(", "));
            let hint = "let the edges point one way: move what both sides need below them";
            violations.push(files[circle[0]].violation(1, what, hint));
        }
    }
    violations
}

/// The modules of one crate: a path such as `["store", "nodes"]` for each file, and what its
/// `use` lines name.
pub(crate) struct Modules {
    by_path: BTreeMap<Vec<String>, usize>,
    uses: Vec<(Vec<String>, Vec<Use>)>,
}

impl Modules {
    pub(crate) fn read(files: &[&Source]) -> Self {
        let paths: Vec<Vec<String>> = files.iter().map(|file| module_path(&file.path)).collect();
        let by_path = paths.iter().cloned().zip(0..).collect();
        let uses = paths.into_iter().zip(files).map(|(path, file)| {
            let found = uses(&file.text, &path);
            (path, found)
        });
        Self { by_path, uses: uses.collect() }
    }

    fn edges(&self) -> Vec<BTreeSet<usize>> {
        let edges_of = |(at, (_, uses)): (usize, &(Vec<String>, Vec<Use>))| {
            let private = uses.iter().filter(|used| !used.public);
            let targets = private.filter_map(|used| self.defining(&used.path));
            targets.filter(|target| *target != at).collect()
        };
        self.uses.iter().enumerate().map(edges_of).collect()
    }

    /// What a file uses, re-exports included.
    pub(crate) fn uses(&self, file: usize) -> &[Use] {
        &self.uses[file].1
    }

    /// The folder right below `src/`, or the loose file, that a file belongs to; `None` for the root.
    pub(crate) fn folder(&self, file: usize) -> Option<&str> {
        self.uses[file].0.first().map(String::as_str)
    }

    /// The file in which what the path names is defined.
    pub(crate) fn defining(&self, path: &[String]) -> Option<usize> {
        self.defining_within(path, 8)
    }

    fn defining_within(&self, path: &[String], depth: usize) -> Option<usize> {
        let split = (0..=path.len()).rev().find(|n| self.by_path.contains_key(&path[..*n]))?;
        let file = self.by_path[&path[..split]];
        let Some(name) = path.get(split).filter(|_| depth > 0) else { return Some(file) };
        let exported = self.uses[file].1.iter().find(|used| used.public && used.name == *name);
        exported.and_then(|used| self.defining_within(&used.path, depth - 1)).or(Some(file))
    }
}

/// `crates/kb/src/store/nodes.rs` as `["store", "nodes"]`.
fn module_path(path: &str) -> Vec<String> {
    let below = path.splitn(4, '/').nth(3).unwrap_or_default().trim_end_matches(".rs");
    let parts = below.split('/').filter(|part| !["mod", "lib", "main"].contains(part));
    parts.map(str::to_owned).collect()
}

/// The sets of files that reach one another, by two walks in depth (Kosaraju).
fn strongly_connected(edges: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let mut back = vec![BTreeSet::new(); edges.len()];
    for (from, targets) in edges.iter().enumerate() {
        for to in targets {
            back[*to].insert(from);
        }
    }
    let mut done = vec![false; edges.len()];
    let mut order = vec![];
    for at in 0..edges.len() {
        walk(at, edges, &mut done, &mut order);
    }
    let mut taken = vec![false; edges.len()];
    let mut found = vec![];
    for at in order.into_iter().rev() {
        let mut circle = vec![];
        walk(at, &back, &mut taken, &mut circle);
        circle.sort_unstable();
        found.push(circle);
    }
    found.retain(|circle| circle.len() > 1);
    found.sort();
    found
}

fn walk(at: usize, edges: &[BTreeSet<usize>], done: &mut [bool], order: &mut Vec<usize>) {
    if std::mem::replace(&mut done[at], true) {
        return;
    }
    for next in &edges[at] {
        walk(*next, edges, done, order);
    }
    order.push(at);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::{said, sources};

    /// `a` uses `b`, `b` uses `c` … and the last uses `a`, by way of the crate's root.
    fn ring(letters: &[&str]) -> Vec<String> {
        let next = letters.iter().cycle().skip(1);
        let mut files = vec![];
        let line = |letter: &&str| format!("pub(crate) use {letter}::{};", letter.to_uppercase());
        let facade: Vec<String> = letters.iter().map(line).collect();
        files.push(("crates/kb/src/lib.rs".to_owned(), facade.join("\n")));
        for (letter, next) in letters.iter().zip(next) {
            let text = format!(
                "use crate::{};\npub struct {};\n",
                next.to_uppercase(),
                letter.to_uppercase()
            );
            files.push((format!("crates/kb/src/{letter}.rs"), text));
        }
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        said(&check(&sources(&files)))
    }

    #[test]
    fn a_large_circle_is_found_through_the_facade() {
        let found = ring(&["a", "b", "c", "d", "e"]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/kb/src/a.rs:1: 5 files use one another"), "{found:?}");
        assert!(ring(&["a", "b", "c", "d"]).is_empty());
    }
}
