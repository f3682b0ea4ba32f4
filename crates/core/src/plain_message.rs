//! What parsers say of a wrong value, in plain words.
use crate::text::similarity::edit_distance;

/// The share of its letters in which a name differs at most from the one that was meant, as a divisor.
const NEAR: usize = 3;

/// Words that only programmers know, and what stands in their place.
const WORDS: [(&str, &str); 22] = [
    ("invalid type: unit variant, expected string only", "expected a text"),
    ("wanted string or table", "expected a text"),
    ("expected a string", "expected a text"),
    ("expected a boolean", "expected `true` or `false`"),
    ("expected a sequence", "expected a list"),
    ("expected a map", "expected a table"),
    ("expected u8", "expected a whole number"),
    ("expected u16", "expected a whole number"),
    ("expected u32", "expected a whole number"),
    ("expected u64", "expected a whole number"),
    ("expected usize", "expected a whole number"),
    ("expected i32", "expected a whole number"),
    ("expected i64", "expected a whole number"),
    ("expected f32", "expected a number"),
    ("expected f64", "expected a number"),
    ("invalid type: map", "invalid type: a table"),
    ("invalid type: sequence", "invalid type: a list"),
    ("invalid type: null", "invalid type: `null`"),
    ("invalid digit found in string", "it must be a whole number"),
    ("cannot parse integer from empty string", "it must be a whole number"),
    ("number too large to fit in target type", "it is too large"),
    ("provided string was not", "it must be"),
];

/// A parser's message in plain words and on one line, such as "`limit` must be a whole number, not `3.5`".
/// The message may begin with the path of the value, as `serde_path_to_error` writes it, or end with it,
/// as `toml` does; without either the value is not named.
#[must_use]
pub fn plain_message(message: &str) -> String {
    let line = message.trim().replace('\n', " ");
    let (path, line) = match (line.rsplit_once(" in `"), line.split_once(": ")) {
        (Some((line, path)), _) if path.ends_with('`') => (path.trim_end_matches('`'), line),
        (_, Some((path, line))) if !path.contains([' ', '`']) => (path, line),
        _ => ("", line.as_str()),
    };
    let path = if path == "." { "" } else { path };
    let line =
        WORDS.into_iter().fold(line.to_owned(), |line, (words, plain)| line.replace(words, plain));
    let line = without_type_names(line);
    sentence(path, &line).unwrap_or(match path {
        "" => line,
        path => format!("`{path}`: {line}"),
    })
}

/// The message as a sentence about the value, where it is one of the usual ones.
fn sentence(path: &str, line: &str) -> Option<String> {
    let subject = if path.is_empty() { String::new() } else { format!("`{path}` ") };
    if let Some(name) = line.strip_prefix("missing field `") {
        let parent = if path.is_empty() { String::new() } else { format!("{path}.") };
        return Some(format!("`{parent}{}` is required", name.trim_end_matches('`')));
    }
    let (given, expected) = line.split_once(", expected ")?;
    let name = given.split('`').nth(1).unwrap_or_default();
    if given.starts_with("unknown field ") {
        let parent = path.strip_suffix(name).unwrap_or_default();
        let names: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        return Some(
            match names.iter().find(|other| edit_distance(other, name) * NEAR <= name.len()) {
                Some(near) => {
                    format!("unknown field `{parent}{name}`; did you mean `{parent}{near}`?")
                }
                None => {
                    format!(
                        "unknown field `{parent}{name}`; the fields are `{}`",
                        names.join("`, `")
                    )
                }
            },
        );
    }
    if given.starts_with("unknown variant ") {
        let names: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        return Some(format!("{subject}must be one of `{}`, not `{name}`", names.join("`, `")));
    }
    let value = given.strip_prefix("invalid ")?;
    let range = if value.starts_with("value: integer") { " in range" } else { "" };
    let start = value.find(['`', '"']).or_else(|| Some(value.find(": ")? + 2))?;
    Some(format!("{subject}must be {expected}{range}, not {}", &value[start..]))
}

/// A message without the names of Rust types, each of which follows the words that end here.
fn without_type_names(line: String) -> String {
    const BEFORE_NAME: [(&str, &str); 3] = [
        ("expected struct ", "expected a table"),
        ("expected enum ", "expected a word"),
        ("data did not match any variant of untagged enum ", "it has none of its possible forms"),
    ];
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    BEFORE_NAME.into_iter().fold(line, |line, (before_name, words)| {
        match line.split_once(before_name) {
            Some((before, after)) => {
                format!("{before}{words}{}", after.trim_start_matches(is_of_name))
            }
            None => line,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_words_in_the_place_of_types() {
        for (message, expected) in [
            ("invalid type: integer `3`, expected struct AskConfig\n", "must be a table, not `3`"),
            ("invalid type: string \"x\", expected a sequence", "must be a list, not \"x\""),
            (
                "a.b: data did not match any variant of untagged enum FieldValue at line 1",
                "`a.b`: it has none of its possible forms at line 1",
            ),
            (
                "invalid value: integer `-1`, expected u8",
                "must be a whole number in range, not `-1`",
            ),
            (
                "limit: invalid type: map, expected usize",
                "`limit` must be a whole number, not a table",
            ),
            (
                "invalid type: string \"x\", expected usize\nin `chunks`\n",
                "`chunks` must be a whole number, not \"x\"",
            ),
            (
                "unknown field `stratgy`, expected one of `strategy`, `style`",
                "unknown field `stratgy`; did you mean `strategy`?",
            ),
            (
                "budget.cost: unknown field `cost`, expected `usd` or `calls`",
                "unknown field `budget.cost`; the fields are `usd`, `calls`",
            ),
            ("missing field `url`", "`url` is required"),
            ("unknown variant `x`, expected `a` or `b`", "must be one of `a`, `b`, not `x`"),
            ("unknown field `x`, there are no fields", "unknown field `x`, there are no fields"),
            ("expected an equals sign", "expected an equals sign"),
        ] {
            assert_eq!(plain_message(message), expected);
        }
    }
}
