//! Dates in sentences and in cells of tables, in ISO order.
use std::collections::BTreeSet;

use halma_core::ColumnKind;
use halma_core::text::dates::{DateOrder, Period, local_period, marked_dates, parse_day};

use crate::store::Column;
use crate::values::{ColumnReading, Value, iso};

/// Words in the names of columns whose numbers are years.
const YEAR_WORDS: &[&str] = &[
    "year",
    "founded",
    "established",
    "since",
    "born",
    "died",
    "jahr",
    "année",
    "año",
    "年",
    "년",
];

/// Numbers that may be years.
const YEARS: std::ops::RangeInclusive<i64> = 1000..=2100;

/// How the cells of a column are read as dates.
pub(super) enum ColumnDates {
    Days(ColumnReading),
    Years,
    /// In ISO order; a lone number is a year where all cells are dates. A column of nothing but
    /// years is one of numbers, unless dates were asked for.
    Iso {
        years: bool,
    },
}

impl ColumnDates {
    /// Whether a column may hold dates, by its kind and its name.
    pub(super) fn may_be_dated(column: &Column) -> bool {
        match column.kind {
            ColumnKind::Date | ColumnKind::Text => true,
            ColumnKind::Integer => {
                let name = column.name.to_lowercase();
                YEAR_WORDS.iter().any(|word| name.contains(word))
            }
            _ => false,
        }
    }

    /// For a column that may hold dates, with all of its cells.
    pub(super) fn new(column: &Column, cells: &[String]) -> Self {
        let cells = cells.iter().map(|cell| cell.trim()).filter(|cell| !cell.is_empty());
        match column.kind {
            ColumnKind::Date => Self::Days(ColumnReading::of(&cells)),
            ColumnKind::Integer => Self::Years,
            _ => {
                let is_year = |cell: &str| cell.parse().is_ok_and(|year| YEARS.contains(&year));
                let years = cells.clone().all(is_iso_date)
                    && (cells.clone().any(|cell| cell.len() > 4) || cells.clone().all(is_year));
                Self::Iso { years }
            }
        }
    }

    pub(super) fn date(&self, cell: &str) -> Option<String> {
        let cell = cell.trim();
        match self {
            Self::Days(reading) => match reading.read(cell) {
                Value::Date(day) => Some(day),
                _ => parse_day(cell, DateOrder::DayFirst),
            },
            Self::Years => {
                let is_year = cell.parse().is_ok_and(|year: i64| YEARS.contains(&year));
                is_year.then(|| cell.to_owned())
            }
            Self::Iso { years } => {
                (is_iso_date(cell) && (*years || cell.len() > 4)).then(|| cell.to_owned())
            }
        }
    }
}

/// Whether a cell is `2017`, `2017-09` or `2017-09-14`: a column with all of them is one of texts.
fn is_iso_date(cell: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    matches!(cell.len(), 4 | 7 | 10) && cell.bytes().enumerate().all(fits)
}

/// Words after which a number of four digits is a year, a line for each language: English, German,
/// French, Spanish, Portuguese, Italian, Dutch, Danish with Norwegian, Swedish, Finnish, Romanian,
/// Arabic. Words that stand as often before amounts (`de`, `von`) are not among them.
#[rustfmt::skip]
const BEFORE_YEARS: &[&str] = &[
    "in", "since", "by", "until", "of", "from", "during", "to", "before", "after", "early", "late",
    "seit", "ab", "bis", "nach", "um", "anno", "jahr", "jahre", "jahres", "anfang", "mitte", "ende",
    "en", "depuis", "dès", "jusqu'en", "jusqu’en", "l'an", "l’an", "année", "l'année", "l’année",
    "desde", "hasta", "hacia", "año",
    "em", "até", "ano",
    "nel", "dal", "del",
    "sinds", "sedert", "vanaf", "tot", "rond", "jaar",
    "i", "siden", "fra", "til", "året",
    "sedan", "från", "till", "år",
    "vuonna", "vuodesta", "vuoteen", "vuoden",
    "în", "anul",
    "عام", "سنة", "منذ",
];

/// Words before which a number of four digits is a year, in Russian and Turkish.
const AFTER_YEARS: &[&str] = &["году", "года", "год", "yılında", "yılından"];

/// The days, months and years that a sentence states, in ISO order.
pub(super) fn dates(text: &str) -> BTreeSet<String> {
    let mut dates: BTreeSet<String> = marked_dates(text).into_iter().collect();
    let clean = |c: char| if matches!(c, ',' | '(' | ')' | ';' | ':' | '.') { ' ' } else { c };
    let lower: String = text.to_lowercase().chars().map(clean).collect();
    // `31.03.2020`, whose marks are taken out below.
    dates.extend(text.split_whitespace().filter_map(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let day = parse_day(word, DateOrder::DayFirst)?;
        (parse_day(word, DateOrder::MonthFirst)? == day).then_some(day)
    }));
    let words: Vec<&str> = lower.split_whitespace().collect();
    let mut at = 0;
    while at < words.len() {
        let period = local_period(&words, at);
        let Some((period, used)) = period.or_else(|| Period::parse_prefix(&words[at..])) else {
            at += 1;
            continue;
        };
        let is_year = period.first.0 == period.last.0 && period.first.1 != period.last.1;
        let before = at.checked_sub(1).is_some_and(|b| BEFORE_YEARS.contains(&words[b]));
        let after = || words.get(at + used).is_some_and(|word| AFTER_YEARS.contains(word));
        let meant = !is_year || before || after();
        dates.extend(iso(period).filter(|_| meant));
        at += used.max(1);
    }
    dates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_months_and_years_are_read_from_sentences() {
        for (text, expected) in [
            (
                "It was approved on 14 September 2017, and sold from July 2019.",
                vec!["2017-09-14", "2019-07"],
            ),
            ("Founded in 1885, it has 1900 workers.", vec!["1885"]),
            ("September 14, 2017 was a day.", vec!["2017-09-14"]),
            ("华为于2017年9月14日发布了手机。", vec!["2017-09-14"]),
            ("Am 31.03.2020 geschlossen (seit 2020/01/05).", vec!["2020-01-05", "2020-03-31"]),
            ("On 03/04/2020 or so; version 1.2.2020a.", vec![]),
            ("Nothing happened.", vec![]),
        ] {
            assert_eq!(dates(text).into_iter().collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn dates_are_read_in_many_languages() {
        for (text, expected) in [
            ("Gegründet am 3. März 2019. Im Oktober 2020 verkauft.", vec!["2019-03-03", "2020-10"]),
            ("Seit 1885 arbeiten dort 1900 Leute.", vec!["1885"]),
            ("Le 3 mars 2019, puis le 1er juin 2020.", vec!["2019-03-03", "2020-06-01"]),
            ("Depuis 1885, vendue en mars 2020.", vec!["1885", "2020-03"]),
            ("El 3 de marzo de 2019 y en 1885.", vec!["1885", "2019-03-03"]),
            ("Em 3 de março de 2019; desde 1885.", vec!["1885", "2019-03-03"]),
            ("Il 3 marzo 2019, fondata nel 1885.", vec!["1885", "2019-03-03"]),
            ("Op 3 maart 2019, sinds 1885.", vec!["1885", "2019-03-03"]),
            ("Den 3. marts 2019, siden 1885.", vec!["1885", "2019-03-03"]),
            ("Vuonna 1885 ja 3. maaliskuuta 2019.", vec!["1885", "2019-03-03"]),
            ("Основана в 1885 году, продана 3 марта 2019 года.", vec!["1885", "2019-03-03"]),
            ("The Mars 2020 rover and Avril 2011.", vec![]),
        ] {
            assert_eq!(dates(text).into_iter().collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn cells_are_read_as_their_column_writes_dates() {
        let read = |name: &str, kind: ColumnKind, cells: &[&str]| {
            let cells: Vec<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
            let column = Column { name: name.to_owned(), kind };
            let read =
                ColumnDates::may_be_dated(&column).then(|| ColumnDates::new(&column, &cells));
            let date = |cell: &String| read.as_ref().and_then(|read| read.date(cell));
            cells.iter().map(|cell| date(cell).unwrap_or_default()).collect::<Vec<_>>()
        };
        let american = read("day", ColumnKind::Date, &["03/31/2020", "1/5/2021", ""]);
        assert_eq!(american, ["2020-03-31", "2021-01-05", ""]);
        assert_eq!(read("Founded in", ColumnKind::Integer, &["1995", "12"]), ["1995", ""]);
        assert_eq!(read("成立年份", ColumnKind::Integer, &["1995"]), ["1995"]);
        assert_eq!(read("workers", ColumnKind::Integer, &["1995"]), [""]);
        let mixed = read("date", ColumnKind::Text, &["2017", "2017-09-14", "2018-02"]);
        assert_eq!(mixed, ["2017", "2017-09-14", "2018-02"]);
        assert_eq!(read("approved", ColumnKind::Text, &["2017", "2019"]), ["2017", "2019"]);
        assert_eq!(read("shelf", ColumnKind::Text, &["0017", "2019"]), ["", ""]);
        assert_eq!(read("code", ColumnKind::Text, &["2017", "b-12"]), ["", ""]);
    }
}
