//! What each kind makes of a reply.
use halma_core::text::numbers::CARDINALS;
use serde_json::{Map, Value, json};

use super::Mischief;

/// A word that stands in drafts only: where it turns up in an answer or a query, a draft was
/// taken for the reply.
pub const DRAFT: &str = "Draftonia";

impl Mischief {
    /// The spoiled text of a reply. The kinds that are not about its text leave it as it is.
    pub fn spoil(self, text: &str, seed: u64) -> String {
        match self {
            Self::ThinkTag => format!("<think>\n{}\n</think>\n\n{text}", draft(text)),
            Self::ReasoningTag => format!("<reasoning>{}</reasoning>{text}", draft(text)),
            Self::UnopenedThoughts => format!("{}\n</think>\n{text}", draft(text)),
            Self::UnclosedThoughts => format!("<think>\n{}\nBut wait", draft(text)),
            Self::Preamble => format!("Sure! Here is the reply:\n\n{text}\n\nI hope this helps!"),
            Self::Fence => format!("```json\n{text}\n```"),
            Self::Truncated => text.chars().take(text.chars().count() * 3 / 5).collect(),
            Self::TwoObjects if is_object(text) => {
                format!("{}\n\nWait, this must be corrected:\n\n{text}", drafted(text))
            }
            Self::Refusal | Self::DeafPrompt => "I'm sorry, but I can't help with that.".to_owned(),
            Self::Empty => String::new(),
            _ => match serde_json::from_str(text) {
                Ok(Value::Object(fields)) => self.spoil_object(fields, seed),
                _ => text.to_owned(),
            },
        }
    }

    fn spoil_object(self, fields: Map<String, Value>, seed: u64) -> String {
        let whole = || Value::Object(fields.clone());
        let none = |none: &str| answers_become(whole(), &json!(none));
        let numbers = |by: fn(i64) -> Value| numbers_become(whole(), by);
        let keys = |by: fn(&str) -> String| keys_become(whole(), by);
        let value = match self {
            Self::NullAnswer => answers_become(Value::Object(fields), &Value::Null),
            Self::UnknownAnswer => none("Unknown"),
            Self::NotApplicable => none("N/A"),
            Self::NotMentioned => none("Not mentioned in the passages."),
            Self::NumberWords => numbers(|n| word(n).map_or(json!(n), Value::from)),
            Self::NumberStrings => numbers(|n| json!(n.to_string())),
            Self::NumberDots => numbers(|n| json!(format!("{n}."))),
            Self::NumberBrackets => numbers(|n| json!(format!("[{n}]"))),
            Self::OutOfRange => numbers(|n| json!(n + 1000)),
            Self::KeyCase => keys(str::to_uppercase),
            Self::KeySpaces => keys(|key| {
                let spaced = key.replace('_', " ");
                spaced[..1].to_uppercase() + &spaced[1..]
            }),
            Self::StringForList => Value::Object(each(fields, string_for_list)),
            Self::ListForString => Value::Object(each(fields, |value| match value {
                text @ Value::String(_) => json!([text]),
                other => other,
            })),
            Self::ExtraKeys => {
                let mut extra = Map::new();
                extra.insert("confidence_level".into(), json!("high"));
                extra.insert("sources".into(), json!([{"page": 3}]));
                Value::Object(extra.into_iter().chain(fields).collect())
            }
            Self::MissingKeys => {
                let missing = usize::try_from(seed >> 8).unwrap_or_default() % fields.len().max(1);
                let others = fields.into_iter().enumerate().filter(|(i, _)| *i != missing);
                Value::Object(others.map(|(_, field)| field).collect())
            }
            _ => Value::Object(fields),
        };
        match self {
            Self::CurlyQuotes => written(&value, &Marks { open: '“', close: '”', python: false }),
            Self::PythonLiterals => {
                written(&value, &Marks { open: '\'', close: '\'', python: true })
            }
            _ => value.to_string(),
        }
    }
}

fn is_object(text: &str) -> bool {
    matches!(serde_json::from_str(text), Ok(Value::Object(_)))
}

/// Thoughts with a draft that fits what was asked for.
pub(super) fn draft(text: &str) -> String {
    format!("The user wants a reply. Perhaps:\n{}\nNo, that is wrong.", drafted(text))
}

fn drafted(text: &str) -> String {
    let Ok(value @ Value::Object(_)) = serde_json::from_str(text) else {
        return format!("What is {DRAFT}?");
    };
    strings_become_drafts(value).to_string()
}

/// Words in lower case are choices of an enumeration and stay.
fn strings_become_drafts(value: Value) -> Value {
    match value {
        Value::String(text) if text.contains(|c: char| !c.is_ascii_lowercase() && c != '_') => {
            json!(format!("What is {DRAFT}?"))
        }
        Value::Array(items) => items.into_iter().map(strings_become_drafts).collect(),
        Value::Object(fields) => Value::Object(each(fields, strings_become_drafts)),
        other => other,
    }
}

fn each(fields: Map<String, Value>, by: impl Fn(Value) -> Value) -> Map<String, Value> {
    fields.into_iter().map(|(key, value)| (key, by(value))).collect()
}

fn answers_become(value: Value, none: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let field = |(key, value): (String, Value)| {
                let value = match (key.as_str(), value) {
                    ("answer", _) => none.clone(),
                    ("answers", Value::Array(list)) if list.iter().all(Value::is_string) => {
                        list.iter().map(|_| none.clone()).collect()
                    }
                    (_, other) => answers_become(other, none),
                };
                (key, value)
            };
            Value::Object(fields.into_iter().map(field).collect())
        }
        Value::Array(items) => items.into_iter().map(|item| answers_become(item, none)).collect(),
        other => other,
    }
}

fn numbers_become(value: Value, by: fn(i64) -> Value) -> Value {
    match value {
        Value::Number(number) => number.as_i64().map_or(Value::Number(number), by),
        Value::Array(items) => items.into_iter().map(|item| numbers_become(item, by)).collect(),
        Value::Object(fields) => Value::Object(each(fields, |value| numbers_become(value, by))),
        other => other,
    }
}

fn keys_become(value: Value, by: fn(&str) -> String) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(|item| keys_become(item, by)).collect(),
        Value::Object(fields) => {
            let field = |(key, value): (String, Value)| (by(&key), keys_become(value, by));
            Value::Object(fields.into_iter().map(field).collect())
        }
        other => other,
    }
}

fn string_for_list(value: Value) -> Value {
    let texts = |items: &[Value]| -> Option<Vec<String>> {
        let text = |item: &Value| match item {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        items.iter().map(text).collect()
    };
    match &value {
        Value::Array(items) => texts(items).map_or(value.clone(), |texts| json!(texts.join("\n"))),
        _ => value,
    }
}

fn word(number: i64) -> Option<&'static str> {
    CARDINALS.get(usize::try_from(number).ok()?).copied()
}

/// How a value is written in something that is nearly JSON.
struct Marks {
    open: char,
    close: char,
    python: bool,
}

fn written(value: &Value, marks: &Marks) -> String {
    let Marks { open, close, python } = marks;
    let comma = if *python { ", " } else { "" };
    let quoted = |text: &str| {
        let escaped = text.replace('\\', "\\\\").replace(*close, &format!("\\{close}"));
        format!("{open}{escaped}{close}")
    };
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| written(item, marks)).collect();
            let comma = if items.is_empty() { "" } else { comma };
            format!("[{}{comma}]", items.join(", "))
        }
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                format!("{}: {}", quoted(key), written(value, marks))
            };
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("{{{}{comma}}}", fields.join(", "))
        }
        Value::Null if *python => "None".into(),
        Value::Bool(true) if *python => "True".into(),
        Value::Bool(false) if *python => "False".into(),
        other => other.to_string(),
    }
}
