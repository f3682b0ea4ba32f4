//! An answer as a model gives it, where "Unknown" and its like are no answer.
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize};

/// A short answer in a reply: a text, a number, a truth, or nothing. What models write when they
/// have none (`null`, "Unknown", "N/A", "not mentioned in the passages") is empty.
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
        Self(if is_no_answer(text) { String::new() } else { text.to_owned() })
    }
}

struct AnswerVisitor;

impl<'de> Visitor<'de> for AnswerVisitor {
    type Value = AnswerText;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an answer: a string, a number, true, false or null")
    }

    fn visit_str<E>(self, text: &str) -> Result<AnswerText, E> {
        Ok(AnswerText::from(text))
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

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<AnswerText, A::Error> {
        let mut texts = vec![];
        while let Some(AnswerText(text)) = list.next_element()? {
            texts.push(text);
        }
        texts.retain(|text| !text.is_empty());
        Ok(AnswerText(texts.join(", ")))
    }
}

/// What a model writes in the place of an answer, as a whole.
const WHOLE: [&str; 18] = [
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
];

/// How a sentence begins that says that there is none.
const BEGINNINGS: [&str; 23] = [
    "not mentioned",
    "not stated",
    "not specified",
    "not provided",
    "not given",
    "not found",
    "not known",
    "not enough info",
    "no information",
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
    "the passages do not",
    "the passage does not",
    "the answer is not",
];

/// Whether a text says that there is no answer.
pub(crate) fn is_no_answer(text: &str) -> bool {
    let lower = text.replace('’', "'").to_lowercase();
    let bare = lower.trim().trim_matches(|c: char| "\"'.()[]<>*-–— ".contains(c));
    WHOLE.contains(&bare) || BEGINNINGS.iter().any(|beginning| bare.starts_with(beginning))
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
            (r#"" a ""#, " a "),
        ] {
            assert_eq!(read(some), text, "{some}");
        }
        assert!(serde_json::from_str::<AnswerText>("{}").is_err());
    }
}
