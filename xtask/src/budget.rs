//! Lines of production code of each crate against `xtask/budget.toml`, whose numbers only fall.
use std::collections::BTreeMap;

use crate::shipped::shipped;
use crate::tidy::{Source, Violation};

const FILE: &str = "xtask/budget.toml";

/// A number may be so many lines above the count before it must be lowered.
const SLACK: usize = 100;

/// More lines than the budget has, and more in the budget than there are.
pub(crate) fn check(sources: &[Source]) -> Vec<Violation> {
    let Some(budget) = sources.iter().find(|source| source.path == FILE) else { return vec![] };
    let lines = count(sources);
    let mut violations = vec![];
    let mut named = vec![];
    for (index, line) in budget.text.lines().enumerate() {
        let Some((name, number)) = line.split_once(" = ") else { continue };
        let (name, most) = (name.trim(), number.trim().parse::<usize>().unwrap_or(0));
        named.push(name);
        let now = lines.get(name).copied().unwrap_or(0);
        if now > most || now + SLACK < most {
            let hint = if now > most {
                "remove as many lines as you add: the number is not raised"
            } else {
                "lower the number"
            };
            let what = format!("`{name}` has {now} production lines, {most} here");
            violations.push(budget.violation(index + 1, what, hint));
        }
    }
    for (name, now) in lines.iter().filter(|(name, _)| !named.contains(name)) {
        let what = format!("`{name}` has {now} production lines and no number");
        violations.push(budget.violation(1, what, "take the lines from another crate"));
    }
    violations
}

/// Production lines of each crate: what is compiled into the program, without blank lines and
/// comments.
fn count(sources: &[Source]) -> BTreeMap<&str, usize> {
    let mut lines = BTreeMap::new();
    for source in shipped(sources) {
        let name = sources.iter().find(|other| other.path == source.path).and_then(Source::krate);
        *lines.entry(name.unwrap_or_default()).or_default() += code_lines(&source.text);
    }
    lines
}

/// Where a character stands.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Code,
    LineComment,
    /// How many comments are open.
    BlockComment(usize),
    Text,
    /// With the number of `#` that close it.
    RawText(usize),
}

/// Lines with anything but white space and comments.
fn code_lines(text: &str) -> usize {
    let mut place = Place::Code;
    let mut lines = 0;
    let mut is_code = false;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text.as_bytes()[at..];
        let mut step = 1;
        if rest[0] == b'\n' {
            lines += usize::from(is_code);
            is_code = false;
            if place == Place::LineComment {
                place = Place::Code;
            }
            at += 1;
            continue;
        }
        (place, step) = match place {
            Place::Code if rest.starts_with(b"//") => (Place::LineComment, 2),
            Place::Code if rest.starts_with(b"/*") => (Place::BlockComment(1), 2),
            Place::BlockComment(1) if rest.starts_with(b"*/") => (Place::Code, 2),
            Place::BlockComment(open) if rest.starts_with(b"*/") => {
                (Place::BlockComment(open - 1), 2)
            }
            Place::BlockComment(open) if rest.starts_with(b"/*") => {
                (Place::BlockComment(open + 1), 2)
            }
            Place::LineComment | Place::BlockComment(_) => (place, step),
            other => {
                is_code |= !rest[0].is_ascii_whitespace();
                in_code(other, rest)
            }
        };
        at += step;
    }
    lines + usize::from(is_code)
}

/// Where the next character stands, and how far it is.
fn in_code(place: Place, rest: &[u8]) -> (Place, usize) {
    match place {
        Place::Text if rest[0] == b'\\' => (Place::Text, 2.min(rest.len())),
        Place::Text if rest[0] == b'"' => (Place::Code, 1),
        Place::RawText(marks) if rest[0] == b'"' => {
            let closed = rest[1..].iter().take_while(|byte| **byte == b'#').count() >= marks;
            if closed { (Place::Code, 1 + marks) } else { (place, 1) }
        }
        Place::Code if rest.starts_with(b"r\"") || rest.starts_with(b"r#") => {
            let marks = rest[1..].iter().take_while(|byte| **byte == b'#').count();
            match rest.get(1 + marks) {
                Some(b'"') => (Place::RawText(marks), 2 + marks),
                _ => (Place::Code, 1),
            }
        }
        // A quotation mark as a character is none.
        Place::Code if rest.starts_with(b"'\"'") => (Place::Code, 3),
        Place::Code if rest.starts_with(b"'\\\"'") => (Place::Code, 4),
        Place::Code if rest[0] == b'"' => (Place::Text, 1),
        place => (place, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::sources;

    #[test]
    fn comments_and_blank_lines_are_no_code() {
        let text = "//! What.\n\nfn a() { // why\n    /* one\n    /* two */ */ b();\n}\n";
        assert_eq!(code_lines(text), 3);
        let texts =
            "let a = \"// no\n// comment \\\" \";\nlet b = r#\"/* \"\n// c\n\"#;\n'\"'\n// d\n";
        assert_eq!(code_lines(texts), 6);
    }

    #[test]
    fn a_crate_has_as_many_lines_as_its_number() {
        let files = |number: &str| {
            sources(&[
                ("crates/kb/src/lib.rs", "fn a() {}\n// b\n#[cfg(test)]\nmod tests {\n}\n"),
                (FILE, number),
            ])
        };
        assert_eq!(check(&files("kb = 1\n")), []);
        for (number, hint) in [("kb = 0\n", "remove"), ("kb = 102\n", "lower"), ("\n", "take")] {
            let violations = check(&files(number));
            assert!(violations.len() == 1 && violations[0].hint.starts_with(hint), "{number}");
        }
    }
}
