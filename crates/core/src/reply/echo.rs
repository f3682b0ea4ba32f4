//! What a small model copies instead of writing: the instructions, the types of the form, or the
//! content of a worked example.
use std::borrow::Cow;

use serde_json::Value;

use super::loose::parse_loose;
use super::regions::regions;
use crate::Message;

/// Fields that explain a reply and decide nothing: a copy in them is dropped.
const EXPLANATIONS: [&str; 4] = ["rationale", "thinking", "reason", "thought"];

/// Words of a text that is found in the instructions by more than chance.
const COPIED_WORDS: usize = 4;

/// Words that say that something is missing, as instructions and honest replies both do.
const NEGATIONS: [&str; 6] = ["not", "no", "none", "nothing", "cannot", "neither"];

/// Types that a form shows in the places of values.
const TYPES: [&str; 4] = ["string", "integer", "number", "boolean"];

/// What the messages of a prompt hold that a reply may copy.
pub(crate) struct Echo {
    /// Words of the instructions, as [`words`] joins them.
    instructions: String,
    /// The worked examples, what is asked in them and what is replied.
    examples: String,
    /// Words of what is asked: a reply may well repeat them.
    request: String,
}

impl Echo {
    /// `messages` are the prompt's: its instructions, its worked examples, and last what is asked.
    pub(crate) fn new(messages: &[Message]) -> Self {
        let (request, before) = messages
            .split_last()
            .map_or(("", messages), |(last, before)| (last.text.as_str(), before));
        let texts = |is_system: bool| {
            let of = before.iter().filter(|message| (message.role == "system") == is_system);
            of.map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n")
        };
        let (instructions, examples) = (words(&texts(true)), texts(false));
        Self { instructions, examples, request: words(request) }
    }

    /// The reply without copies in its explanations; the error names a field that is a copy.
    pub(crate) fn without_copies<'a>(&self, reply: &'a str) -> Result<Cow<'a, str>, String> {
        let (mut left, mut copied, mut has_texts) = (Cow::Borrowed(reply), None, false);
        each_text(reply, &mut |field, text| {
            has_texts = true;
            if !self.is_copied(text) {
                return;
            }
            if EXPLANATIONS.contains(&field) {
                left = left.replace(&Value::from(text).to_string(), "\"\"").into();
            } else {
                copied = copied.take().or_else(|| Some(field.to_owned()));
            }
        });
        // A reply in lines has no fields.
        if !has_texts && reply.lines().any(|line| self.is_copied(line)) {
            copied = Some("the reply".to_owned());
        }
        match copied {
            Some(field) => Err(format!(
                "`{field}` is copied from the instructions or from an example; write what \
                 belongs there for this question"
            )),
            None => Ok(left),
        }
    }

    fn is_copied(&self, text: &str) -> bool {
        if TYPES.contains(&text.trim()) {
            return !self.request.contains(&words(text));
        }
        let text_words = words(text);
        if text_words.trim().is_empty() || self.request.contains(&text_words) {
            return false;
        }
        // "Which of [1] is older?" is a form of its own, which plans share with examples.
        let refers = text.contains(['[', '#']);
        let is_negative = text_words.split(' ').any(|word| NEGATIONS.contains(&word));
        let is_long = text_words.split_whitespace().count() >= COPIED_WORDS;
        let of_instructions =
            is_long && !is_negative && !refers && self.instructions.contains(&text_words);
        let of_examples = || self.is_content(text) && words(&self.examples).contains(&text_words);
        of_instructions || (!is_negative && !refers && of_examples())
    }

    /// Whether a text has a name that nobody asked for, or an amount: those of the examples are
    /// made up.
    fn is_content(&self, text: &str) -> bool {
        let count = text.split_whitespace().count();
        let is_amount = count > 1 && text.starts_with(|c: char| c.is_ascii_digit());
        // The first word of a sentence or a question has a capital letter in any case.
        let is_sentence = count > 2 || text.ends_with('?');
        let mut names = text.split_whitespace().skip(usize::from(is_sentence));
        is_amount
            || names.any(|word| {
                let name = word.trim_matches(|c: char| !c.is_alphanumeric());
                let is_name = word.starts_with(char::is_uppercase);
                is_name && self.examples.contains(name) && !self.request.contains(&words(word))
            })
    }
}

/// Words in lower case, with one space before and after each.
fn words(text: &str) -> String {
    let mut out = String::from(" ");
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        out.extend(word.chars().flat_map(char::to_lowercase));
        out.push(' ');
    }
    out
}

/// Visits every text in the JSON of a reply with the name of its field.
fn each_text(reply: &str, visit: &mut impl FnMut(&str, &str)) {
    for region in regions(reply.trim()) {
        let value = serde_json::from_str(region).ok().or_else(|| parse_loose(region));
        if let Some(value) = value {
            walk("", &value, visit);
        }
    }
}

fn walk(field: &str, value: &Value, visit: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) => visit(field, text),
        Value::Array(items) => items.iter().for_each(|item| walk(field, item, visit)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| walk(name, value, visit)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: &str, text: &str) -> Message {
        Message { role: role.into(), text: text.into() }
    }

    fn echo() -> Echo {
        Echo::new(&[
            message(
                "system",
                "- If the passages do not contain the answer, say so.\n- `rationale`: one short \
                 sentence for each step, with the number of its passage.\nReply with one JSON \
                 object:\n{\"rationale\": string, \"answer\": string}",
            ),
            message("user", "[1] Ada Brandt built the Kolmar Ferry for 6 crowns.\nWho built it?"),
            message(
                "assistant",
                "{\"rationale\": \"Passage [1] names her.\", \"answer\": \"Ada Brandt\"}",
            ),
            message("user", "[1] The contract with Acme ends in 2027.\nWhen does it end?"),
        ])
    }

    #[test]
    fn a_copy_in_an_explanation_is_dropped() {
        let copy = r#"{"rationale": "One short sentence for each step", "answer": "2027"}"#;
        assert_eq!(echo().without_copies(copy).unwrap(), r#"{"rationale": "", "answer": "2027"}"#);
    }

    #[test]
    fn a_copy_anywhere_else_is_refused() {
        for answer in ["one short sentence for each step", "Ada Brandt", "6 crowns", "string"] {
            let reply = format!(r#"Sure: {{"rationale": "So.", "answer": "{answer}"}}"#);
            assert!(echo().without_copies(&reply).unwrap_err().contains("`answer`"), "{answer}");
        }
        let prompt =
            "- `rationale`: one short sentence for each step, with the number of its passage.";
        assert!(echo().without_copies(prompt).is_err());
    }

    #[test]
    fn what_is_not_copied_is_left_as_it_is() {
        for reply in [
            r#"{"rationale": "The passages do not contain the answer.", "answer": ""}"#,
            r#"{"rationale": "Passage [1] names her.", "answer": "2027"}"#,
            r#"{"rationale": "The contract with Acme ends in 2027.", "answer": "Acme"}"#,
            r#"{"rationale": "So.", "answer": "2 crowns"}"#,
            r#"{"rationale": "So.", "answer": "No"}"#,
            r#"{"rationale": "So.", "sub_questions": ["Who built it?", "Who?"]}"#,
            "2027",
            "",
        ] {
            assert_eq!(echo().without_copies(reply).unwrap(), reply);
        }
    }
}
