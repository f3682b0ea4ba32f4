//! Conditions that are comparisons: `founded before 1050`, `population over 5000`.
use halma_core::Tail;
use halma_core::text::{content_words, is_stop_word, words};

const BELOW: &[&str] = &["before", "below", "under", "less", "fewer", "smaller", "earlier"];
const ABOVE: &[&str] = &["after", "above", "over", "more", "greater", "larger", "later"];

/// A relation's words, a number or the beginning of a date, and on which side of it a value is to
/// be; on neither it has to be the value or begin with it.
pub(super) struct Condition {
    relation: Vec<String>,
    side: std::cmp::Ordering,
    value: String,
}

impl Condition {
    pub(super) fn of(text: &str) -> Option<Self> {
        let numeral = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
        let value = text.split_whitespace().rev().find(numeral)?;
        let value = value.trim_end_matches(|c: char| !c.is_ascii_digit()).to_owned();
        let said = words(text);
        let has = |side: &[&str]| said.iter().any(|word| side.contains(&word.as_str()));
        let side = match (has(BELOW), has(ABOVE)) {
            (true, _) => std::cmp::Ordering::Less,
            (_, true) => std::cmp::Ordering::Greater,
            _ => std::cmp::Ordering::Equal,
        };
        let sided =
            |word: &String| BELOW.contains(&word.as_str()) || ABOVE.contains(&word.as_str());
        let numbers = words(&value);
        let relation = said
            .into_iter()
            .filter(|word| !is_stop_word(word) && !sided(word) && !numbers.contains(word))
            .collect();
        Some(Self { relation, side, value })
    }

    pub(super) fn is_about(&self, relation: &str) -> bool {
        content_words(relation).iter().any(|word| self.relation.contains(word))
    }

    pub(super) fn is_met_by(&self, relation: &str, tail: &Tail) -> bool {
        let Tail::Value(value) = tail else { return false };
        let order = match (value.text.parse::<f64>(), self.value.parse::<f64>()) {
            (Ok(actual), Ok(wanted)) => actual.total_cmp(&wanted),
            // Dates as texts: `1911-05` lies in `1911`.
            _ if value.text.starts_with(&self.value) => std::cmp::Ordering::Equal,
            _ => value.text.cmp(&self.value),
        };
        self.is_about(relation) && order == self.side
    }
}
