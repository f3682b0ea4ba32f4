//! A single day: as cells of tables write it, and written out.
use super::calendar::{MONTHS, days_in_month, month_number};
use crate::capitalize;

/// What comes first in `02/03/2023`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DateOrder {
    #[default]
    DayFirst,
    MonthFirst,
}

/// A day as `2023-01-31`; `None` for anything else, a time of day included.
pub fn parse_day(text: &str, order: DateOrder) -> Option<String> {
    let text = text.trim();
    // Spreadsheets write days as midnights.
    let text = [" 00:00:00", "T00:00:00", "T00:00:00Z"]
        .iter()
        .find_map(|midnight| text.strip_suffix(midnight))
        .unwrap_or(text);
    let mut parts = text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let (a, b, c) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let separators = text.chars().filter(|c| !c.is_alphanumeric());
    if !separators.clone().all(|c| matches!(c, '-' | '/' | '.' | ' ' | ','))
        || separators.count() > 4
    {
        return None;
    }
    let (year, month, day) = match (month_number(a), month_number(b)) {
        (Some(month), None) => (year(c)?, month, number(b)?),
        (None, Some(month)) => (year(c)?, month, number(a)?),
        (None, None) if a.len() == 4 => (year(a)?, number(b)?, number(c)?),
        // A full stop stands between day and month in that order.
        (None, None) if order == DateOrder::DayFirst || text.contains('.') => {
            (year(c)?, number(b)?, number(a)?)
        }
        (None, None) => (year(c)?, number(a)?, number(b)?),
        (Some(_), Some(_)) => return None,
    };
    let valid = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
    valid.then(|| format!("{year:04}-{month:02}-{day:02}"))
}

fn year(part: &str) -> Option<u32> {
    (part.len() == 4).then(|| number(part))?
}

/// `5`, `5th`.
fn number(part: &str) -> Option<u32> {
    let digits = part.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ordinal = matches!(&part[digits.len()..], "" | "st" | "nd" | "rd" | "th");
    let valid = ordinal && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    valid.then(|| digits.parse().ok())?
}

/// `2015-03-06` as `6 March 2015` and as `March 6, 2015`.
pub fn spell_day(iso: &str) -> Option<[String; 2]> {
    let mut parts = iso.splitn(3, '-').map(|part| part.parse::<usize>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let name = capitalize(MONTHS.get(month.checked_sub(1)?)?);
    let spelled = || [format!("{day} {name} {year}"), format!("{name} {day}, {year}")];
    (1..=31).contains(&day).then(spelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_read_in_many_forms() {
        let day = Some("2023-01-05".to_owned());
        for cell in [
            "2023-01-05",
            "2023/1/5",
            "5.1.2023",
            "05/01/2023",
            "5 January 2023",
            "5th Jan 2023",
            "January 5, 2023",
            "Jan 5, 2023",
            "2023-01-05 00:00:00",
        ] {
            assert_eq!(parse_day(cell, DateOrder::DayFirst), day, "{cell}");
        }
        assert_eq!(parse_day("01/05/2023", DateOrder::MonthFirst), day);
    }

    #[test]
    fn other_cells_are_not_days() {
        for cell in
            ["2023", "2023-13-01", "29.2.2023", "1:2:2023", "2023-01-05T10:00:00", "a b c", "5 May"]
        {
            assert_eq!(parse_day(cell, DateOrder::DayFirst), None, "{cell}");
        }
    }

    #[test]
    fn a_day_is_spelled_in_two_orders() {
        let spelled = spell_day("2015-03-06").unwrap();
        assert_eq!(spelled, ["6 March 2015", "March 6, 2015"]);
        assert_eq!(
            (spell_day("2015-13-06"), spell_day("2015"), spell_day("x-y-z")),
            (None, None, None)
        );
    }
}
