//! Numbers in answers: found, read, compared.
use std::fmt::Write as _;

/// The number that an answer gives: what follows `####` where it is used, else the last one in it.
/// Thousands may be parted by commas, `1/3` is a fraction, number words count as digits; signs of
/// money and units around it do not matter. `None` where there is none.
///
/// "The last number" is how answers to `GSM8K` are read since Cobbe et al. (2021) and Wei et al.
/// (2022).
pub fn number_in(text: &str) -> Option<f64> {
    let text = text.rsplit("####").next().unwrap_or(text);
    let text = digits_for_words(&text.to_lowercase());
    let mut last = None;
    let mut at = 0;
    while let Some(start) = text[at..].find(|c: char| c.is_ascii_digit()).map(|i| at + i) {
        let length = literal(&text[start..]);
        let (value, used) = with_fraction(&text[start..], length);
        let negative = is_minus(&text[..start]);
        if value.is_some() {
            last = value.map(|value: f64| if negative { -value } else { value });
        }
        at = start + used;
    }
    last
}

/// Bytes of the literal that `text` begins with: digits, commas before three digits, one point.
fn literal(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    let mut point = false;
    loop {
        if digit(end) {
            end += 1;
        } else if bytes.get(end) == Some(&b',') && !point && thousands(&bytes[end + 1..]) {
            end += 4;
        } else if bytes.get(end) == Some(&b'.') && !point && digit(end + 1) {
            point = true;
            end += 1;
        } else {
            return end;
        }
    }
}

/// Whether exactly three digits come next.
fn thousands(bytes: &[u8]) -> bool {
    let digits = bytes.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
    digits == 3
}

/// The value of the literal, with a denominator where one follows; and the bytes used.
fn with_fraction(text: &str, length: usize) -> (Option<f64>, usize) {
    let value = |literal: &str| literal.replace(',', "").parse::<f64>().ok();
    let numerator = value(&text[..length]);
    let rest = &text[length..];
    let Some(below) = rest.strip_prefix('/') else { return (numerator, length) };
    let below_length = literal(below);
    match value(&below[..below_length]) {
        Some(denominator) if denominator != 0.0 => {
            (numerator.map(|value| value / denominator), length + 1 + below_length)
        }
        _ => (numerator, length),
    }
}

/// A minus belongs to the number unless it stands in a word or between numbers (`1998-99`).
fn is_minus(before: &str) -> bool {
    let before = before.trim_end_matches(['$', '€', '£', ' ']);
    let Some(rest) = before.strip_suffix(['-', '−']) else { return false };
    !rest.chars().next_back().is_some_and(char::is_alphanumeric)
}

/// Whether two numbers are the same answer: within a ten-thousandth, of the gold one where it is
/// large. `MAWPS` writes a third as 0.3333333333333333.
pub fn same_number(given: f64, gold: f64) -> bool {
    (given - gold).abs() <= 1e-4 * gold.abs().max(1.0)
}

const SMALL: [&str; 20] = [
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
];
const TENS: [&str; 8] =
    ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const SCALES: [(&str, u64); 4] = [
    ("trillion", 1_000_000_000_000),
    ("billion", 1_000_000_000),
    ("million", 1_000_000),
    ("thousand", 1_000),
];

/// A lower-case English text with digits for its number words: `twenty-one` as `21`, `two hundred
/// and five` as `205`.
pub(super) fn digits_for_words(lower: &str) -> String {
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
    let mut found: Vec<(usize, usize)> = vec![];
    for (i, c) in text.char_indices().filter(|(_, c)| c.is_alphanumeric()) {
        match found.last_mut() {
            Some((_, end)) if *end == i => *end += c.len_utf8(),
            _ => found.push((i, i + c.len_utf8())),
        }
    }
    found
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
    let first = words.first()?;
    if let Some(value) = SMALL.iter().position(|word| word == first) {
        return Some((value as u64, 1));
    }
    let tens = (TENS.iter().position(|word| word == first)? as u64 + 2) * 10;
    let unit = words.get(1).and_then(|next| SMALL[1..10].iter().position(|word| word == next));
    Some(unit.map_or((tens, 1), |unit| (tens + unit as u64 + 1, 2)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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

    #[test]
    fn the_number_of_an_answer_is_found() {
        for (text, wanted) in [
            ("160", Some(160.0)),
            ("$5,600.50", Some(5600.5)),
            ("working: 1 + 2 = 3\n#### 1,234", Some(1234.0)),
            ("It takes him 59 minutes.", Some(59.0)),
            ("-7", Some(-7.0)),
            ("-$12", Some(-12.0)),
            ("the answer is −3", Some(-3.0)),
            ("1998-99", Some(99.0)),
            ("1/3 of it", Some(1.0 / 3.0)),
            ("twelve apples", Some(12.0)),
            ("3.", Some(3.0)),
            ("1,23", Some(23.0)),
            ("1/0", Some(0.0)),
            ("none", None),
            ("", None),
        ] {
            assert_eq!(number_in(text), wanted, "{text:?}");
        }
        assert!(same_number(0.3333, 1.0 / 3.0) && same_number(58.0, 58.0));
        assert!(!same_number(57.9, 58.0) && !same_number(0.0, 0.01));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(\\PC|[0-9,./ -]|one|hundred| |and){0,30}") {
            let _ = number_in(&text);
            let once = digits_for_words(&text.to_lowercase());
            prop_assert_eq!(digits_for_words(&once), once);
        }

        #[test]
        fn a_number_is_itself(value in -1_000_000_i64..1_000_000) {
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let wanted = value as f64;
            prop_assert_eq!(number_in(&format!("it is {value}.")), Some(wanted));
        }
    }
}
