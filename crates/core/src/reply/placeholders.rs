//! What a small model copies from the form that a prompt shows it: `...` stands for a text that it
//! was to write, so it is none.
use serde_json::Value;

/// A value without the placeholders in it: such a text is empty, and in a list there is none. A list
/// of nothing else has one empty text, so that it is not the empty list that says "no more".
pub(super) fn without_placeholders(value: Value) -> Value {
    match value {
        Value::String(text) if is_placeholder(&text) => Value::String(String::new()),
        Value::Array(items) => {
            let is_copied = |item: &Value| item.as_str().is_some_and(is_placeholder);
            if !items.is_empty() && items.iter().all(is_copied) {
                return Value::Array(vec![Value::String(String::new())]);
            }
            items.into_iter().filter(|item| !is_copied(item)).map(without_placeholders).collect()
        }
        Value::Object(fields) => {
            let fields = fields.into_iter();
            Value::Object(fields.map(|(key, value)| (key, without_placeholders(value))).collect())
        }
        other => other,
    }
}

/// `...`, or a question such as `Who ...?`. Titles such as `If....` are not.
fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    let is_dots = text.chars().all(|c| matches!(c, '.' | '…')) && (text.len() > 1);
    is_dots || text.contains(" ...?") || text.contains(" …?")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_copied_from_the_form_is_nothing() {
        let copied = json!({
            "thinking": "...",
            "sub_questions": ["Who ...?", "…", "Who built it?"],
            "nodes": [{"question": "When was {thing} ...?", "answer": "If...."}],
            "number": 3,
            "queries": ["...", "Who ...?"],
            "none": [],
        });
        let left = json!({
            "thinking": "",
            "sub_questions": ["Who built it?"],
            "nodes": [{"question": "", "answer": "If...."}],
            "number": 3,
            "queries": [""],
            "none": [],
        });
        assert_eq!(without_placeholders(copied), left);
        assert_eq!(without_placeholders(json!(".")), json!("."));
    }
}
