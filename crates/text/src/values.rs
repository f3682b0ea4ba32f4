//! Dates and numbers in a sentence, with values that can be compared.
use std::ops::Range;

use crate::dates::{century, month_number};
use crate::numbers::cardinal;
use crate::words::{Shape, Words};

/// Words of amounts that are not the name of a number.
const AMOUNTS: &[(&str, u32)] = &[("once", 1), ("twice", 2), ("dozen", 12), ("hundred", 100)];

const MAGNITUDES: &[(&str, f64)] =
    &[("hundred", 1e2), ("thousand", 1e3), ("million", 1e6), ("billion", 1e9), ("trillion", 1e12)];

/// What a run of words stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A day or a month of a year, as `year + fraction`.
    Date(f64),
    /// A year, a decade or a century, as the year it begins with.
    Year(f64),
    Number(f64),
}

/// The value that begins at word `at`, with its words.
pub fn value_at(sentence: &Words<'_>, at: usize) -> Option<(Range<usize>, Value)> {
    // Most capitals begin a name: of words without a digit in front only these are values.
    if sentence.words[at].shape == Shape::Capital {
        let word = lower(sentence, at)?;
        if month_number(&word).is_none() && named(&word).is_none() {
            return None;
        }
    }
    date_at(sentence, at).or_else(|| number_at(sentence, at))
}

fn lower(sentence: &Words<'_>, at: usize) -> Option<String> {
    (at < sentence.words.len()).then(|| sentence.word(at).to_lowercase())
}

/// The month that a capitalised word names, from 0.
fn month(sentence: &Words<'_>, at: usize) -> Option<f64> {
    let word = lower(sentence, at)?;
    // `may` in lower case is a verb.
    if sentence.words[at].shape != Shape::Capital {
        return None;
    }
    month_number(&word).map(|number| f64::from(number - 1))
}

fn day(sentence: &Words<'_>, at: usize) -> Option<f64> {
    let word = lower(sentence, at)?;
    let digits = word.trim_end_matches(char::is_alphabetic);
    digits.parse::<f64>().ok().filter(|day| (1.0..=31.0).contains(day) && digits.len() < 3)
}

/// A year of three or four digits; `1990s` is its first year.
fn year(sentence: &Words<'_>, at: usize) -> Option<f64> {
    let word = lower(sentence, at)?;
    let digits = word.strip_suffix('s').unwrap_or(&word);
    let plain = digits.len() == 4 && digits.chars().all(|c| c.is_ascii_digit());
    digits.parse::<f64>().ok().filter(|year| plain && (1000.0..2100.0).contains(year))
}

/// `8 June 1951`, `June 8, 1951`, `June 1951`, `8 June`, `1951`, `the 19th century`.
fn date_at(sentence: &Words<'_>, at: usize) -> Option<(Range<usize>, Value)> {
    let near = |i: usize| i < sentence.words.len() && sentence.gap(i).len() <= 2;
    let parts = |day: f64, month: f64, year: f64| Value::Date(year + (month + day / 32.0) / 12.0);
    if let (Some(d), Some(m), true) = (day(sentence, at), month(sentence, at + 1), near(at)) {
        return match year(sentence, at + 2).filter(|_| near(at + 1)) {
            Some(y) => Some((at..at + 3, parts(d, m, y))),
            None => Some((at..at + 2, Value::Number(d))),
        };
    }
    if let Some(m) = month(sentence, at) {
        if let (Some(d), true) = (day(sentence, at + 1), near(at)) {
            return match year(sentence, at + 2).filter(|_| near(at + 1)) {
                Some(y) => Some((at..at + 3, parts(d, m, y))),
                None => Some((at..at + 2, Value::Number(d))),
            };
        }
        return year(sentence, at + 1).map(|y| (at..at + 2, parts(0.0, m, y)));
    }
    if let Some(y) = year(sentence, at) {
        return Some((at..at + 1, Value::Year(y)));
    }
    let ordinal = lower(sentence, at)?;
    let digits = ordinal.trim_end_matches(char::is_alphabetic);
    let number = digits.parse::<i32>().ok().filter(|_| digits.len() < ordinal.len())?;
    let number = Some(number).filter(|number| (1..=30).contains(number))?;
    (lower(sentence, at + 1)?.starts_with("centur"))
        .then(|| (at..at + 2, Value::Year(f64::from(century(number).0))))
}

/// `one` is more often a pronoun, and `zero` counts nothing.
fn named(word: &str) -> Option<u32> {
    let cardinal = cardinal(word).and_then(|number| u32::try_from(number).ok());
    let amount = || AMOUNTS.iter().find(|(name, _)| *name == word).map(|(_, amount)| *amount);
    cardinal.filter(|number| *number > 1).or_else(amount)
}

fn number_at(sentence: &Words<'_>, at: usize) -> Option<(Range<usize>, Value)> {
    let word = lower(sentence, at)?;
    let named = named(&word).map(f64::from);
    let digits = word.replace(',', "");
    let amount = named.or_else(|| {
        (sentence.words[at].shape == Shape::Digit).then(|| digits.parse().ok()).flatten()
    })?;
    let next = lower(sentence, at + 1);
    let magnitude = next.and_then(|next| MAGNITUDES.iter().find(|(name, _)| *name == next));
    Some(match magnitude {
        Some((_, times)) => (at..at + 2, Value::Number(amount * times)),
        None => (at..at + 1, Value::Number(amount)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<(String, Value)> {
        let sentence = Words::new(text);
        let mut values = vec![];
        let mut at = 0;
        while at < sentence.words.len() {
            match value_at(&sentence, at) {
                Some((range, value)) => {
                    values.push((sentence.slice(&range).to_owned(), value));
                    at = range.end;
                }
                None => at += 1,
            }
        }
        values
    }

    #[test]
    fn dates_of_many_forms_are_found() {
        let pairs = values(
            "From 8 June 1951 to July 2, 1960, in March 1970, 1982, the 1990s and the \
                    19th century they may leave.",
        );
        let texts: Vec<&str> = pairs.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(
            texts,
            ["8 June 1951", "July 2, 1960", "March 1970", "1982", "1990s", "19th century"]
        );
        let Value::Date(june) = pairs[0].1 else { panic!("a day is a date") };
        assert!((1951.4..1951.5).contains(&june), "{june}");
        assert_eq!(pairs[5].1, Value::Year(1801.0));
    }

    #[test]
    fn numbers_carry_their_magnitude() {
        assert_eq!(
            values("It sold 1,250 of 3.5 million copies twice."),
            [
                ("1,250".to_owned(), Value::Number(1250.0)),
                ("3.5 million".to_owned(), Value::Number(3.5e6)),
                ("twice".to_owned(), Value::Number(2.0)),
            ]
        );
    }
}
