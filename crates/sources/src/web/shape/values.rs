//! Values of a reply of any shape as text.
use serde_json::Value;

use super::line;

/// What is no text of a box or a panel: its kind, addresses, pictures.
const UNREAD: &[&str] = &[
    "type",
    "title",
    "link",
    "displayed_link",
    "date",
    "description",
    "kgmid",
    "entity_type",
    "image",
    "images",
    "header_images",
    "thumbnail",
    "thumbnails",
    "favicon",
    "website",
    "source",
    "about_this_result",
    "about_page_link",
    "cached_page_link",
    "snippet_highlighted_words",
];

/// The value at a path of fields and numbers: `urls.0.url`. None where it is missing or null.
pub(super) fn place<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let step = |value: &'v Value, part: &str| match part.parse::<usize>() {
        Ok(at) => value.get(at),
        Err(_) => value.get(part),
    };
    let inner = path.split('.').try_fold(value, step)?;
    (!inner.is_null()).then_some(inner)
}

/// Strings, and what engines put in their places: numbers as they stand, everything else as none.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(said) => said.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// The text of a value, or of each part of a list; `["google", "timeout"]` as `google (timeout)`.
pub(super) fn each(value: &Value) -> Vec<String> {
    let one = |value: &Value| match pair(value) {
        Some((name, reason)) => format!("{name} ({reason})"),
        None => text_of(value.get(0).unwrap_or(value)),
    };
    value.as_array().map_or_else(|| vec![text_of(value)], |parts| parts.iter().map(one).collect())
}

/// Label and value: `["Moons", 274]` or `{"label": "Moons", "value": 274}`.
pub(super) fn pair(value: &Value) -> Option<(String, String)> {
    let (label, value) = match value {
        Value::Array(parts) => match parts.as_slice() {
            [label, value] => (label, value),
            _ => return None,
        },
        _ => (value.get("label")?, value.get("value")?),
    };
    Some((text_of(label), text_of(value)))
}

/// The words of a value, or of each part of a list.
pub(super) fn worded_each(value: &Value) -> Vec<String> {
    value.as_array().map_or_else(|| vec![worded(value)], |parts| parts.iter().map(worded).collect())
}

/// A field of a box with its name, unless it is no text.
pub(super) fn attribute((name, value): (&String, &Value)) -> Option<String> {
    let link = name.ends_with("_link") || name.ends_with("_links");
    let text = if link || UNREAD.contains(&name.as_str()) { String::new() } else { worded(value) };
    (!text.is_empty()).then(|| line(&name.replace('_', " "), &text))
}

/// A value in words: the parts of a list or a table next to each other, addresses left out.
pub(super) fn worded(value: &Value) -> String {
    let joined = |parts: Vec<String>, between: &str| {
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(between)
    };
    match value {
        Value::String(text) if text.starts_with("http") => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(_) | Value::Null => String::new(),
        Value::Array(parts) => {
            let rows = parts.iter().any(Value::is_array);
            joined(parts.iter().map(worded).collect(), if rows { "\n" } else { "; " })
        }
        Value::Object(fields) => {
            let named = ["name", "title"].iter().find_map(|name| fields.get(*name)).map(worded);
            let rest = fields.iter().filter(|(name, _)| *name != "name");
            let rest = rest.filter_map(|(name, value)| match name.as_str() {
                "extensions" | "formatted" | "table" | "snippet" => Some(worded(value)),
                _ => attribute((name, value)),
            });
            joined(named.into_iter().chain(rest).collect(), ", ")
        }
    }
}
