//! Numbers as models write them in text: `3.`, `[3]`, `#3`, `three`, `Candidate 3`.
use halma_text::numbers::cardinal;
use serde_json::Number;

/// The one number that a text names; `None` where it names none or several.
pub(crate) fn read_number(text: &str) -> Option<Number> {
    let mut numbers = text.split([' ', ',', ';', '/', '\n']).filter_map(of_word);
    let number = numbers.next()?;
    numbers.next().is_none().then_some(number)
}

fn of_word(word: &str) -> Option<Number> {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-');
    if let Ok(whole) = bare.parse::<i64>() {
        return Some(whole.into());
    }
    if bare.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return bare.parse().ok().and_then(Number::from_f64);
    }
    let lower = bare.to_lowercase();
    cardinal(&lower).or((lower == "none").then_some(0)).map(Number::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_number_of_a_text_is_read() {
        for text in ["3", " 3. ", "[3]", "#3", "(3)", "three", "Three.", "Candidate 3", "No. 3:"] {
            assert_eq!(read_number(text), Some(3.into()), "{text}");
        }
        assert_eq!(read_number("0.5"), Number::from_f64(0.5));
        assert_eq!(read_number("None"), Some(0.into()));
        assert_eq!(read_number("-1"), Some((-1).into()));
        for text in ["", "two of five", "1, 2", "many", "3rd", "12th of May"] {
            assert_eq!(read_number(text), None, "{text}");
        }
    }
}
