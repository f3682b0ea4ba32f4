//! Names of documents as a user gives them: patterns, and what was probably meant.
use halma_core::text::similarity::letter_pairs;

/// At most this many names are proposed for one that is unknown.
const PROPOSED: usize = 3;

/// The least share of letter pairs that a proposed name has in common with the one asked for.
const ALIKE: f64 = 0.4;

/// Whether a name fits a pattern in which `*` stands for anything, nothing included.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// The names most like the one asked for, best first.
pub(crate) fn near<'a>(requested: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let requested = requested.to_lowercase();
    let alike = |name: &str| {
        let name = name.to_lowercase();
        if name.contains(&requested) { 1.0 } else { letter_pairs(&requested, &name) }
    };
    let mut alike: Vec<(f64, &str)> = names.map(|name| (alike(name), name)).collect();
    alike.retain(|(similarity, _)| *similarity >= ALIKE);
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    alike.truncate(PROPOSED);
    alike.into_iter().map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a pattern means, letter by letter.
    fn fits_slowly(pattern: &[char], name: &[char]) -> bool {
        match pattern {
            [] => name.is_empty(),
            ['*', rest @ ..] => (0..=name.len()).any(|at| fits_slowly(rest, &name[at..])),
            [c, rest @ ..] => name.first() == Some(c) && fits_slowly(rest, &name[1..]),
        }
    }

    proptest! {
        #[test]
        fn any_pattern_fits_what_it_means(pattern in "[ab\u{e4}*]{0,7}", name in "[ab\u{e4}]{0,8}") {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(fits(&pattern, &name), fits_slowly(&letters(&pattern), &letters(&name)));
        }
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text, expected) in [
            ("a.md", "a.md", true),
            ("a.md", "a.mdx", false),
            ("*.md", "sub/a.md", true),
            ("sub/*", "sub/a.md", true),
            ("s*a*d", "sub/a.md", true),
            ("*", "", true),
            ("", "a", false),
            ("a*a", "a", false),
            ("*.pdf", "a.md", false),
        ] {
            assert_eq!(fits(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name, expected) in [
            ("a.txt", "a.txt", true),
            ("a.txt", "a.txt2", false),
            ("*", "", true),
            ("*.txt", "dir/a.txt", true),
            ("*.txt", "a.txt.bak", false),
            ("notes/*", "notes/", true),
            ("a*b*c", "aXbYbc", true),
            ("a*b*c", "acb", false),
            ("aa*aa", "aaa", false),
            ("**é*", "xé", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_slip_is_set_right() {
        let names = ["film/jaws.md", "film/alien.md", "table.csv", "film/jaws2.md"];
        assert_eq!(near("film/jwas.md", names.into_iter())[0], "film/jaws.md");
        assert_eq!(near("jaws", names.into_iter())[0], "film/jaws.md");
        assert!(near("qqq", names.into_iter()).is_empty());
    }
}
