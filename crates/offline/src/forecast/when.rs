//! The time that a question asks about, and the question without it.
use halma_core::text::dates::month_number;

use crate::words::split;

/// When, in the words of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct When {
    /// `2024`, `2024-Q2` or `2024-06`; empty where the question only says how far ahead.
    pub(super) period: String,
    pub(super) granularity: &'static str,
    pub(super) horizon: usize,
    /// The question without the words of time.
    pub(super) rest: String,
}

const LENGTHS: [(&str, &str); 6] = [
    ("year", "year"),
    ("years", "year"),
    ("quarter", "quarter"),
    ("quarters", "quarter"),
    ("month", "month"),
    ("months", "month"),
];

const ORDINALS: [&str; 4] = ["first", "second", "third", "fourth"];

/// Reads the time of a question; one that names none asks about the next year.
pub(super) fn read(question: &str) -> When {
    let ranges = split(question);
    let words: Vec<String> =
        ranges.iter().map(|range| question[range.clone()].to_lowercase()).collect();
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let mut drop = vec![false; words.len()];
    let mut when =
        When { period: String::new(), granularity: "year", horizon: 1, rest: String::new() };
    // The latest year that is named is the one that is asked for.
    let years = (0..words.len()).filter_map(|at| Some((year(word(at))?, at)));
    if let Some((year, at)) = years.max() {
        let month = at.checked_sub(1).and_then(|before| month_number(word(before)));
        let quarter = at.checked_sub(1).and_then(|before| quarter(word(before)));
        let spelled = (at >= 3 && word(at - 1) == "of" && word(at - 2) == "quarter")
            .then(|| ORDINALS.iter().position(|ordinal| *ordinal == word(at - 3)))
            .flatten();
        let first = match (month, quarter, spelled) {
            (Some(month), ..) => {
                (when.period, when.granularity) = (format!("{year}-{month:02}"), "month");
                at - 1
            }
            (_, Some(quarter), _) => {
                (when.period, when.granularity) = (format!("{year}-Q{quarter}"), "quarter");
                at - 1
            }
            (.., Some(before)) => {
                (when.period, when.granularity) = (format!("{year}-Q{}", before + 1), "quarter");
                at - 3
            }
            _ => {
                when.period = year.to_string();
                at
            }
        };
        drop[first..=at].fill(true);
    }
    for (at, word) in words.iter().enumerate() {
        let Some((_, length)) = LENGTHS.iter().find(|(name, _)| name == word) else { continue };
        drop[at] = true;
        let before = |back: usize| at.checked_sub(back).map_or("", |at| words[at].as_str());
        let number: Option<usize> = before(1).parse().ok().filter(|n| (1..=60).contains(n));
        let ahead = |word: &str| ["in", "next", "within", "coming"].contains(&word);
        let far = number.filter(|_| ahead(before(2)));
        if when.period.is_empty() && (ahead(before(1)) || far.is_some()) {
            (when.granularity, when.horizon) = (*length, far.unwrap_or(1));
            drop[at - 1] = true;
        }
    }
    let kept = ranges.iter().zip(&drop).filter(|(_, drop)| !**drop);
    let kept: Vec<&str> = kept.map(|(range, _)| &question[range.clone()]).collect();
    when.rest = kept.join(" ");
    when
}

fn year(word: &str) -> Option<u32> {
    word.parse().ok().filter(|year| word.len() == 4 && (1800..2200).contains(year))
}

/// `q3`.
fn quarter(word: &str) -> Option<u32> {
    word.strip_prefix('q')?.parse().ok().filter(|quarter| (1..=4).contains(quarter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_periods_or_steps() {
        for (question, period, granularity, horizon) in [
            ("How many mills will open in 2031?", "2031", "year", 1),
            ("After 12 in 2029, how many will open in March 2030?", "2030-03", "month", 1),
            ("How many by Q3 2030?", "2030-Q3", "quarter", 1),
            ("How many in the second quarter of 2030?", "2030-Q2", "quarter", 1),
            ("How many mills will open next month?", "", "month", 1),
            ("How many mills will open in 3 years?", "", "year", 3),
            ("How many mills will open within the next 2 quarters?", "", "quarter", 2),
            ("How many mills will open?", "", "year", 1),
        ] {
            let when = read(question);
            assert_eq!(
                (&*when.period, when.granularity, when.horizon),
                (period, granularity, horizon),
                "{question}"
            );
        }
        let rest = read("How many mills will open in 2031, judging by the years before?").rest;
        assert_eq!(rest, "How many mills will open in judging by the before");
    }
}
