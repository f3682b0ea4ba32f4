//! What the `use` lines of a Rust file name, as paths from the root of its crate.

/// One name that a `use` brings in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Use {
    /// From the crate's root: `["store", "nodes", "Node"]`.
    pub(crate) path: Vec<String>,
    /// What it is called here.
    pub(crate) name: String,
    /// Whether it is handed on (`pub use`).
    pub(crate) public: bool,
    /// Of the statement's first line, from 1.
    pub(crate) line: usize,
}

/// The names of this crate that the file of module `own` uses at its top level.
pub(crate) fn uses(text: &str, own: &[String]) -> Vec<Use> {
    let mut found = vec![];
    let (mut statement, mut first) = (String::new(), 0);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split("//").next().unwrap_or_default().trim_end();
        let begins = ["use ", "pub use ", "pub(crate) use ", "pub(super) use "];
        if statement.is_empty() && !begins.iter().any(|begin| line.starts_with(begin)) {
            continue;
        }
        if statement.is_empty() {
            first = number;
        }
        statement.push_str(line.trim());
        statement.push(' ');
        if line.ends_with(';') {
            read(&statement, first, own, &mut found);
            statement.clear();
        }
    }
    found
}

fn read(statement: &str, line: usize, own: &[String], found: &mut Vec<Use>) {
    let public = statement.starts_with("pub");
    let Some((_, tree)) = statement.split_once("use ") else { return };
    for path in leaves(tree.trim().trim_end_matches(';')) {
        let (path, alias) = match path.split_once(" as ") {
            Some((path, alias)) => (path.trim(), Some(alias.trim())),
            None => (path.trim(), None),
        };
        let mut parts: Vec<String> = path.split("::").map(|part| part.trim().to_owned()).collect();
        if parts.last().is_some_and(|last| last == "self") {
            parts.pop();
        }
        let Some(path) = from_root(&parts, own, public) else { continue };
        let name = alias.map_or_else(|| path.last().cloned().unwrap_or_default(), str::to_owned);
        found.push(Use { path, name, public, line });
    }
}

/// `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`.
fn leaves(tree: &str) -> Vec<String> {
    let Some((prefix, rest)) = tree.split_once('{') else { return vec![tree.trim().to_owned()] };
    let Some((inner, _)) = rest.rsplit_once('}') else { return vec![] };
    let mut parts = vec![String::new()];
    let mut depth = 0_usize;
    for c in inner.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.flat_map(leaves).map(|leaf| format!("{}{leaf}", prefix.trim())).collect()
}

/// `None` for what is not of this crate. A re-export may name a module below without `self`.
fn from_root(parts: &[String], own: &[String], public: bool) -> Option<Vec<String>> {
    let (first, rest) = parts.split_first()?;
    let base = match first.as_str() {
        "crate" => vec![],
        "self" => own.to_vec(),
        "super" => own.split_last()?.1.to_vec(),
        _ if public => return Some([own, parts].concat()),
        _ => return None,
    };
    match rest.first().map(String::as_str) {
        Some("super") => from_root(rest, &base, public),
        _ => Some([base.as_slice(), rest].concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        let own = ["store".to_owned(), "nodes".to_owned()];
        let show = |used: Use| format!("{} as {}", used.path.join("::"), used.name);
        uses(text, &own).into_iter().map(show).collect()
    }

    #[test]
    fn trees_and_relative_paths_are_spelled_out() {
        let text = "use std::fmt;\nuse crate::{A, b::{self, C as D}};\nuse super::super::E;\n\
                    use super::{\n    F,\n};\n    use crate::inner::G;\n";
        assert_eq!(paths(text), ["A as A", "b as b", "b::C as D", "E as E", "store::F as F"]);
    }

    #[test]
    fn a_re_export_names_a_module_below() {
        assert_eq!(paths("pub use inner::H;\n"), ["store::nodes::inner::H as H"]);
    }
}
