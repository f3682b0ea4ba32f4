//! An answer as a model gives it, where "Unknown" and its like are no answer.
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::parse_json;
use super::thoughts::{Split, split_thoughts, without_turn_end};

/// A short answer in a reply: a text, a number, a truth, or nothing. What models write when they
/// have none (`null`, "Unknown", "N/A", "not mentioned in the passages", a refusal) is empty, and
/// what they put around one (thoughts, a fence, "Answer:") is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct AnswerText(pub String);

impl<'de> Deserialize<'de> for AnswerText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnswerVisitor)
    }
}

impl From<&str> for AnswerText {
    fn from(text: &str) -> Self {
        let bare = unwrapped(text);
        Self(if is_no_answer(bare) { String::new() } else { bare.to_owned() })
    }
}

/// Labels that models put before an answer.
const LABELS: [&str; 5] =
    ["answer:", "final answer:", "short answer:", "the answer is:", "assistant:"];

/// An answer without what models put around it; one without that as it is.
fn unwrapped(text: &str) -> &str {
    let bare = without_turn_end(text);
    let fenced = bare.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let bare = fenced.map_or(bare, |inner| match inner.split_once('\n') {
        Some((language, inner)) if !language.contains(' ') => inner.trim(),
        _ => inner.trim(),
    });
    let label = LABELS.iter().find(|label| {
        bare.get(..label.len()).is_some_and(|start| start.eq_ignore_ascii_case(label))
    });
    let bare = label.map_or(bare, |label| bare[label.len()..].trim());
    if bare.len() == text.trim().len() { text } else { bare }
}

struct AnswerVisitor;

impl<'de> Visitor<'de> for AnswerVisitor {
    type Value = AnswerText;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an answer: a string, a number, true, false or null")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<AnswerText, E> {
        let Split { thoughts, reply, .. } = split_thoughts(text);
        if thoughts.is_empty() {
            return match within_json(text) {
                Some(answer) => Ok(answer),
                None => Ok(AnswerText::from(text)),
            };
        }
        if reply.is_empty() {
            return Err(E::custom("there is nothing but thoughts in the answer"));
        }
        Ok(AnswerText::from(reply.as_str()))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<AnswerText, E> {
        Ok(AnswerText(if truth { "yes" } else { "no" }.to_owned()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<AnswerText, E> {
        Ok(AnswerText(number.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<AnswerText, E> {
        Ok(AnswerText(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<AnswerText, E> {
        Ok(AnswerText(number.to_string()))
    }

    fn visit_unit<E>(self) -> Result<AnswerText, E> {
        Ok(AnswerText::default())
    }

    /// An object in the place of a text: what it has under a usual name, or its only text.
    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<AnswerText, A::Error> {
        let fields = Map::deserialize(MapAccessDeserializer::new(fields))?;
        let named = ["answer", "text", "value", "name"].iter().find_map(|name| fields.get(*name));
        let mut texts = fields.values().filter(|value| value.is_string());
        let only = texts.next().filter(|_| texts.next().is_none());
        let value = named.or(only).filter(|value| !value.is_object());
        let value = value.ok_or_else(|| A::Error::custom("an object without a text"))?;
        AnswerText::deserialize(value).map_err(A::Error::custom)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<AnswerText, A::Error> {
        let mut texts = vec![];
        while let Some(AnswerText(text)) = list.next_element()? {
            texts.push(text);
        }
        texts.retain(|text| !text.is_empty());
        Ok(AnswerText(texts.join(", ")))
    }
}

/// The answer of an object that a model has written as a text.
fn within_json(text: &str) -> Option<AnswerText> {
    let object = text.trim();
    let object = object.starts_with('{').then(|| serde_json::from_str::<Value>(object).ok())??;
    AnswerText::deserialize(object.get("answer")?).ok()
}

/// What a model writes in the place of an answer, as a whole, in the languages of most documents.
const WHOLE: [&str; 43] = [
    "",
    "unknown",
    "n/a",
    "n.a",
    "none",
    "null",
    "nil",
    "undefined",
    "undetermined",
    "unanswerable",
    "not available",
    "not applicable",
    "no answer",
    "i don't know",
    "i do not know",
    "i'm not sure",
    "don't know",
    "?",
    "answer",
    "your answer",
    "your answer here",
    "unbekannt",
    "nicht bekannt",
    "keine angabe",
    "keine angaben",
    "inconnu",
    "inconnue",
    "desconocido",
    "desconocida",
    "desconhecido",
    "desconhecida",
    "sconosciuto",
    "sconosciuta",
    "onbekend",
    "okänt",
    "ukjent",
    "ukendt",
    "nieznane",
    "неизвестно",
    "未知",
    "不明",
    "不知道",
    "알 수 없음",
];

/// How a sentence begins that says that there is none, or that the model refuses.
const BEGINNINGS: [&str; 66] = [
    "not mentioned",
    "not stated",
    "not specified",
    "not provided",
    "not given",
    "not found",
    "not known",
    "not enough info",
    "not explicitly",
    "not in the passage",
    "no information",
    "no relevant information",
    "no answer found",
    "insufficient information",
    "insufficient data",
    "cannot be determined",
    "cannot determine",
    "can't be determined",
    "could not be determined",
    "unable to determine",
    "unknown based on",
    "unknown from",
    "information not",
    "there is no information",
    "there is not enough information",
    "none of the passages",
    "the passages do not",
    "the passage does not",
    "the passages don't",
    "the passage doesn't",
    "the provided passages do not",
    "the provided passages don't",
    "the provided context does not",
    "the given passages do not",
    "the context does not",
    "the text does not",
    "the documents do not",
    "the answer is not",
    "the answer is unknown",
    "the answer cannot",
    "the answer can't",
    "it is not mentioned",
    "it is not stated",
    "it is not specified",
    "it is unknown",
    "it cannot be determined",
    "i could not find",
    "i couldn't find",
    "i cannot answer",
    "i can't answer",
    "i cannot assist",
    "i can't assist",
    "i cannot help",
    "i can't help",
    "i'm sorry, but",
    "i am sorry, but",
    "sorry, but i",
    "sorry, i can",
    "as an ai",
    "nicht erwähnt",
    "nicht in den passagen",
    "non mentionné",
    "no se menciona",
    "não mencionad",
    "未提及",
    "没有提到",
];

/// Whether a text says that there is no answer.
pub(crate) fn is_no_answer(text: &str) -> bool {
    let lower = text.replace('’', "'").to_lowercase();
    let bare = lower.trim().trim_matches(|c: char| "\"'.()[]<>{}*-–—。 ".contains(c));
    // "Based on the passages, the answer cannot be determined."
    let bare = match bare.split_once(", ") {
        Some((before, after)) if before.starts_with("based on the") => after,
        _ => bare,
    };
    WHOLE.contains(&bare) || BEGINNINGS.iter().any(|beginning| bare.starts_with(beginning))
}

/// Whether a reply to a prompt that asks for `answer` gives none.
pub(crate) fn is_silent(reply: &str) -> bool {
    #[derive(Deserialize)]
    struct Given {
        answer: AnswerText,
    }
    let given = parse_json(reply).map(|Given { answer }| answer);
    given.unwrap_or_else(|_| AnswerText::from(reply)).0.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_that_there_is_no_answer_is_none() {
        let read = |json: &str| serde_json::from_str::<AnswerText>(json).unwrap().0;
        for none in [
            "null",
            r#""""#,
            r#""Unknown.""#,
            r#""N/A""#,
            r#""(unknown)""#,
            r#""None""#,
            "[]",
            r#""Not mentioned in the passages.""#,
            r#""I don’t know""#,
            r#"["Unknown"]"#,
            r#""The answer is not in the passages.""#,
            r#""Cannot be determined from this""#,
            r#""I'm sorry, but I can't assist with that.""#,
            r#""Based on the passages, the answer cannot be determined.""#,
            r#""Nicht in den Passagen erwähnt.""#,
            r#""未知。""#,
            r#""{answer}""#,
            r#"{"answer": "Unknown"}"#,
        ] {
            assert_eq!(read(none), "", "{none}");
        }
        for (some, text) in [
            (r#""The Unknown Soldier""#, "The Unknown Soldier"),
            ("42", "42"),
            ("true", "yes"),
            (r#""None of them""#, "None of them"),
            (r#""no""#, "no"),
            ("-2.5", "-2.5"),
            (r#"["Rome", "Unknown", "Oslo"]"#, "Rome, Oslo"),
            (r#""<think>hm, Bergen?</think>Oslo""#, "Oslo"),
            (r#""Oslo<|im_end|>""#, "Oslo"),
            ("\"```text\\nOslo\\n```\"", "Oslo"),
            (r#""Answer: Oslo""#, "Oslo"),
            (r#""{\"answer\": \"Oslo\"}""#, "Oslo"),
            (r#"{"text": "Oslo", "page": 3}"#, "Oslo"),
            (r#"{"city": "Oslo"}"#, "Oslo"),
            (r#"[{"name": "Oslo"}, "Rome"]"#, "Oslo, Rome"),
            (r#""I'm Sorry I Haven't a Clue""#, "I'm Sorry I Haven't a Clue"),
            (r#"" a ""#, " a "),
        ] {
            assert_eq!(read(some), text, "{some}");
        }
        for malformed in ["{}", r#"{"a": "b", "c": "d"}"#, r#""<think>Oslo?""#] {
            assert!(serde_json::from_str::<AnswerText>(malformed).is_err(), "{malformed}");
        }
    }
}
