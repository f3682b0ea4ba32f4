//! Dates with a character after each number: `2017年9月14日`, `2017년 9월 14일`.
use super::calendar::days_in_month;

/// The characters after year, month and day.
const MARKS: [[&str; 3]; 2] = [["年", "月", "日"], ["년", "월", "일"]];

/// The days, months and years that a text states in this form, in ISO order, as they stand there.
pub fn marked_dates(text: &str) -> Vec<String> {
    let mut dates = vec![];
    for marks in MARKS {
        for (at, _) in text.match_indices(marks[0]) {
            dates.extend(year_before(&text[..at]).map(|year| {
                let rest = &text[at + marks[0].len()..];
                (at, with_month(year, rest, marks))
            }));
        }
    }
    dates.sort();
    dates.into_iter().map(|(_, date)| date).collect()
}

/// The four digits that a text ends with, if there are no more.
fn year_before(text: &str) -> Option<u32> {
    let text = text.trim_end();
    let digits = text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    (digits == 4).then(|| text[text.len() - 4..].parse().ok())?
}

/// A year with the month and the day that follow it, as far as they do.
fn with_month(year: u32, rest: &str, marks: [&str; 3]) -> String {
    let Some((month, rest)) = number_before(rest, marks[1], 12) else {
        return format!("{year:04}");
    };
    match number_before(rest, marks[2], days_in_month(year, month)) {
        Some((day, _)) => format!("{year:04}-{month:02}-{day:02}"),
        None => format!("{year:04}-{month:02}"),
    }
}

/// The number from 1 to `most` that a text begins with, if `mark` follows it, and what is after.
fn number_before<'a>(text: &'a str, mark: &str, max: u32) -> Option<(u32, &'a str)> {
    let text = text.trim_start();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = text[..digits].parse().ok().filter(|number| (1..=max).contains(number))?;
    Some((number, text[digits..].trim_start().strip_prefix(mark)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_marks_are_dates() {
        for (text, dates) in [
            ("华为于2017年9月14日发布了手机，2019年再次更新。", vec!["2017-09-14", "2019"]),
            ("2011年03月に始まった。", vec!["2011-03"]),
            ("2017년 9월 14일에 승인되었다.", vec!["2017-09-14"]),
            ("2012年2月31日", vec!["2012-02"]),
            ("12017年", vec![]),
            ("三年", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(marked_dates(text), dates, "{text}");
        }
    }
}
