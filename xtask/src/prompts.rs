//! Prompt files and the constants that ask with them are one set; a file declares exactly the
//! variables it uses. (Every file below `prompts/` of a crate is compiled in.)
use std::collections::{BTreeMap, BTreeSet};

use minijinja::Environment;

use crate::shipped::shipped;
use crate::tidy::{Source, Violation};

/// Prompts that a crate asks with by name, not through a constant, and parts of prompts.
const USED_BY_NAME: &[&str] = &["reply/repair", "part/answer_form", "part/choices"];

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
        violations.extend(variables(source));
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

/// Compares the declared variables with the used ones, role by role as the engine splits them.
fn variables(source: &Source) -> Vec<Violation> {
    let lines: Vec<&str> = source.text.lines().collect();
    let hint = "a prompt file begins with `---`, its front matter and `---`";
    let Some(end) = (lines.first() == Some(&"---"))
        .then(|| lines.iter().skip(1).position(|line| *line == "---"))
        .flatten()
    else {
        return vec![source.violation(1, "there is no front matter".into(), hint)];
    };
    let (front, body) = (&lines[1..=end], &lines[end + 2..]);
    let declared = match declared(front) {
        Ok(declared) => declared,
        Err(what) => return vec![source.violation(1, what, "write `variables: [\"question\"]`")],
    };
    let mut used = BTreeSet::new();
    for (template, line) in sections(body, end + 2) {
        match undeclared(&template) {
            Ok(names) => used.extend(names),
            Err(what) => return vec![source.violation(line, what, "correct the template")],
        }
    }
    used.extend(images(front));
    let mut violations = vec![];
    for name in used.difference(&declared) {
        let line = lines.iter().position(|line| line.contains(name.as_str())).unwrap_or(0) + 1;
        let what = format!("variable `{name}` is used and not declared");
        violations.push(source.violation(line, what, "add it to `variables`"));
    }
    for name in declared.difference(&used) {
        let what = format!("variable `{name}` is declared and not used");
        violations.push(source.violation(1, what, "use it or remove it from `variables`"));
    }
    violations
}

fn declared(front: &[&str]) -> Result<BTreeSet<String>, String> {
    let line = front.iter().find_map(|line| line.trim().strip_prefix("variables:"));
    let line = line.ok_or("the front matter declares no `variables`")?;
    serde_json::from_str(line.trim())
        .map_err(|e| format!("`variables` is not a list of names: {e}"))
}

/// The text of each role with the number of lines before it.
fn sections(body: &[&str], before: usize) -> Vec<(String, usize)> {
    let mut sections = vec![(String::new(), before + 1)];
    for (index, line) in body.iter().enumerate() {
        if ["## system", "## user", "## assistant"].contains(&line.trim_end()) {
            sections.push((String::new(), before + index + 2));
        } else if let Some((text, _)) = sections.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    sections
}

fn undeclared(template: &str) -> Result<Vec<String>, String> {
    let environment = Environment::new();
    let globals: Vec<&str> = environment.globals().map(|(name, _)| name).collect();
    let compiled = environment.template_from_str(template).map_err(|e| e.to_string())?;
    let names = compiled.undeclared_variables(false).into_iter();
    Ok(names.filter(|name| !globals.contains(&name.as_str())).collect())
}

/// Variables that are images: they are attached to the last message, not put into a template.
fn images(front: &[&str]) -> Vec<String> {
    let listed = front.iter().find_map(|line| line.strip_prefix("images:"));
    let names = listed.and_then(|list| serde_json::from_str(list.trim()).ok());
    names.unwrap_or_default()
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

    #[test]
    fn a_misspelt_variable_is_found_with_its_line() {
        let file = FILE.replace("question.text", "qestion.text");
        assert_eq!(
            violations(&[("crates/kb/prompts/a/b.md", &file), ("crates/kb/src/lib.rs", CODE)]),
            [
                "crates/kb/prompts/a/b.md:7: variable `qestion` is used and not declared",
                "crates/kb/prompts/a/b.md:1: variable `question` is declared and not used",
            ]
        );
    }

    #[test]
    fn loop_variables_and_functions_are_not_declared() {
        let body = "{% for hit in question %}{{ loop.index }} {{ hit }} {{ range(3) }}{% endfor %}";
        assert_eq!(undeclared(body).unwrap(), ["question"]);
    }

    #[test]
    fn a_broken_template_or_front_matter_is_named() {
        let broken = FILE.replace("}}", "}");
        let files = [("crates/kb/prompts/a/b.md", &*broken), ("crates/kb/src/lib.rs", CODE)];
        assert!(violations(&files)[0].starts_with("crates/kb/prompts/a/b.md:7: syntax error"));
        let bare = [("crates/kb/prompts/a/b.md", "hello\n"), ("crates/kb/src/lib.rs", CODE)];
        assert_eq!(violations(&bare), ["crates/kb/prompts/a/b.md:1: there is no front matter"]);
    }
}
