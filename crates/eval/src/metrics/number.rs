//! Numbers in answers: found, read, compared.
use halma_core::text::numbers::digits_for_words;

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
        }

        #[test]
        fn a_number_is_itself(value in -1_000_000_i64..1_000_000) {
            #[expect(clippy::cast_precision_loss, reason = "small")]
            let wanted = value as f64;
            prop_assert_eq!(number_in(&format!("it is {value}.")), Some(wanted));
        }
    }
}
