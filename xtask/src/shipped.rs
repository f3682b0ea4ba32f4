//! What of the Rust files is shipped: all of it but what only tests see. It relies on rustfmt's
//! layout: an item ends with `;` or at a brace as far in as it began.
use std::collections::BTreeSet;

use crate::tidy::Source;

/// The code below `crates/*/src/` that is compiled into the program; a test's lines are empty, so
/// that line numbers stay right.
pub(crate) fn shipped(sources: &[Source]) -> Vec<Source> {
    let mut tests: BTreeSet<String> = BTreeSet::new();
    let mut kept = vec![];
    for source in
        sources.iter().filter(|s| s.is_rust() && s.krate().is_some_and(|k| k != "testkit"))
    {
        let (text, modules) = without_tests(&source.text);
        tests.extend(modules.iter().map(|module| file_of(&source.path, module)));
        kept.push(Source { path: source.path.clone(), text });
    }
    kept.retain(|source| {
        let in_src = source.path.split('/').nth(2) == Some("src");
        // A module of tests may be a folder: all of it is for tests.
        let below = |test: &String| {
            let folder = test.trim_end_matches(".rs").to_owned() + "/";
            source.path.starts_with(&folder)
        };
        in_src && !tests.contains(&source.path) && !tests.iter().any(below)
    });
    kept
}

/// A module as it is declared: its name, or the path its attribute gives.
enum Module {
    Named(String),
    At(String),
}

fn without_tests(text: &str) -> (String, Vec<Module>) {
    let mut out = String::with_capacity(text.len());
    let mut modules = vec![];
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        out.push('\n');
        let indent = line.len() - line.trim_start().len();
        let closing = format!("{}}}", " ".repeat(indent));
        let mut path = None;
        for line in lines.by_ref() {
            out.push('\n');
            let item = line.trim();
            if let Some(rest) = item.strip_prefix("#[path = \"") {
                path = rest.split('"').next().map(str::to_owned);
            }
            let declared = ["mod ", "pub(crate) mod ", "pub(super) mod "];
            let declared = declared.iter().find_map(|prefix| item.strip_prefix(prefix));
            if let Some(name) = declared.and_then(|rest| rest.strip_suffix(';')) {
                modules.push(path.take().map_or_else(|| Module::Named(name.into()), Module::At));
            }
            let ends = item.ends_with(';') || item.ends_with(" {}") || item.ends_with(',');
            let at_the_edge = line.len() - line.trim_start().len() == indent;
            if line == closing || (ends && at_the_edge) {
                break;
            }
        }
    }
    (out, modules)
}

/// The file of a module that the file at `path` declares.
fn file_of(path: &str, module: &Module) -> String {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    match module {
        Module::At(given) => format!("{folder}/{given}"),
        Module::Named(name) if ["lib.rs", "main.rs", "mod.rs"].contains(&file) => {
            format!("{folder}/{name}.rs")
        }
        Module::Named(name) => format!("{}/{name}.rs", path.trim_end_matches(".rs")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::sources;

    #[test]
    fn tests_are_left_out_and_lines_stay_where_they_are() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {}\n";
        let (kept, _) = without_tests(text);
        assert_eq!(kept, "fn a() {}\n\n\n\n\n\nfn c() {}\n");
    }

    #[test]
    fn a_single_method_for_tests_ends_with_itself() {
        let text =
            "impl A {\n    #[cfg(test)]\n    fn b() {\n        c();\n    }\n    fn d() {}\n}\n";
        let (kept, _) = without_tests(text);
        assert_eq!(kept, "impl A {\n\n\n\n\n    fn d() {}\n}\n");
    }

    #[test]
    fn files_of_test_modules_are_left_out() {
        let files = sources(&[
            ("crates/kb/src/lib.rs", "#[cfg(test)]\nmod golden;\nmod a;\n"),
            ("crates/kb/src/golden.rs", "x\n"),
            ("crates/kb/src/a.rs", "#[cfg(test)]\n#[path = \"a_tests.rs\"]\nmod tests;\n"),
            ("crates/kb/src/a_tests.rs", "x\n"),
            ("crates/kb/src/b.rs", "#[cfg(test)]\npub(crate) mod tests;\n"),
            ("crates/kb/src/b/tests.rs", "x\n"),
            ("crates/kb/src/c/mod.rs", "#[cfg(test)]\nmod tests;\n"),
            ("crates/kb/src/c/tests/mod.rs", "mod odd;\n"),
            ("crates/kb/src/c/tests/odd.rs", "x\n"),
            ("crates/kb/tests/c.rs", "x\n"),
            ("crates/testkit/src/lib.rs", "x\n"),
        ]);
        let kept: Vec<String> = shipped(&files).into_iter().map(|s| s.path).collect();
        assert_eq!(
            kept,
            ["lib.rs", "a.rs", "b.rs", "c/mod.rs"].map(|file| format!("crates/kb/src/{file}"))
        );
    }
}
