//! Periods of time, as values state them and as people write them.
use super::calendar::{century, month_number};

/// Year, month and day.
pub type Day = (i32, u32, u32);

/// From the first day to the last, both within.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    pub first: Day,
    pub last: Day,
}

impl Period {
    fn years(first: i32, last: i32) -> Self {
        Self { first: (first, 1, 1), last: (last, 12, 31) }
    }

    pub(super) fn month(year: i32, month: u32) -> Self {
        // No day of a month comes after its 31st, whether it has one or not.
        Self { first: (year, month, 1), last: (year, month, 31) }
    }

    pub(super) fn day(year: i32, month: u32, day: u32) -> Self {
        Self { first: (year, month, day), last: (year, month, day) }
    }

    /// A value: `2012-08-06`, `2012-08`, `2012`, `-0044-03-15`.
    pub fn from_value(text: &str) -> Option<Self> {
        let (sign, rest) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        let mut parts = rest.split('-');
        let year = sign * parts.next().filter(|year| year.len() >= 4)?.parse::<i32>().ok()?;
        let mut next = |max: u32| match parts.next() {
            None => Some(None),
            Some(part) => part.parse::<u32>().ok().filter(|n| (1..=max).contains(n)).map(Some),
        };
        match (next(12)?, next(31)?) {
            (None, _) => Some(Self::years(year, year)),
            (Some(month), None) => Some(Self::month(year, month)),
            (Some(month), Some(day)) => Some(Self::day(year, month, day)),
        }
    }

    /// What the words begin with, and how many of them say it: `8 June 1951`, `June 8, 1951`,
    /// `June 1951`, `1951`, `the 1990s`, `the 19th century`, `44 BC`.
    pub fn parse_prefix(words: &[&str]) -> Option<(Self, usize)> {
        let skipped = words.iter().take_while(|word| ["the", "year"].contains(word)).count();
        let rest = &words[skipped..];
        let (period, used) = Self::parse_one(rest)?;
        let before = rest.get(used).is_some_and(|word| ["bc", "bce"].contains(word));
        if !before {
            return Some((period, skipped + used));
        }
        let back = |(year, month, day): Day| (-year, month, day);
        let turned = Self { first: back(period.first), last: back(period.last) };
        let within_a_year = turned.first.0 == turned.last.0;
        within_a_year.then_some((turned, skipped + used + 1))
    }

    fn parse_one(words: &[&str]) -> Option<(Self, usize)> {
        let word = |at: usize| words.get(at).copied();
        let first = word(0)?;
        if first.len() >= 8 && first.contains('-') {
            return Self::from_value(first).map(|period| (period, 1));
        }
        if let (Some(on), Some(of)) = (day(first), word(1).and_then(month_number)) {
            let year = word(2).and_then(year)?;
            return Some((Self::day(year, of, on), 3));
        }
        if let Some(of) = month_number(first) {
            if let (Some(on), Some(year)) = (word(1).and_then(day), word(2).and_then(year)) {
                return Some((Self::day(year, of, on), 3));
            }
            return Some((Self::month(word(1).and_then(year)?, of), 2));
        }
        if let Some(decade) = first.strip_suffix('s').and_then(year).filter(|year| year % 10 == 0) {
            let span = if decade % 100 == 0 { 99 } else { 9 };
            return Some((Self::years(decade, decade + span), 1));
        }
        if word(1).is_some_and(|next| ["century", "centuries"].contains(&next)) {
            let number = first.trim_end_matches(char::is_alphabetic);
            let number: i32 = number.parse().ok().filter(|n| (1..=30).contains(n))?;
            let (first, last) = century(number);
            return Some((Self::years(first, last), 2));
        }
        let plain = year(first);
        let old = word(1).is_some_and(|next| ["bc", "bce", "ad", "ce"].contains(&next));
        let short = || first.parse().ok().filter(|year| old && (1..=9_999).contains(year));
        plain.or_else(short).map(|year| (Self::years(year, year), 1))
    }
}

/// Four digits.
pub(super) fn year(word: &str) -> Option<i32> {
    let digits = word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| word.parse().ok()).flatten()
}

/// `8`, `8th`.
pub(super) fn day(word: &str) -> Option<u32> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ending = &word[digits.len()..];
    if !["", "st", "nd", "rd", "th"].contains(&ending) {
        return None;
    }
    digits.parse().ok().filter(|day| digits.len() <= 2 && (1..=31).contains(day))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_periods() {
        let period = |text: &str| Period::from_value(text).map(|p| (p.first, p.last));
        assert_eq!(period("2012-08-06"), Some(((2012, 8, 6), (2012, 8, 6))));
        assert_eq!(period("2012"), Some(((2012, 1, 1), (2012, 12, 31))));
        assert_eq!(period("-0044-03"), Some(((-44, 3, 1), (-44, 3, 31))));
        for bad in ["", "soon", "12", "2012-13", "2012-00-01"] {
            assert_eq!(period(bad), None, "{bad}");
        }
    }

    #[test]
    fn people_write_dates_in_many_ways() {
        for (words, first, last, used) in [
            ("8 june 1951 .", (1951, 6, 8), (1951, 6, 8), 3),
            ("june 8th 1951", (1951, 6, 8), (1951, 6, 8), 3),
            ("sept 1951", (1951, 9, 1), (1951, 9, 31), 2),
            ("the year 1951", (1951, 1, 1), (1951, 12, 31), 3),
            ("the 1990s", (1990, 1, 1), (1999, 12, 31), 2),
            ("1900s", (1900, 1, 1), (1999, 12, 31), 1),
            ("the 19th century", (1801, 1, 1), (1900, 12, 31), 3),
            ("44 bc", (-44, 1, 1), (-44, 12, 31), 2),
            ("2012-08-06", (2012, 8, 6), (2012, 8, 6), 1),
        ] {
            let words_in: Vec<&str> = words.split(' ').collect();
            assert_eq!(
                Period::parse_prefix(&words_in),
                Some((Period { first, last }, used)),
                "{words}"
            );
        }
        for words in ["700 km", "may", "19 tonnes", "", "the"] {
            let words_in: Vec<&str> = words.split(' ').collect();
            assert_eq!(Period::parse_prefix(&words_in), None, "{words}");
        }
    }
}
