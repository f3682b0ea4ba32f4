//! Dates as people write them.
use halma_core::text::MONTHS;

/// What comes first in `02/03/2023`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum DateOrder {
    #[default]
    DayFirst,
    MonthFirst,
}

/// A day as `2023-01-31`; `None` for anything else, a time of day included.
pub(super) fn date(cell: &str, order: DateOrder) -> Option<String> {
    let cell = cell.trim();
    // Spreadsheets write days as midnights.
    let cell = [" 00:00:00", "T00:00:00", "T00:00:00Z"]
        .iter()
        .find_map(|midnight| cell.strip_suffix(midnight))
        .unwrap_or(cell);
    let mut parts = cell.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let (a, b, c) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let marks = cell.chars().filter(|c| !c.is_alphanumeric());
    if !marks.clone().all(|c| matches!(c, '-' | '/' | '.' | ' ' | ',')) || marks.count() > 4 {
        return None;
    }
    let (year, month, day) = match (month(a), month(b)) {
        (Some(month), None) => (year(c)?, month, number(b)?),
        (None, Some(month)) => (year(c)?, month, number(a)?),
        (None, None) if a.len() == 4 => (year(a)?, number(b)?, number(c)?),
        // A full stop stands between day and month in that order.
        (None, None) if order == DateOrder::DayFirst || cell.contains('.') => {
            (year(c)?, number(b)?, number(a)?)
        }
        (None, None) => (year(c)?, number(a)?, number(b)?),
        (Some(_), Some(_)) => return None,
    };
    let fits = (1..=12).contains(&month) && (1..=days(year, month)).contains(&day);
    fits.then(|| format!("{year:04}-{month:02}-{day:02}"))
}

fn year(part: &str) -> Option<u32> {
    (part.len() == 4).then(|| number(part))?
}

fn number(part: &str) -> Option<u32> {
    let digits = part.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let ordinal = matches!(&part[digits.len()..], "" | "st" | "nd" | "rd" | "th");
    let fits = ordinal && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| digits.parse().ok())?
}

fn month(part: &str) -> Option<u32> {
    if !part.starts_with(char::is_alphabetic) {
        return None;
    }
    let part = part.to_lowercase();
    let known = |name: &&str| {
        part == **name || part == name[..3] || (part == "sept" && name.starts_with(&part))
    };
    let at = MONTHS.iter().position(known)?;
    u32::try_from(at + 1).ok()
}

fn days(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_read_in_many_hands() {
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
            assert_eq!(date(cell, DateOrder::DayFirst), day, "{cell}");
        }
        assert_eq!(date("01/05/2023", DateOrder::MonthFirst), day);
    }

    #[test]
    fn other_things_are_no_days() {
        for cell in
            ["2023", "2023-13-01", "29.2.2023", "1:2:2023", "2023-01-05T10:00:00", "a b c", "5 May"]
        {
            assert_eq!(date(cell, DateOrder::DayFirst), None, "{cell}");
        }
    }
}
