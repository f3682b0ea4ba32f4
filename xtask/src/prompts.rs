//! Prompt files and the constants that ask with them are one set. (Every file below `prompts/` of a
//! crate is compiled in. That it declares exactly the variables it uses is checked when it is loaded.)
use std::collections::{BTreeMap, BTreeSet};

use crate::shipped::shipped;
use crate::tidy::{Source, Violation};

/// Prompts that a crate asks with by name, not through a constant, and parts of prompts.
const USED_BY_NAME: &[&str] = &[
    "reply/repair",
    "part/answer_form",
    "part/choices",
    "part/passages",
    "part/question",
    "part/unanswered",
    "part/unknown",
];

/// Where a name stands: file and line.
type Places<'a> = BTreeMap<String, (&'a Source, usize)>;

pub(crate) fn check(sources: &[Source]) -> Vec<Violation> {
    let crates: BTreeSet<&str> = sources.iter().filter_map(Source::krate).collect();
    let code = shipped(sources);
    let mut violations = vec![];
    for krate in crates {
        let files = sources.iter().filter(|s| s.is_markdown());
        let own = files.chain(&code).filter(|s| s.krate() == Some(krate));
        violations.extend(check_crate(krate, &own.collect::<Vec<_>>()));
    }
    violations
}

fn check_crate(krate: &str, sources: &[&Source]) -> Vec<Violation> {
    let folder = format!("crates/{krate}/prompts/");
    let (mut files, mut asked) = (Places::new(), Places::new());
    for source in sources {
        if let Some(name) = source.path.strip_prefix(&folder).and_then(|p| p.strip_suffix(".md")) {
            files.insert(name.to_owned(), (source, 1));
        }
        if source.is_rust() {
            let names = names_after(&source.text, CONSTANTS).into_iter();
            asked.extend(names.map(|(name, line)| (name, (*source, line))));
        }
    }
    let mut violations = vec![];
    for (name, (source, line)) in &files {
        // Worked examples are of the prompt next to them, and have no front matter.
        if let Some(prompt) = name.strip_suffix(".demonstrations") {
            if !files.contains_key(prompt) {
                let what = format!("there is no prompt `{prompt}` for these demonstrations");
                violations.push(source.violation(*line, what, "name the file after its prompt"));
            }
            continue;
        }
        if !asked.contains_key(name) && !USED_BY_NAME.contains(&name.as_str()) {
            let what = format!("no `Prompt` constant asks with `{name}`");
            violations.push(source.violation(*line, what, "add the constant or delete the file"));
        }
    }
    for (name, (source, line)) in asked.iter().filter(|(name, _)| !files.contains_key(*name)) {
        let what = format!("there is no prompt file `{name}`");
        let hint = format!("write crates/{krate}/prompts/{name}.md or correct the name");
        violations.push(source.violation(*line, what, &hint));
    }
    violations
}

/// What stands before a prompt's name where it is asked with.
const CONSTANTS: &[&str] =
    &["Prompt::json(~", "Prompt::text(~", "Prompt::lines(~", "Prompt~{~name:~"];

/// The string literals that follow one of the patterns, with their lines.
fn names_after(code: &str, patterns: &[&str]) -> Vec<(String, usize)> {
    let mut found = vec![];
    for pattern in patterns {
        let mut pieces = pattern.split('~');
        let first = pieces.next().unwrap_or_default();
        let rest: Vec<&str> = pieces.collect();
        for (at, _) in code.match_indices(first) {
            let mut tail = Some(&code[at + first.len()..]);
            for piece in &rest {
                tail = tail.and_then(|tail| tail.trim_start().strip_prefix(piece));
            }
            let literal = tail.and_then(|tail| tail.strip_prefix('"'));
            if let Some((name, _)) = literal.and_then(|literal| literal.split_once('"')) {
                found.push((name.to_owned(), code[..at].matches('\n').count() + 1));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::{said, sources};

    const FILE: &str = "---\ntask: read\nrole: reader\nvariables: [\"question\"]\n---\n\
                        ## user\n{{ question.text }}\n";
    const CODE: &str = "const ANSWER: Prompt<R> = Prompt::json(\"a/b\");\n";

    fn violations(files: &[(&str, &str)]) -> Vec<String> {
        said(&check(&sources(files)))
    }

    #[test]
    fn a_file_that_is_asked_with_is_fine() {
        let files = [("crates/kb/prompts/a/b.md", FILE), ("crates/kb/src/lib.rs", CODE)];
        assert!(violations(&files).is_empty());
    }

    #[test]
    fn a_file_that_no_constant_names_is_found() {
        assert_eq!(
            violations(&[("crates/kb/prompts/a/b.md", FILE)]),
            ["crates/kb/prompts/a/b.md:1: no `Prompt` constant asks with `a/b`"]
        );
    }

    #[test]
    fn a_name_without_a_file_is_found_where_it_stands() {
        assert_eq!(
            violations(&[("crates/kb/src/lib.rs", CODE)]),
            ["crates/kb/src/lib.rs:1: there is no prompt file `a/b`"]
        );
    }

    #[test]
    fn a_name_in_a_test_is_not_a_constant() {
        let code = "fn f() {}\n#[cfg(test)]\nmod tests { const P: X = Prompt::text(\"x/y\"); }\n";
        assert!(violations(&[("crates/kb/src/lib.rs", code)]).is_empty());
    }

    #[test]
    fn a_crate_has_its_own_files_only() {
        let files = [("crates/kb/prompts/a/b.md", FILE), ("crates/eval/src/lib.rs", CODE)];
        assert_eq!(violations(&files).len(), 2);
    }
}
