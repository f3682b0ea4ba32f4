//! The glossary of `STYLE.md`: retired words do not come back, and a type's name stands for few
//! things. The table there is the only list; what its third column names is checked.
use std::collections::BTreeMap;

use crate::lexer::code;
use crate::shipped::shipped;
use crate::tidy::{Source, Violation};

/// More types that other files can see cannot share a name.
const MOST_OF_ONE_NAME: usize = 3;

/// What a type is for a strategy, a prompt or a file of its own, not what it is about.
const ROLE_NAMES: &[&str] = &["Answer", "Reply", "Settings"];

/// Text that is not ours to word: decisions and news of the past, sample documents, generated
/// files, word lists, and the glossary itself.
const NOT_WORDED: &[&str] =
    &["STYLE.md", "LICENSE", "docs/adr/", "CHANGELOG.md", "demo/", "xtask/src/vocabulary.rs"];
const WORDED: &[&str] = &["rs", "md", "svelte", "ts", "mjs", "toml", "html"];

/// One line of the glossary.
struct Retired {
    word: String,
    instead: String,
    checked: Checked,
}

/// Where a retired word is looked for.
#[derive(Clone, Copy, PartialEq)]
enum Checked {
    /// What a line declares.
    Names,
    Text,
    All,
    /// Every identifier of code that is shipped.
    Identifiers,
}

pub(crate) fn check(sources: &[Source]) -> Vec<Violation> {
    let Some(style) = sources.iter().find(|source| source.path == "STYLE.md") else {
        return vec![];
    };
    let glossary = glossary(&style.text);
    let mut violations = vec![];
    for source in sources.iter().filter(|source| worded(source)) {
        for (index, line) in source.text.lines().enumerate() {
            for retired in glossary.iter().filter(|retired| used_in(retired, source, line)) {
                let what = format!("`{}` is retired (STYLE.md, Glossary)", retired.word);
                let hint = format!("use instead: {}", retired.instead);
                violations.push(source.violation(index + 1, what, &hint));
            }
        }
    }
    violations.extend(retired_identifiers(sources, &glossary));
    violations.extend(overused_names(sources));
    violations
}

/// The lines of the glossary's table that name where they are checked.
fn glossary(style: &str) -> Vec<Retired> {
    let table = style.split("## Glossary").nth(1).unwrap_or_default();
    let table = table.split("\n## ").next().unwrap_or_default();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let mut retired = vec![];
    for row in rows {
        let cells: Vec<&str> = row.split(" | ").collect();
        let [words, instead, checked] = cells[..] else { continue };
        let checked = match checked {
            "names" => Checked::Names,
            "text" => Checked::Text,
            "all" => Checked::All,
            "identifiers" => Checked::Identifiers,
            _ => continue,
        };
        for word in words.split(", ") {
            let word = word.split(" (").next().unwrap_or(word).trim_matches('`').to_owned();
            retired.push(Retired { word, instead: instead.to_owned(), checked });
        }
    }
    retired
}

fn worded(source: &Source) -> bool {
    let ours = !NOT_WORDED.iter().any(|path| source.path.starts_with(path));
    let built = source.path.contains("/dist/") || source.path.contains("/data/");
    let ending = source.path.rsplit('.').next().unwrap_or_default();
    ours && !built && WORDED.contains(&ending)
}

fn used_in(retired: &Retired, source: &Source, line: &str) -> bool {
    let code =
        source.is_rust() || [".ts", ".svelte", ".mjs"].iter().any(|e| source.path.ends_with(e));
    let in_text = [Checked::Text, Checked::All].contains(&retired.checked);
    let in_names = [Checked::Names, Checked::All].contains(&retired.checked);
    (in_text && phrase_in(&line.to_lowercase(), &retired.word.to_lowercase()))
        || (in_names && code && declared_in(line, &retired.word))
}

/// Retired words among the identifiers of what is shipped.
fn retired_identifiers(sources: &[Source], glossary: &[Retired]) -> Vec<Violation> {
    let mut violations = vec![];
    for source in shipped(sources) {
        for (index, line) in code(&source.text).split(['\n', '\r']).enumerate() {
            let names: Vec<_> = line.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            let used = |retired: &&Retired| {
                retired.checked == Checked::Identifiers && names.contains(&retired.word.as_str())
            };
            if let Some(retired) = glossary.iter().find(used) {
                let what = format!("`{}` is retired as a name (STYLE.md, Glossary)", retired.word);
                let hint = format!("use instead: {}", retired.instead);
                violations.push(source.violation(index + 1, what, &hint));
            }
        }
    }
    violations
}

/// Whether the words stand in the line by themselves, not inside another word or name.
fn phrase_in(line: &str, phrase: &str) -> bool {
    let joined = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "_-".contains(c));
    line.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + phrase.len()..]);
        !joined(before.chars().next_back()) && !joined(after.chars().next())
    })
}

/// Whether the line declares a type, a function, a module or a variable of this name.
fn declared_in(line: &str, name: &str) -> bool {
    let declared = |(keyword, declared): (&str, &str)| !keyword.is_empty() && declared == name;
    declarations(line).into_iter().any(declared)
}

/// (keyword, name) of what a line declares.
fn declarations(line: &str) -> Vec<(&str, &str)> {
    const KEYWORDS: [&str; 8] =
        ["struct", "enum", "type", "trait", "interface", "fn", "mod", "let"];
    let code = line.split("//").next().unwrap_or(line);
    let mut words =
        code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty());
    let mut found = vec![];
    while let Some(word) = words.next() {
        if KEYWORDS.contains(&word) {
            let name = words.find(|next| *next != "mut").unwrap_or_default();
            found.push((word, name));
        }
    }
    found
}

/// Names that more types bear than a reader can distinguish.
fn overused_names(sources: &[Source]) -> Vec<Violation> {
    let code = shipped(sources);
    let mut types: BTreeMap<&str, Vec<(&Source, usize)>> = BTreeMap::new();
    for source in &code {
        for (index, line) in source.text.lines().enumerate() {
            // A private type is met where it stands only.
            let visible = line.starts_with("pub");
            let named = declarations(line).into_iter().filter(|(keyword, name)| {
                ["struct", "enum", "trait"].contains(keyword) && !ROLE_NAMES.contains(name)
            });
            for (_, name) in named.filter(|_| visible) {
                types.entry(name).or_default().push((source, index + 1));
            }
        }
    }
    let mut violations = vec![];
    for (name, places) in types.iter().filter(|(_, places)| places.len() > MOST_OF_ONE_NAME) {
        let (source, line) = places[MOST_OF_ONE_NAME];
        let what = format!("{} types are called `{name}`", places.len());
        violations.push(source.violation(line, what, "name each by what it is in this field"));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::{said, sources};

    const STYLE: &str = "## Glossary\n\n| retired | use instead | checked in |\n|---|---|---|\n\
        | `Asked` | `AskResult` | names |\n| dear (costly), anew | expensive | text |\n\
        | `held` | `rows` | identifiers |\n\
        | the truth | the store | – |\n\n## Next\n| `Other` | x | names |\n";

    fn violations(path: &str, text: &str) -> Vec<String> {
        said(&check(&sources(&[("STYLE.md", STYLE), (path, text)])))
    }

    #[test]
    fn a_retired_name_is_found_where_it_is_declared() {
        let expected = ["crates/kb/src/a.rs:1: `Asked` is retired (STYLE.md, Glossary)"];
        assert_eq!(violations("crates/kb/src/a.rs", "pub struct Asked;\n// Asked\n"), expected);
        assert!(
            violations("crates/kb/src/a.rs", "struct AskedBefore;\nlet other = 1;\n").is_empty()
        );
    }

    #[test]
    fn a_retired_word_is_found_in_any_text_but_not_inside_another() {
        let expected = ["docs/a.md:1: `dear` is retired (STYLE.md, Glossary)"];
        assert_eq!(violations("docs/a.md", "A Dear call.\nShe endears the truth.\n"), expected);
        assert_eq!(violations("crates/kb/src/a.rs", "// Read it anew.\n").len(), 1);
        assert!(violations("docs/adr/0001-a.md", "A dear call.\n").is_empty());
    }

    #[test]
    fn a_retired_identifier_is_found_in_shipped_code_alone() {
        let text = "// held\nfn a(held: u8) { b(\"held\", held_out); }\n\
            #[cfg(test)]\nmod tests {\n    fn held() {}\n}\n";
        let expected = ["crates/kb/src/a.rs:2: `held` is retired as a name (STYLE.md, Glossary)"];
        assert_eq!(violations("crates/kb/src/a.rs", text), expected);
    }

    #[test]
    fn a_name_stands_for_few_types() {
        let four: Vec<(String, &str)> =
            (0..4).map(|i| (format!("crates/kb/src/{i}.rs"), "pub struct Kind;\n")).collect();
        let mut files = vec![("STYLE.md", STYLE)];
        files.extend(four.iter().map(|(path, text)| (path.as_str(), *text)));
        let found = said(&check(&sources(&files)));
        assert_eq!(found, ["crates/kb/src/3.rs:1: 4 types are called `Kind`"]);
        assert!(said(&check(&sources(&files[..4]))).is_empty());
    }
}
