//! Text into HTML and JSON into a script element, so that nothing a document, a model or a user
//! wrote is ever read as markup.

/// For between tags and inside double-quoted attributes. Characters that HTML cannot hold become
/// the replacement character.
pub(crate) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            '\0'..='\u{1f}' | '\u{7f}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// JSON for the inside of a script element. `<` does not occur, so that neither `</script` nor
/// `<!--` can; the two line separators are escaped as well.
pub(crate) fn json(value: &serde_json::Value) -> String {
    let written = value.to_string();
    let mut out = String::with_capacity(written.len());
    for c in written.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_text_is_markup(any in "\\PC{0,20}(<|>|\"|'|&|</script>|<!--|\\x00|\\n)\\PC{0,20}") {
            let escaped = text(&any);
            prop_assert!(!escaped.contains(['<', '>', '"', '\'', '\0']));
            let value = serde_json::json!({ "text": any });
            let data = json(&value);
            prop_assert!(!data.contains(['<', '>', '&']));
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&data).unwrap(), value);
        }
    }
}
