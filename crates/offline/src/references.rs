//! References to earlier answers in a question: `#1`, `[1]`, `<1>`.
use std::ops::Range;

/// A reference and the number, from 1, of what it refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) bytes: Range<usize>,
    pub(crate) number: usize,
}

/// The references of a text in order.
pub(crate) fn references(text: &str) -> Vec<Reference> {
    let mut references = vec![];
    for (at, open) in text.match_indices(['#', '[', '<']) {
        let digits = at + 1;
        let length = text[digits..].bytes().take_while(u8::is_ascii_digit).count();
        let end = digits + length;
        let close = match open {
            "#" => text[end..].chars().next().is_none_or(|c| !c.is_alphanumeric()).then_some(end),
            "[" => text[end..].starts_with(']').then_some(end + 1),
            _ => text[end..].starts_with('>').then_some(end + 1),
        };
        let number = text[digits..end].parse().ok().filter(|number| *number > 0);
        if let (Some(end), Some(number)) = (close, number) {
            references.push(Reference { bytes: at..end, number });
        }
    }
    references
}

/// The text with each reference replaced by the answer to it.
pub(crate) fn replace_references(text: &str, answer: impl Fn(usize) -> String) -> String {
    let mut out = String::new();
    let mut from = 0;
    for reference in references(text) {
        out.push_str(&text[from..reference.bytes.start]);
        out.push_str(&answer(reference.number));
        from = reference.bytes.end;
    }
    out.push_str(&text[from..]);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_notations_are_recognised() {
        let numbers = |text: &str| references(text).iter().map(|r| r.number).collect::<Vec<_>>();
        assert_eq!(numbers("Is #1 the father of [2] or <13>?"), [1, 2, 13]);
        assert_eq!(numbers("#0 #x [1 <2 ## [] #99999999999999999999999 C#"), [] as [usize; 0]);
        assert_eq!(numbers("#1's wife, #2b"), [1]);
    }

    #[test]
    fn each_is_replaced() {
        let text =
            replace_references("When did #2 leave [1] 's é?", |number| format!("X{number}"));
        assert_eq!(text, "When did X2 leave X1 's é?");
    }
}
