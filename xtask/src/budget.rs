//! Lines of production code of each crate against `xtask/budget.toml`, whose numbers only fall.
use std::collections::BTreeMap;

use crate::lexer::code;
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
        *lines.entry(name.unwrap_or_default()).or_default() +=
            code(&source.text).lines().filter(|line| !line.trim().is_empty()).count();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::sources;

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
