//! Rows as they were collected, and as typed ones.
use std::collections::BTreeMap;

use crate::forecast::{Granularity, Period, Row};
use halma_core::text::dates::{DateOrder, Period as DatePeriod, normalise_stamp, parse_day};
use halma_core::text::thousands;
use halma_core::{NodeId, Question};
use serde_json::Value;
use time::{Date, Month};

use super::plan::Plan;

/// A dated thing as a table or a passage states it.
#[derive(Debug, Clone, Default)]
pub(super) struct RawRow {
    pub(super) group: String,
    pub(super) thing: String,
    pub(super) date: String,
    /// Empty where things are counted.
    pub(super) value: String,
    pub(super) sources: Vec<NodeId>,
}

/// All rows, and what is to be said about them.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) rows: Vec<RawRow>,
    /// From when to when the source has rows, where it says so.
    pub(super) window: Option<(String, String)>,
    /// What was left out, and from how much the rows come.
    pub(super) caveats: Vec<String>,
}

/// Rows of one group that can be used.
#[derive(Debug, Default)]
pub(super) struct Typed {
    pub(super) rows: Vec<Row>,
    /// Positions of the rows in [`Collected`].
    pub(super) positions: Vec<usize>,
    pub(super) unit: String,
}

/// The first and the last day that a date means.
pub(super) fn days(text: &str) -> Option<(Date, Date)> {
    let text = text.trim();
    if let Some(period) = Period::parse(text) {
        return Some((period.first_day(), period.last_day()));
    }
    let stated = parse_day(text, DateOrder::DayFirst)
        .or_else(|| normalise_stamp(text).filter(|_| !is_number(text)))
        .or_else(|| first_date(text));
    let period = Period::parse(&stated?)?;
    Some((period.first_day(), period.last_day()))
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The first date of a sentence: what a cell may answer with.
fn first_date(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split([' ', ',', ';', '(', ')'])
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !word.is_empty())
        .collect();
    let (period, _) = (0..words.len()).find_map(|at| DatePeriod::parse_prefix(&words[at..]))?;
    let day = |(year, month, day): (i32, u32, u32)| {
        let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
        let last = month.length(year);
        Date::from_calendar_date(year, month, u8::try_from(day).ok()?.min(last)).ok()
    };
    let (first, last) = (day(period.first)?, day(period.last)?);
    let lengths = [Granularity::Day, Granularity::Month, Granularity::Year];
    let within = |length: &Granularity| {
        Period::containing(first, *length) == Period::containing(last, *length)
    };
    Some(Period::containing(first, lengths.into_iter().find(within)?).label())
}

/// A number with its unit: `1,200 mg` is 1200 and `mg`.
fn amount(text: &str) -> Option<(f64, String)> {
    let text = text.trim();
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let sign = if text[..start].ends_with(['-', '−']) { -1.0 } else { 1.0 };
    let rest = &text[start..];
    let end =
        rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(rest.len());
    let digits = rest[..end].trim_end_matches(['.', ',']);
    let number: f64 = digits.replace(',', "").parse().ok()?;
    let before = text[..start].trim().trim_end_matches(['-', '−']).trim();
    let after = rest[end..].split_whitespace().next().unwrap_or_default();
    let unit = if after.is_empty() { before } else { after };
    Some((sign * number, unit.trim_end_matches(['.', ',', ';']).to_lowercase()))
}

impl Collected {
    /// The rows of each group as dates and numbers. What cannot be used is added to the caveats.
    pub(super) fn typed(&self, plan: &Plan) -> (BTreeMap<String, Typed>, Vec<String>) {
        let mut groups: BTreeMap<String, Typed> = BTreeMap::new();
        let (mut undated, mut unvalued, mut example) = (0, 0, String::new());
        let unit = if plan.measure.has_values() { self.usual_unit() } else { String::new() };
        let mut other_units = 0;
        for (at, row) in self.rows.iter().enumerate() {
            let Some((first, last)) = days(&row.date) else {
                undated += 1;
                if example.is_empty() {
                    example = row.date.trim().chars().take(30).collect();
                }
                continue;
            };
            let value = match amount(&row.value) {
                Some((_, other)) if other != unit && plan.measure.has_values() => {
                    other_units += 1;
                    continue;
                }
                Some((value, _)) => value,
                None if plan.measure.has_values() => {
                    unvalued += 1;
                    continue;
                }
                None => 1.0,
            };
            let typed = groups.entry(row.group.trim().to_owned()).or_default();
            typed.rows.push(Row { thing: row.thing.trim().to_owned(), first, last, value });
            typed.positions.push(at);
            typed.unit.clone_from(&unit);
        }
        let mut caveats = self.caveats.clone();
        let such =
            if example.is_empty() { String::new() } else { format!(" (such as `{example}`)") };
        let mut left_out = |rows: usize, why: String| {
            if rows > 0 {
                caveats.push(format!("{} rows {why} left out", thousands(rows as u64)));
            }
        };
        left_out(undated, format!("without a usable date{such}"));
        left_out(unvalued, "without a number".into());
        left_out(
            other_units,
            format!("in another unit than {}", if unit.is_empty() { "none" } else { &unit }),
        );
        (groups, caveats)
    }

    /// The unit of most values; values in others cannot be added to them.
    fn usual_unit(&self) -> String {
        let mut units: BTreeMap<String, usize> = BTreeMap::new();
        for (_, unit) in self.rows.iter().filter_map(|row| amount(&row.value)) {
            *units.entry(unit).or_default() += 1;
        }
        let commonest = units.into_iter().rev().max_by_key(|(_, rows)| *rows);
        commonest.map(|(unit, _)| unit).unwrap_or_default()
    }
}

/// The day of the question, where it says so.
pub(super) fn asked_on(question: &Question) -> Option<Date> {
    days(question.asked_at.as_deref()?).map(|(_, last)| last)
}

/// A cell of a result as text; empty for none.
pub(super) fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_many_forms_are_read_and_typos_are_not() {
        let read = |text: &str| days(text).map(|(first, last)| format!("{first}/{last}"));
        for (text, expected) in [
            ("2021", "2021-01-01/2021-12-31"),
            (" 2021-02 ", "2021-02-01/2021-02-28"),
            ("2021-Q2", "2021-04-01/2021-06-30"),
            ("5 March 2021", "2021-03-05/2021-03-05"),
            ("05/03/2021", "2021-03-05/2021-03-05"),
            ("2021-03-05T10:00:00Z", "2021-03-05/2021-03-05"),
            ("in May 2021, by the FDA", "2021-05-01/2021-05-31"),
            ("It was approved on June 3, 2020.", "2020-06-03/2020-06-03"),
        ] {
            assert_eq!(read(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["20223", "", "unknown", "the 1990s", "soon"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn amounts_have_units() {
        assert_eq!(amount("1,200.5 mg"), Some((1200.5, "mg".into())));
        assert_eq!(amount("−3"), Some((-3.0, String::new())));
        assert_eq!(amount("USD 40"), Some((40.0, "usd".into())));
        assert_eq!(amount("none"), None);
    }
}
