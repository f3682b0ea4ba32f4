//! Reading what a model really sent: JSON in a fence, with words around it, nested in another
//! object, or with the small faults that models make. What does not fit is an error, never an
//! empty value.
mod loose;

use serde::de::DeserializeOwned;
use serde_json::Value;

use self::loose::parse_loose;

/// The first value in `text` that has the shape of `R`.
///
/// Tried in this order: the whole text, every balanced `{…}` or `[…]` in it (first as JSON, then
/// loosely: single quotes, trailing commas, Python literals, comments, raw newlines), and what is
/// nested in those. A reply that was cut off is not repaired.
pub fn parse_json<R: DeserializeOwned>(text: &str) -> Result<R, String> {
    let trimmed = text.trim().trim_start_matches('\u{feff}');
    if trimmed.is_empty() {
        return Err("the reply is empty".into());
    }
    let mut complaint = match serde_json::from_str::<Value>(trimmed) {
        Ok(value) => match fit(value) {
            Ok(fitting) => return Ok(fitting),
            Err(reason) => Some(reason),
        },
        Err(_) => None,
    };
    for region in regions(trimmed) {
        let value = serde_json::from_str::<Value>(region).ok().or_else(|| parse_loose(region));
        match value.map(fit) {
            Some(Ok(fitting)) => return Ok(fitting),
            Some(Err(reason)) => complaint = complaint.or(Some(reason)),
            None => {}
        }
    }
    Err(complaint.unwrap_or_else(|| "there is no complete JSON value in the reply".into()))
}

/// The value itself, or the first object nested in it that fits.
fn fit<R: DeserializeOwned>(value: Value) -> Result<R, String> {
    let nested: Vec<Value> = match &value {
        Value::Object(fields) => fields.values().filter(|v| v.is_object()).cloned().collect(),
        Value::Array(items) if items.len() == 1 => items.clone(),
        _ => vec![],
    };
    let reason = match serde_json::from_value(value) {
        Ok(fitting) => return Ok(fitting),
        Err(e) => e.to_string(),
    };
    nested.into_iter().find_map(|value| fit(value).ok()).ok_or(reason)
}

/// Every outermost balanced `{…}` or `[…]`, quotes respected where that balances.
fn regions(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut found = vec![];
    let mut at = 0;
    while let Some(start) = bytes[at..].iter().position(|b| matches!(b, b'{' | b'[')) {
        let start = at + start;
        match balanced(&bytes[start..], true).or_else(|| balanced(&bytes[start..], false)) {
            Some(length) => {
                found.push(&text[start..start + length]);
                at = start + length;
            }
            None => at = start + 1,
        }
    }
    found
}

fn balanced(bytes: &[u8], quotes: bool) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (i, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' if quotes => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(i + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// One item a line, without its bullet or number.
pub(crate) fn parse_lines(text: &str) -> Result<Vec<String>, String> {
    let fence = |line: &&str| !line.trim_start().starts_with("```");
    let lines = text.lines().filter(fence).map(|line| strip_marker(line.trim()).to_owned());
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { Err("the reply has no lines".into()) } else { Ok(lines) }
}

/// Drops a leading `-`, `*`, `•`, `3.` or `3)`.
fn strip_marker(line: &str) -> &str {
    if let Some(rest) = line.strip_prefix(['-', '*', '•', '–']) {
        // `-5` and `**bold**` are not bullets.
        return if rest.starts_with(' ') { rest.trim() } else { line };
    }
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match digits.strip_prefix(['.', ')']) {
        Some(rest) if digits.len() < line.len() && rest.starts_with(' ') => rest.trim(),
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Choice {
        question_idx: usize,
    }

    fn choice(text: &str) -> Result<usize, String> {
        parse_json::<Choice>(text).map(|choice| choice.question_idx)
    }

    #[test]
    fn what_models_really_send_is_read() {
        for text in [
            r#"{"question_idx": 3}"#,
            "```json\n{\"question_idx\": 3}\n```",
            "Sure! Here it is:\n{\"thinking\": \"a {brace} and a \\\"quote\\\"\", \"question_idx\": 3} Bye.",
            r#"{"output": {"question_idx": 3}}"#,
            "{'thinking': 'it\\'s fine', 'question_idx': 3,}",
            "{\"thinking\": \"two\nlines\", \"question_idx\": 3}",
            "{thinking: None, question_idx: 3} // done",
            "[{\"question_idx\": 3}]",
            "First I thought {\"thinking\": \"no\"} but then {\"question_idx\": 3}",
        ] {
            assert_eq!(choice(text), Ok(3), "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_never_a_value() {
        for text in
            ["", "none of these", "{\"question_idx\": ", r#"{"question_idx": "three"}"#, "[]"]
        {
            assert!(choice(text).is_err(), "{text}");
        }
        assert!(choice(r#"{"index": 1}"#).unwrap_err().contains("question_idx"));
    }

    #[test]
    fn lines_lose_their_markers_and_nothing_else() {
        let text = "1. Who?\n- What?\n\n* -5 degrees?\n**Bold** one?\n2001: a film?";
        let lines = ["Who?", "What?", "-5 degrees?", "**Bold** one?", "2001: a film?"];
        assert_eq!(parse_lines(text).unwrap(), lines);
        assert!(parse_lines("\n \n").is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in any::<String>(), json in "[\\[\\]{}\"',: a1\\\\/\n]{0,40}") {
            let _ = choice(&text);
            let _ = choice(&json);
            let _ = parse_lines(&text);
        }
    }
}
