//! Days and months written in languages other than English.
use super::months::{has_other_sense, local_month};
use super::period::{self, Period};

/// Words that may stand between day, month and year.
const JOINERS: &[&str] = &["de", "del"];

/// Words before a month that show that the text is not English.
const BEFORE_MONTHS: &[&str] = &[
    "en", "i", "de", "dès", "depuis", "début", "fin", "från", "fra", "siden", "sedan", "till",
    "til",
];

/// The day or the month of a year that stands at place `at` of some words in lower case, and how
/// many words it has: `3 märz 2019`, `1er mars 2019`, `3 de marzo de 2019`, `märz 2019`. A month
/// whose name is another name in English (`mars 2020`) needs a day or a word such as `en` before it.
pub fn local_period(words: &[&str], at: usize) -> Option<(Period, usize)> {
    let first = *words.get(at)?;
    let on = day(first);
    let month_at = if on.is_some() { after_joiner(words, at + 1) } else { at };
    let year_at = after_joiner(words, month_at + 1);
    // Most words are not before a year.
    let year = year(words.get(year_at)?)?;
    let name = words[month_at];
    let month = local_month(name)?;
    let used = year_at + 1 - at;
    if let Some(on) = on {
        return Some((Period::day(year, month, on), used));
    }
    let is_joined = year_at > month_at + 1;
    let is_led = || at.checked_sub(1).is_some_and(|before| BEFORE_MONTHS.contains(&words[before]));
    let is_meant = is_joined || !has_other_sense(name) || is_led();
    is_meant.then(|| (Period::month(year, month), used))
}

/// The place after a joining word, if there is one at `at`.
fn after_joiner(words: &[&str], at: usize) -> usize {
    at + usize::from(words.get(at).is_some_and(|word| JOINERS.contains(word)))
}

/// `3`, `1er`, `1º`.
fn day(word: &str) -> Option<u32> {
    let digits = ["er", "º", "°"].iter().find_map(|ending| word.strip_suffix(ending));
    period::day(digits.unwrap_or(word))
}

/// Four digits, with an ending after an apostrophe as in Turkish.
fn year(word: &str) -> Option<i32> {
    period::year(word.split(['\'', '’']).next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Year, month and day.
    type Day = (i32, u32, u32);

    /// The first dates of a text, and the words they have.
    fn read(text: &str) -> Option<(Day, Day, usize)> {
        let words: Vec<&str> = text.split(' ').collect();
        let parsed = (0..words.len()).find_map(|at| local_period(&words, at));
        parsed.map(|(period, used)| (period.first, period.last, used))
    }

    #[test]
    fn days_and_months_are_read_in_many_languages() {
        let day = (2019, 3, 3);
        for (text, used) in [
            ("am 3 märz 2019", 3),
            ("le 3 mars 2019", 3),
            ("el 3 de marzo de 2019", 5),
            ("el 3 de marzo del 2019", 5),
            ("3 de março de 2019", 5),
            ("il 3 marzo 2019", 3),
            ("3 maart 2019", 3),
            ("den 3 marts 2019", 3),
            ("3 maaliskuuta 2019", 3),
            ("3 martie 2019", 3),
            ("3 mart 2019'da", 3),
            ("3 марта 2019", 3),
        ] {
            assert_eq!(read(text), Some((day, day, used)), "{text}");
        }
        assert_eq!(read("1er juin 2020"), Some(((2020, 6, 1), (2020, 6, 1), 3)));
        for (text, used) in [("im oktober 2020", 2), ("octubre de 2020", 3), ("en octobre 2020", 2)]
        {
            assert_eq!(read(text), Some(((2020, 10, 1), (2020, 10, 31), used)), "{text}");
        }
        assert_eq!(read("en mars 2020"), Some(((2020, 3, 1), (2020, 3, 31), 2)));
    }

    #[test]
    fn english_names_are_not_months() {
        for text in
            ["mars 2020", "the mars 2020 rover", "avril 2011", "3 mars", "3 may 2019", "juli"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
