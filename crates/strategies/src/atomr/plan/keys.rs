//! The keys of a plan: their numbers, and which of them a listed question is.
use halma_core::text::words;

use super::tokens::without_zeros;

/// A number as a plan writes it (`3`, `2.1`) and the question after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) label: Option<String>,
    pub(super) question: String,
}

/// How the numbers of a plan stand before its questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `3. Who…`, `3) Who…`, `2.1 Who…`
    Plain,
    /// `[3] Who…`, `Q3: Who…`, `3 Who…`; only where no key is plain, since a question may begin
    /// with a number or a reference.
    Loose,
}

impl Style {
    pub(super) fn of<'a>(mut keys: impl Iterator<Item = &'a str>) -> Self {
        let plain = keys.any(|key| Self::Plain.read(key).label.is_some());
        if plain { Self::Plain } else { Self::Loose }
    }

    pub(super) fn read(self, text: &str) -> Key {
        let text = text.trim();
        let start = match self {
            Self::Plain => text,
            Self::Loose => text.trim_start_matches(['[', '(', '<', '#', 'Q', 'q']),
        };
        let rest = start.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let written = &start[..start.len() - rest.len()];
        let label = written.trim_matches('.');
        let question = rest.trim_start_matches([')', ':', ']', '>', '-']).trim_start();
        let ended = written.ends_with('.') || rest.starts_with([')', ':']);
        // `2.5 million people?` has no number, `2.1 Who?` has.
        let several = label.contains('.') && !question.starts_with(char::is_lowercase);
        let numbered = match self {
            Self::Plain => ended || several,
            Self::Loose => {
                rest.starts_with([']', '>', ')', ':', '.', ' ']) || start.len() < text.len()
            }
        };
        if !label.is_empty() && label.len() < 8 && numbered && !question.is_empty() {
            let parts: Vec<&str> = label.split('.').map(without_zeros).collect();
            return Key { label: Some(parts.join(".")), question: question.to_owned() };
        }
        Key { label: None, question: text.to_owned() }
    }
}

/// Which entry a listed text is: its literal key, else a free one of the same words, of the same
/// number, or of the same words but for the number.
pub(super) fn place(
    text: &str,
    style: Style,
    keys: &[(String, Key)],
    free: impl Fn(usize) -> bool,
) -> Option<usize> {
    let text = text.trim();
    if let Some(literal) = keys.iter().position(|(key, _)| key.trim() == text) {
        return Some(literal);
    }
    let only = |fits: &dyn Fn(&(String, Key)) -> bool| {
        let mut found = (0..keys.len()).filter(|at| fits(&keys[*at]) && free(*at));
        found.next().filter(|_| found.next().is_none())
    };
    let read = style.read(text);
    let said = words(text);
    let question = words(&read.question);
    let number = text.trim_matches(['[', ']']);
    only(&|(key, _)| words(key) == said)
        .or_else(|| only(&|(_, key)| key.label.is_some() && key.label == read.label))
        .or_else(|| only(&|(_, key)| key.label.as_deref() == Some(number)))
        .or_else(|| only(&|(_, key)| !question.is_empty() && words(&key.question) == question))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_from_questions_that_begin_with_one() {
        let read = |style: Style, text: &str| style.read(text).label.unwrap_or_default();
        for (text, label) in [
            ("3. Who?", "3"),
            ("2.1 Who wrote [2.1]?", "2.1"),
            ("2.1. Who?", "2.1"),
            ("12) Who?", "12"),
            ("03.Who?", "3"),
            ("1990 World Cup winner?", ""),
            ("Who?", ""),
            ("[1] was born where?", ""),
            ("3.", ""),
        ] {
            assert_eq!(read(Style::Plain, text), label, "{text}");
        }
        for (text, label) in [("[1] Who?", "1"), ("Q2: Who?", "2"), ("4 Who?", "4"), ("Quit?", "")]
        {
            assert_eq!(read(Style::Loose, text), label, "{text}");
        }
    }
}
