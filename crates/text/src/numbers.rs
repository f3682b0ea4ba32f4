//! Number words of English (`seven`, `twenty-one`, `two hundred and five`), and numbers as people
//! read them.
use std::fmt::Write as _;

/// The names of the numbers from 0 to 20.
pub const CARDINALS: [&str; 21] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];
const TENS: [(&str, u64); 7] = [
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
];
const SCALES: [(&str, u64); 4] = [
    ("trillion", 1_000_000_000_000),
    ("billion", 1_000_000_000),
    ("million", 1_000_000),
    ("thousand", 1_000),
];

/// A number as messages show it: `1234567` as `1,234,567`. Not for JSON, which programs read.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The number below a hundred that a single lower-case word names.
pub fn cardinal(word: &str) -> Option<u64> {
    let small = CARDINALS.iter().position(|name| *name == word).map(|at| at as u64);
    small.or_else(|| TENS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value))
}

/// A lower-case English text with digits for its number words: `twenty-one` as `21`, `two hundred
/// and five` as `205`.
pub fn digits_for_words(lower: &str) -> String {
    let words = words(lower);
    let mut out = String::with_capacity(lower.len());
    let mut copied = 0;
    let mut at = 0;
    while at < words.len() {
        let together = together(lower, &words[at..]);
        match number(&together) {
            Some((value, used)) => {
                out.push_str(&lower[copied..words[at].0]);
                let _ = write!(out, "{value}");
                copied = words[at + used - 1].1;
                at += used;
            }
            None => at += 1,
        }
    }
    out.push_str(&lower[copied..]);
    out
}

/// Byte ranges of the runs of letters and digits.
fn words(text: &str) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = vec![];
    for (i, c) in text.char_indices().filter(|(_, c)| c.is_alphanumeric()) {
        match spans.last_mut() {
            Some((_, end)) if *end == i => *end += c.len_utf8(),
            _ => spans.push((i, i + c.len_utf8())),
        }
    }
    spans
}

/// The first words that only spaces and hyphens part; no number has more than twenty.
fn together<'a>(text: &'a str, words: &[(usize, usize)]) -> Vec<&'a str> {
    let mut run: Vec<&str> = vec![];
    for (i, (start, end)) in words.iter().take(20).enumerate() {
        let between = if i == 0 { "" } else { &text[words[i - 1].1..*start] };
        if !between.chars().all(|c| c == '-' || c.is_whitespace()) {
            break;
        }
        run.push(&text[*start..*end]);
    }
    run
}

/// The number that the words begin with, and how many of them it takes.
fn number(words: &[&str]) -> Option<(u64, usize)> {
    let (mut total, mut used) = (0, 0);
    let mut least = u64::MAX;
    loop {
        let joined = usize::from(used > 0 && words.get(used) == Some(&"and"));
        let Some((value, more)) = below_thousand(&words[used + joined..]) else { break };
        let after = used + joined + more;
        let scale = SCALES.iter().find(|(name, _)| words.get(after) == Some(name));
        let factor = scale.map_or(1, |(_, factor)| *factor);
        if factor >= least {
            break;
        }
        total += value * factor;
        used = after + usize::from(scale.is_some());
        least = factor;
        if factor == 1 {
            break;
        }
    }
    (used > 0).then_some((total, used))
}

fn below_thousand(words: &[&str]) -> Option<(u64, usize)> {
    let (hundreds, used) = match (below_hundred(words), words.first()) {
        (Some((value, used)), _) if words.get(used) == Some(&"hundred") => (value, used + 1),
        (None, Some(&"hundred")) => (1, 1),
        (small, _) => return small,
    };
    let joined = usize::from(words.get(used) == Some(&"and"));
    Some(match below_hundred(&words[used + joined..]) {
        Some((value, more)) => (hundreds * 100 + value, used + joined + more),
        None => (hundreds * 100, used),
    })
}

fn below_hundred(words: &[&str]) -> Option<(u64, usize)> {
    let value = cardinal(words.first()?)?;
    let unit = words.get(1).and_then(|next| cardinal(next)).filter(|unit| (1..10).contains(unit));
    Some(match unit {
        Some(unit) if value >= 20 => (value + unit, 2),
        _ => (value, 1),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_comma_separates_each_three_digits() {
        let shown = [0, 999, 1000, 12_345, 1_234_567].map(thousands);
        assert_eq!(shown, ["0", "999", "1,000", "12,345", "1,234,567"]);
    }

    #[test]
    fn number_words_become_digits() {
        for (text, wanted) in [
            ("twenty-one", "21"),
            ("two hundred and five men", "205 men"),
            ("one thousand two hundred", "1200"),
            ("three million, four", "3000000, 4"),
            ("hundred", "100"),
            ("two three", "2 3"),
            ("someone often", "someone often"),
            ("nineteen ninety", "19 90"),
            ("five and six", "5 and 6"),
            ("two thousand and one", "2001"),
            ("no number", "no number"),
        ] {
            assert_eq!(digits_for_words(text), wanted, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_once(text in "(\\PC|[0-9,./ -]|one|hundred| |and){0,30}") {
            let once = digits_for_words(&text.to_lowercase());
            prop_assert_eq!(digits_for_words(&once), once);
        }
    }
}
