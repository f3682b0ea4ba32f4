//! Documents: every strategy has a page, every link leads to a file.
use std::collections::BTreeSet;

use crate::shipped::shipped;
use crate::tidy::{Source, Violation};

pub(crate) fn check(sources: &[Source]) -> Vec<Violation> {
    let mut violations = strategy_pages(sources);
    violations.extend(links(sources));
    violations
}

/// `docs/strategies/<name>.md` for each entry of the list of strategies.
fn strategy_pages(sources: &[Source]) -> Vec<Violation> {
    let pages: BTreeSet<&str> = sources.iter().map(|source| source.path.as_str()).collect();
    let mut violations = vec![];
    let code = shipped(sources);
    for source in code.iter().filter(|s| s.krate() == Some("strategies")) {
        for (name, line) in entries(&source.text) {
            let page = format!("docs/strategies/{name}.md");
            if !pages.contains(page.as_str()) {
                let what = format!("strategy `{name}` has no page");
                let hint = format!("write {page}: when, cost, example output, settings");
                violations.push(source.violation(line, what, &hint));
            }
        }
    }
    violations
}

/// The names in `Entry { name: "…"`, with their lines.
fn entries(text: &str) -> Vec<(&str, usize)> {
    let mut found = vec![];
    for (at, opening) in text.match_indices("Entry {") {
        let rest = text[at + opening.len()..].trim_start();
        let literal = rest.strip_prefix("name:").map(str::trim_start);
        if let Some((name, _)) =
            literal.and_then(|l| l.strip_prefix('"')).and_then(|l| l.split_once('"'))
        {
            found.push((name, text[..at].matches('\n').count() + 1));
        }
    }
    found
}

/// Relative links in Markdown that lead nowhere. The sample library is text to index, not docs.
fn links(sources: &[Source]) -> Vec<Violation> {
    let mut paths: BTreeSet<String> = BTreeSet::new();
    for source in sources {
        let mut path = source.path.as_str();
        paths.insert(path.to_owned());
        while let Some((folder, _)) = path.rsplit_once('/') {
            paths.insert(folder.to_owned());
            path = folder;
        }
    }
    let mut violations = vec![];
    let docs = |s: &&Source| s.is_markdown() && !s.path.starts_with("demo/library/");
    for source in sources.iter().filter(docs) {
        let mut fenced = false;
        for (index, line) in source.text.lines().enumerate() {
            fenced ^= line.trim_start().starts_with("```");
            for target in targets(line).into_iter().filter(|_| !fenced) {
                if !paths.contains(&resolved(&source.path, target)) {
                    let what = format!("the link to `{target}` leads nowhere");
                    violations.push(source.violation(index + 1, what, "correct the path"));
                }
            }
        }
    }
    violations
}

/// What the links of a line point to, without addresses and anchors.
fn targets(line: &str) -> Vec<&str> {
    let ends = line.match_indices("](").map(|(at, opening)| &line[at + opening.len()..]);
    let targets = ends.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let files = targets.map(|target| target.split('#').next().unwrap_or_default());
    files.filter(|target| !target.is_empty() && !target.contains("://")).collect()
}

fn resolved(from: &str, target: &str) -> String {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::{said, sources};

    fn violations(files: &[(&str, &str)]) -> Vec<String> {
        said(&check(&sources(files)))
    }

    #[test]
    fn a_strategy_without_a_page_is_found() {
        let code = "pub(crate) const ENTRY: Entry = Entry {\n    name: \"kar3\",\n};\n";
        let files = [("crates/strategies/src/kar3.rs", code)];
        let expected = ["crates/strategies/src/kar3.rs:1: strategy `kar3` has no page"];
        assert_eq!(violations(&files), expected);
        let with_page = [files[0], ("docs/strategies/kar3.md", "# kar3\n")];
        assert!(violations(&with_page).is_empty());
    }

    #[test]
    fn a_link_is_followed_from_where_it_stands() {
        let text = "[a](../a.md) [b](b.md#part) [c](https://example.org/x) [d](#here) [e](../adr)\n\
                    ```\n[f](nowhere.md)\n```\n";
        let files = [("docs/guide/x.md", text), ("docs/a.md", ""), ("docs/adr/1.md", "")];
        let expected = ["docs/guide/x.md:1: the link to `b.md` leads nowhere"];
        assert_eq!(violations(&files), expected);
    }
}
