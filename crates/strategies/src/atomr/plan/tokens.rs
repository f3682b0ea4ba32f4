//! References as plans write them: `[3]`, `[2.1]`, `[2, 3]`.
use std::ops::Range;

/// A bracket with the numbers in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// In bytes.
    pub(super) range: Range<usize>,
    /// As they are written, `2.1` too.
    pub(super) labels: Vec<String>,
}

/// Every bracket of a text that holds nothing but numbers.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut found = vec![];
    let mut at = 0;
    while let Some(start) = text[at..].find('[').map(|start| at + start) {
        at = start + 1;
        let Some(length) = text[at..].find([']', '[']) else { break };
        let inside = &text[at..at + length];
        if !text[at + length..].starts_with(']') {
            continue;
        }
        let plain = inside.replace(" and ", ",").replace(['&', ';'], ",");
        let labels: Vec<String> =
            plain.split(',').map(|label| without_zeros(label.trim()).to_owned()).collect();
        if labels.iter().all(|label| is_label(label)) {
            found.push(Token { range: start..at + length + 1, labels });
        }
        at += length;
    }
    found
}

fn is_label(label: &str) -> bool {
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    label.chars().all(|c| c.is_ascii_digit() || c == '.')
        && digit(label.chars().next())
        && digit(label.chars().next_back())
}

/// `03` is `3`, and `0.5` itself.
pub(super) fn without_zeros(digits: &str) -> &str {
    let mut short = digits;
    while let Some(rest) = short.strip_prefix('0') {
        if !rest.starts_with(|c: char| c.is_ascii_digit()) {
            break;
        }
        short = rest;
    }
    short
}

/// Whether a text is nothing but references: `[2]`, `[2] and [3]`.
pub(super) fn only(text: &str) -> bool {
    let found = tokens(text);
    let mut rest = String::new();
    let mut at = 0;
    for token in &found {
        rest.push_str(&text[at..token.range.start]);
        rest.push(' ');
        at = token.range.end;
    }
    rest.push_str(&text[at..]);
    !found.is_empty()
        && rest.replace("and", "").chars().all(|c| c.is_whitespace() || ",;&".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_of_numbers_are_references_and_others_are_not() {
        let labels =
            |text: &str| tokens(text).into_iter().map(|t| t.labels.join("|")).collect::<Vec<_>>();
        assert_eq!(
            labels("Who wrote [2.1] in [3]'s [4, 5] or [6 and 7]?"),
            ["2.1", "3", "4|5", "6|7"]
        );
        assert_eq!(labels("[END] [] [x] [1 [2] [.] [03] [0] é[1]"), ["2", "3", "0", "1"]);
        assert!(only("[1]") && only("[1] and [2]") && only("[1, 2], [3]"));
        assert!(!only("about [1]") && !only("") && !only("[x]"));
    }
}
