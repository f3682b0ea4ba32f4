//! References in a question to the answers of others: `#2`, `<2>` and `[2]` stand for the answer to
//! the second, `[2, 3]` for those to several.
use std::ops::Range;

/// What replaces a reference that has no answer: a word that searches ignore.
pub(crate) const UNKNOWN: &str = "it";

/// A reference as it stands in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    /// In bytes.
    pub(crate) range: Range<usize>,
    /// The numbers as they are written, without leading zeros: never empty, several in `[2, 3]`.
    pub(crate) labels: Vec<String>,
}

impl Reference {
    /// The number of a reference to one answer, from 1; `[2.1]` and `[2, 3]` have none.
    pub(crate) fn number(&self) -> Option<usize> {
        match self.labels.as_slice() {
            [label] => label.parse().ok(),
            _ => None,
        }
    }
}

/// All references of a text, in their order.
pub(crate) fn references(text: &str) -> Vec<Reference> {
    text.match_indices(['#', '<', '[']).filter_map(|(start, _)| reference(text, start)).collect()
}

/// The reference at a position of a text. Looked at is what stands up to its end or, in brackets, up
/// to the next bracket.
fn reference(text: &str, start: usize) -> Option<Reference> {
    let open = text[start..].chars().next()?;
    let rest = &text[start + open.len_utf8()..];
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let inside = match open {
        '#' => {
            // `C#7` and `#2nd` are words.
            let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            let apart =
                !word(text[..start].chars().next_back()) && !word(rest[digits..].chars().next());
            Some(&rest[..digits]).filter(|_| apart)
        }
        '<' => Some(&rest[..digits]).filter(|_| rest[digits..].starts_with('>')),
        '[' => rest
            .find([']', '['])
            .map(|end| &rest[..end])
            .filter(|inside| rest[inside.len()..].starts_with(']')),
        _ => None,
    };
    let inside = inside?;
    let labels = labels(inside);
    let close = usize::from(open != '#');
    let range = start..start + 1 + inside.len() + close;
    (!labels.is_empty()).then_some(Reference { range, labels })
}

/// The numbers in a bracket that holds nothing else.
fn labels(inside: &str) -> Vec<String> {
    let plain = inside.replace(" and ", ",").replace(['&', ';'], ",");
    let labels = plain.split(',').map(|label| without_zeros(label.trim()).to_owned());
    let labels: Vec<String> = labels.collect();
    if labels.iter().all(|label| is_label(label)) { labels } else { vec![] }
}

fn is_label(label: &str) -> bool {
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    label.chars().all(|c| c.is_ascii_digit() || c == '.')
        && digit(label.chars().next())
        && digit(label.chars().next_back())
}

/// `03` is `3`, and `0.5` itself.
pub(crate) fn without_zeros(digits: &str) -> &str {
    let kept = digits.trim_start_matches('0');
    if kept.starts_with(|c: char| c.is_ascii_digit()) {
        return kept;
    }
    // One zero stays before a point and by itself.
    if kept.len() < digits.len() { &digits[digits.len() - kept.len() - 1..] } else { digits }
}

/// The text with references replaced: `by` is given which one of the text it is, and the reference;
/// where it returns `None` the reference stays.
pub(crate) fn replace(text: &str, by: impl Fn(usize, &Reference) -> Option<String>) -> String {
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for (which, reference) in references(text).into_iter().enumerate() {
        if let Some(word) = by(which, &reference) {
            out.push_str(&text[at..reference.range.start]);
            out.push_str(&word);
            at = reference.range.end;
        }
    }
    out.push_str(&text[at..]);
    out
}

/// The numbers that are written like references in the given questions themselves and therefore are
/// not references in their sub-questions: `the #1 hit of 1999`.
pub(crate) fn literal_numbers(questions: &[&str]) -> Vec<usize> {
    let numbers = |text: &&str| references(text).into_iter().filter_map(|one| one.number());
    questions.iter().flat_map(numbers).collect()
}

/// The sub-question with answers in place of its references; `answer` gives that of the k-th
/// sub-question, empty where there is none.
pub(crate) fn fill<'a>(
    sub_question: &str,
    question: &str,
    answer: impl Fn(usize) -> &'a str,
) -> String {
    let literal = literal_numbers(&[question]);
    replace(sub_question, |_, reference| {
        let number = reference.number().filter(|number| !literal.contains(number))?;
        let answer = Some(answer(number)).filter(|answer| !answer.is_empty());
        Some(answer.unwrap_or(UNKNOWN).to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_brackets_are_references_and_words_are_not() {
        let labels = |text: &str| {
            references(text).into_iter().map(|one| one.labels.join("|")).collect::<Vec<_>>()
        };
        assert_eq!(
            labels("Who wrote [2.1] in [3]'s [4, 5] or [6 and 7]?"),
            ["2.1", "3", "4|5", "6|7"]
        );
        assert_eq!(labels("[END] [] [x] [1 [2] [.] [03] [0] é[1]"), ["2", "3", "0", "1"]);
        assert_eq!(labels("(#1's) é #2 <03>, <2.1> <2, 3>"), ["1", "2", "3"]);
        assert!(references("C#7, #, #x, #2nd, <b>, [], <2, # 3").is_empty());
        let huge = references("#99999999999999999999999");
        assert_eq!(huge.first().and_then(Reference::number), None);
        assert_eq!(["00", "0.5", "007", "10"].map(without_zeros), ["0", "0.5", "7", "10"]);
    }

    #[test]
    fn a_reference_without_an_answer_becomes_it() {
        assert_eq!(fill("C#1, #1st and #1", "", |_| "Oslo"), "C#1, #1st and Oslo");
        let oslo = |number| if number == 1 { "Oslo" } else { "" };
        assert_eq!(fill("Is #1 in #2?", "", oslo), "Is Oslo in it?");
        assert_eq!(fill("Is #1 the #2 hit?", "Who had the #2 hit?", oslo), "Is Oslo the #2 hit?");
    }
}
