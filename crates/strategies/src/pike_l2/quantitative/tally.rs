//! What is computed over looked-up rows.
use halma_core::text::numbers::cardinal;
use halma_core::text::{Value, Words, value_at, words};
use serde::Deserialize;

use crate::pike_l2::comparative::Cell;

/// What is done with the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Operation {
    /// How many things have the value `yes`.
    Count,
    /// Which ones.
    List,
    Sum,
    Average,
    /// The thing with the largest number, or the latest date.
    Most,
    /// The thing with the smallest number, or the earliest date.
    Least,
}

impl Operation {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Count => "count of yes",
            Self::List => "things with yes",
            Self::Sum => "sum",
            Self::Average => "average",
            Self::Most => "the thing with the most",
            Self::Least => "the thing with the least",
        }
    }

    /// Whether the result is a number, and not things.
    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Count | Self::Sum | Self::Average)
    }
}

/// The result; empty where no row has a value for it.
pub(super) fn tally(operation: Operation, rows: &[Cell]) -> String {
    let says_yes = |row: &&Cell| words(&row.answer).first().is_some_and(|word| word == "yes");
    let agreed = || rows.iter().filter(says_yes).map(|row| row.thing.as_str());
    let valued = || rows.iter().filter_map(|row| Some((value(&row.answer)?, row.thing.as_str())));
    let numbers: Vec<f64> = valued().map(|(value, _)| value).collect();
    let sum: f64 = numbers.iter().sum();
    let thing = |best: Option<(f64, &str)>| best.map_or("", |(_, thing)| thing).to_owned();
    match operation {
        Operation::Count => agreed().count().to_string(),
        Operation::List => agreed().collect::<Vec<_>>().join(", "),
        Operation::Sum | Operation::Average if numbers.is_empty() => String::new(),
        Operation::Sum => sum.to_string(),
        #[expect(clippy::cast_precision_loss, reason = "a handful of rows")]
        Operation::Average => (sum / numbers.len() as f64).to_string(),
        Operation::Most => thing(valued().max_by(|a, b| a.0.total_cmp(&b.0))),
        Operation::Least => thing(valued().min_by(|a, b| a.0.total_cmp(&b.0))),
    }
}

/// Whether a text states a number, in digits or in words.
pub(crate) fn states_number(text: &str) -> bool {
    let is_number = |word: &String| word == "none" || cardinal(word).is_some();
    value(text).is_some() || words(text).first().is_some_and(is_number)
}

/// The first number or date of a text.
fn value(text: &str) -> Option<f64> {
    let text = Words::new(text);
    let (_, value) = (0..text.words.len()).find_map(|at| value_at(&text, at))?;
    Some(match value {
        Value::Date(value) | Value::Year(value) | Value::Number(value) => value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: &[(&str, &str)]) -> Vec<Cell> {
        let row = |(thing, answer): &(&str, &str)| Cell {
            answer: (*answer).to_owned(),
            ..Cell::new((*thing).to_owned(), String::new(), String::new())
        };
        values.iter().map(row).collect()
    }

    #[test]
    fn what_says_yes_is_counted_and_listed() {
        let rows =
            rows(&[("Varn", "Yes, in 1911"), ("Holm", "no"), ("Ness", ""), ("Skarv", "yes")]);
        assert_eq!(tally(Operation::Count, &rows), "2");
        assert_eq!(tally(Operation::List, &rows), "Varn, Skarv");
        assert_eq!(tally(Operation::Sum, &rows[1..3]), "");
    }

    #[test]
    fn an_adjective_or_a_name_is_not_a_number() {
        for text in ["8", "eight of them", "One", "1,200 passengers", "None.", "Zero"] {
            assert!(states_number(text), "{text}");
        }
        for text in ["Many", "no", "Varn", ""] {
            assert!(!states_number(text), "{text}");
        }
    }

    #[test]
    fn numbers_and_dates_are_compared_and_added() {
        let towers = rows(&[("Varn", "20 m"), ("Holm", "1,020.5 m"), ("Ness", ""), ("Skarv", "8")]);
        assert_eq!(tally(Operation::Sum, &towers), "1048.5");
        assert_eq!(tally(Operation::Average, &towers), "349.5");
        assert_eq!(tally(Operation::Most, &towers), "Holm");
        let opened = rows(&[("Varn", "8 June 1911"), ("Holm", "May 1911"), ("Ness", "1912")]);
        assert_eq!(tally(Operation::Least, &opened), "Holm");
        assert_eq!(tally(Operation::Most, &opened[..0]), "");
    }
}
