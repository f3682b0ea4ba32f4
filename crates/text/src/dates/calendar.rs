//! Months, their lengths, and centuries.

/// The months in English, in lower case.
pub const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The month from 1 to 12 that a word names: in full, by its first letters (at least three), with
/// or without a full stop, in any case.
pub fn month_number(word: &str) -> Option<u32> {
    let word = word.trim_end_matches('.').to_lowercase();
    let named = |month: &&str| word.len() >= 3 && month.starts_with(&word);
    (1..).zip(&MONTHS).find(|(_, month)| named(month)).map(|(number, _)| number)
}

/// The number of days of a month from 1 to 12.
pub fn days_in_month(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The first and the last year of a century: the 19th is 1801 to 1900.
pub fn century(number: i32) -> (i32, i32) {
    ((number - 1) * 100 + 1, number * 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_have_names_and_lengths() {
        for (word, number) in [("January", 1), ("sept", 9), ("Sept.", 9), ("DEC", 12), ("may", 5)] {
            assert_eq!(month_number(word), Some(number), "{word}");
        }
        for word in ["ma", "marches", "", "first"] {
            assert_eq!(month_number(word), None, "{word}");
        }
        let february = |year| days_in_month(year, 2);
        assert_eq!(
            (february(1900), february(2000), february(2023), february(2024)),
            (28, 29, 28, 29)
        );
        assert_eq!(century(19), (1801, 1900));
    }
}
