//! The JSON of a reply, read leniently: a reply is not lost for a field that is not as documented.
use serde::Deserialize;
use serde_json::Value;

use super::usage::WireUsage;

/// A whole reply, or one piece of a streamed one.
#[derive(Deserialize)]
#[serde(from = "Value")]
pub(crate) struct Reply {
    choices: Vec<Choice>,
    /// Whether there is a list of them, which may be empty.
    pub(crate) has_choices: bool,
    pub(crate) usage: Option<WireUsage>,
    /// Some servers report errors in responses that look like successes.
    pub(crate) error: Option<Value>,
}

pub(crate) struct Choice {
    index: u64,
    pub(crate) message: ReplyMessage,
    pub(crate) finish_reason: Option<String>,
    /// Of each token, empty where there are none.
    pub(crate) logprobs: Vec<TokenLogprob>,
}

pub(crate) struct ReplyMessage {
    pub(crate) text: String,
    /// What the model thought, empty where the server does not send it apart.
    pub(crate) thoughts: String,
    pub(crate) refusal: Option<String>,
}

impl From<Value> for Reply {
    fn from(reply: Value) -> Self {
        let list = reply.get("choices").and_then(Value::as_array);
        let choices = list.into_iter().flatten().filter(|choice| choice.is_object());
        Self {
            has_choices: list.is_some(),
            choices: choices.map(Choice::read).collect(),
            usage: reply.get("usage").and_then(WireUsage::read),
            error: reply.get("error").filter(|error| !error.is_null()).cloned(),
        }
    }
}

impl Reply {
    /// Servers may list several choices, in any order.
    pub(crate) fn first_choice(self) -> Option<Choice> {
        self.choices.into_iter().min_by_key(|choice| choice.index)
    }

    /// The piece of the first choice; a piece may be of another one.
    pub(crate) fn piece_of_first_choice(self) -> Option<Choice> {
        self.choices.into_iter().find(|choice| choice.index == 0)
    }
}

impl Choice {
    fn read(choice: &Value) -> Self {
        let part = |key: &str| choice.get(key).filter(|part| part.is_object());
        let logprobs = choice.get("logprobs").and_then(|logprobs| logprobs.get("content"));
        Self {
            index: choice.get("index").and_then(Value::as_u64).unwrap_or_default(),
            message: ReplyMessage::read(part("message").or(part("delta")).unwrap_or(&Value::Null)),
            finish_reason: choice.get("finish_reason").and_then(Value::as_str).map(str::to_owned),
            logprobs: logprobs.and_then(|list| Vec::deserialize(list).ok()).unwrap_or_default(),
        }
    }
}

impl ReplyMessage {
    fn read(message: &Value) -> Self {
        let text = |key: &str| message.get(key).map(text_of).unwrap_or_default();
        // `DeepSeek`, vLLM and `SGLang` send the first; `OpenRouter`, Ollama and newer vLLM the
        // second; some servers both.
        let thoughts = ["reasoning_content", "reasoning"].map(text);
        let thoughts = thoughts.into_iter().find(|thoughts| !thoughts.is_empty());
        Self {
            text: text("content"),
            thoughts: thoughts.unwrap_or_default(),
            refusal: Some(text("refusal")).filter(|refusal| !refusal.is_empty()),
        }
    }
}

/// A text, or the texts of its parts put together.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect(),
        Value::Object(part) => part.get("text").map(text_of).unwrap_or_default(),
        _ => String::new(),
    }
}

/// Reads a reply, also one with an escape for half a character (`\ud83d`), which JSON parsers refuse.
pub(crate) fn read_reply(bytes: &[u8]) -> serde_json::Result<Reply> {
    serde_json::from_slice(bytes).or_else(|error| {
        let repaired = without_lone_surrogates(bytes).ok_or(error)?;
        serde_json::from_slice(&repaired)
    })
}

/// The JSON with U+FFFD in the place of each lone surrogate; `None` where there is none.
fn without_lone_surrogates(json: &[u8]) -> Option<Vec<u8>> {
    let unit = |at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let (mut repaired, mut at, mut has_lone) = (Vec::with_capacity(json.len()), 0, false);
    while at < json.len() {
        let is_pair = |at| matches!(unit(at + 6), Some(0xDC00..=0xDFFF));
        let (length, is_lone) = match (json[at], unit(at)) {
            (b'\\', Some(0xD800..=0xDBFF)) if is_pair(at) => (12, false),
            (b'\\', Some(0xD800..=0xDFFF)) => (6, true),
            (b'\\', _) => (2, false),
            _ => (1, false),
        };
        let end = (at + length).min(json.len());
        repaired.extend_from_slice(if is_lone { b"\\ufffd" } else { &json[at..end] });
        has_lone |= is_lone;
        at = end;
    }
    has_lone.then_some(repaired)
}

#[derive(Deserialize)]
pub(crate) struct TokenLogprob {
    token: String,
    logprob: f32,
    /// What the token adds to the text, where the server tells it.
    #[serde(default)]
    bytes: Option<Vec<u8>>,
}

/// The tokens as pieces of the reply's text. A token may be a part of a character only, and is
/// then put together with those that complete it: their log-probabilities are added up.
pub(crate) fn pairs(tokens: Vec<TokenLogprob>) -> Vec<(String, f32)> {
    let mut pairs = Vec::with_capacity(tokens.len());
    let mut open: Option<(Vec<u8>, String, f32)> = None;
    for TokenLogprob { token, logprob, bytes } in tokens {
        let piece = bytes.unwrap_or_else(|| token.clone().into_bytes());
        let (bytes, text_of_tokens, sum) = match open.take() {
            Some((before, text_of_tokens, sum)) => {
                ([before, piece].concat(), text_of_tokens + &token, sum + logprob)
            }
            None => (piece, token, logprob),
        };
        match String::from_utf8(bytes) {
            Ok(text) => pairs.push((text, sum)),
            // No character is longer than four bytes: a longer sequence is not one.
            Err(e) if e.as_bytes().len() - e.utf8_error().valid_up_to() >= 4 => {
                pairs.push((text_of_tokens, sum));
            }
            Err(e) => open = Some((e.into_bytes(), text_of_tokens, sum)),
        }
    }
    pairs.extend(open.map(|(_, text_of_tokens, sum)| (text_of_tokens, sum)));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(json: &str) -> Choice {
        read_reply(json.as_bytes()).unwrap().first_choice().unwrap()
    }

    fn content(message: &str) -> String {
        first(&format!(r#"{{"choices":[{{"message":{message}}}]}}"#)).message.text
    }

    #[test]
    fn content_may_be_text_or_parts_or_missing() {
        assert_eq!(content(r#"{"content":"a"}"#), "a");
        let parts = r#"{"content":[{"type":"text","text":"a"},{"type":"image"},"b"]}"#;
        assert_eq!(content(parts), "ab");
        for none in [r#"{"content":null}"#, "null", "{}"] {
            assert_eq!(content(none), "", "{none}");
        }
        assert_eq!(first(r#"{"choices":[{"delta":{"content":"d"}}]}"#).message.text, "d");
        let both = r#"{"choices":[{"message":null,"delta":{"content":"d"}}]}"#;
        assert_eq!(first(both).message.text, "d");
    }

    #[test]
    fn a_reply_is_not_lost_for_a_field_of_another_type() {
        let odd = r#"{"choices":[{"index":1,"message":{"content":"second"}},
            {"index":0,"finish_reason":{"type":"stop"},"logprobs":{"content":[{"token":"a","logprob":null}]},
            "message":{"content":"first","reasoning_content":{"text":"hm"},"refusal":[]}}]}"#;
        let choice = first(odd);
        assert_eq!((choice.message.text.as_str(), choice.message.refusal), ("first", None));
        assert_eq!((choice.message.thoughts.as_str(), choice.finish_reason), ("hm", None));
        assert!(choice.logprobs.is_empty());
        for none in [r#"{"choices":[]}"#, r#"{"choices":null}"#, "[]", r#"{"choices":[null]}"#] {
            assert!(read_reply(none.as_bytes()).unwrap().first_choice().is_none(), "{none}");
        }
        let second = r#"{"choices":[{"index":1,"delta":{"content":"x"}}]}"#;
        assert!(read_reply(second.as_bytes()).unwrap().piece_of_first_choice().is_none());
    }

    #[test]
    fn half_a_character_is_replaced_and_the_rest_read() {
        assert_eq!(
            content(r#"{"content":"a\ud83d b \ude00 \ud83d\ude00 \\ud83d"}"#),
            "a\u{fffd} b \u{fffd} 😀 \\ud83d"
        );
        assert!(read_reply(br#"{"choices": [\ud83d"#).is_err());
    }

    #[test]
    fn tokens_that_share_a_character_are_put_together() {
        let tokens =
            |json: &str| -> Vec<(String, f32)> { pairs(serde_json::from_str(json).unwrap()) };
        let split = r#"[{"token":"Ol","logprob":-1.0,"bytes":[79,108]},
            {"token":"\\xc3","logprob":-0.5,"bytes":[195]},
            {"token":"\\xa9","logprob":-0.25,"bytes":[169]},
            {"token":"!","logprob":0.0,"bytes":null}]"#;
        let expected = [("Ol", -1.0), ("é", -0.75), ("!", 0.0)];
        assert_eq!(tokens(split), expected.map(|(text, sum)| (text.to_owned(), sum)));
        let broken = r#"[{"token":"\\xc3","logprob":-0.5,"bytes":[195]}]"#;
        assert_eq!(tokens(broken), [("\\xc3".to_owned(), -0.5)]);
    }
}
