//! The JSON of the chat call, both ways.
use std::borrow::Cow;

use halma_core::{ChatRequest, Message};
use halma_net::Endpoint;
use serde::ser::{SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::dialect::{Dialect, JsonFormat};
use super::usage::{WireUsage, read_usage};

/// Longest name of a schema that servers take.
const NAME_LENGTH: usize = 64;

#[derive(Serialize)]
struct ChatBody<'a> {
    model: &'a str,
    messages: Messages<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Format<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonSchema {
        json_schema: NamedSchema<'a>,
    },
    JsonObject {
        #[serde(skip_serializing_if = "Option::is_none")]
        schema: Option<&'a Value>,
    },
}

#[derive(Serialize)]
struct NamedSchema<'a> {
    name: String,
    strict: bool,
    schema: &'a Value,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

/// Messages as servers take them: plain text, and parts where images belong to the last one.
struct Messages<'a> {
    messages: &'a [Message],
    images: &'a [String],
}

#[derive(Serialize)]
struct RequestMessage<'a> {
    role: &'a str,
    content: RequestContent<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum RequestContent<'a> {
    Text(&'a str),
    Parts(Vec<RequestPart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum RequestPart<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl<'a> },
}

#[derive(Serialize)]
struct ImageUrl<'a> {
    url: &'a str,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.messages.len()))?;
        for (i, Message { role, text }) in self.messages.iter().enumerate() {
            let content = if i + 1 == self.messages.len() && !self.images.is_empty() {
                let images = self.images.iter().map(|url| ImageUrl { url });
                let images = images.map(|image_url| RequestPart::ImageUrl { image_url });
                RequestContent::Parts(
                    std::iter::once(RequestPart::Text { text }).chain(images).collect(),
                )
            } else {
                RequestContent::Text(text)
            };
            list.serialize_element(&RequestMessage { role, content })?;
        }
        list.end()
    }
}

/// The body of a request as this server wants it.
pub(crate) fn body(
    endpoint: &Endpoint,
    request: &ChatRequest,
    dialect: Dialect,
    stream: bool,
) -> serde_json::Result<Vec<u8>> {
    let Endpoint { model, extra, .. } = endpoint;
    let max_tokens = Some(request.max_tokens);
    let messages = if dialect.system() {
        Cow::Borrowed(&request.messages)
    } else {
        Cow::Owned(without_system(&request.messages))
    };
    let response_format =
        request.schema.as_deref().and_then(|schema| match dialect.json_format() {
            JsonFormat::Schema => {
                let name = schema_name(&request.prompt);
                Some(Format::JsonSchema { json_schema: NamedSchema { name, strict: true, schema } })
            }
            JsonFormat::ObjectWithSchema => Some(Format::JsonObject { schema: Some(schema) }),
            JsonFormat::Object => Some(Format::JsonObject { schema: None }),
            JsonFormat::Words => None,
        });
    let body = ChatBody {
        model,
        messages: Messages { messages: &messages, images: &request.images },
        max_tokens: max_tokens.filter(|_| !dialect.max_completion_tokens()),
        max_completion_tokens: max_tokens.filter(|_| dialect.max_completion_tokens()),
        temperature: dialect.temperature().then_some(request.temperature),
        stop: &request.stop,
        response_format,
        logprobs: (request.logprobs && dialect.logprobs()).then_some(true),
        stream: stream.then_some(true),
        stream_options: (stream && dialect.stream_usage())
            .then_some(StreamOptions { include_usage: true }),
    };
    if extra.is_empty() {
        return serde_json::to_vec(&body);
    }
    let mut body = serde_json::to_value(&body)?;
    for (field, value) in extra {
        body[field] = value.clone();
    }
    serde_json::to_vec(&body)
}

/// What the system says, at the beginning of the first message of the user: for models whose chat
/// template knows no system.
fn without_system(messages: &[Message]) -> Vec<Message> {
    let (system, mut others): (Vec<Message>, Vec<Message>) =
        messages.iter().cloned().partition(|message| message.role == "system");
    let system: String = system.into_iter().map(|message| message.text + "\n\n").collect();
    match others.first_mut() {
        Some(first) if first.role == "user" => first.text.insert_str(0, &system),
        _ => others.insert(0, Message { role: "user".into(), text: system }),
    }
    others
}

/// Servers take letters, digits, `_` and `-` only.
fn schema_name(prompt: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = prompt.chars().map(fits).take(NAME_LENGTH).collect();
    if name.is_empty() { "reply".into() } else { name }
}

/// A whole reply, or one piece of a streamed one.
#[derive(Deserialize)]
pub(crate) struct Reply {
    #[serde(default)]
    pub(crate) choices: Option<Vec<Choice>>,
    #[serde(default, deserialize_with = "read_usage")]
    pub(crate) usage: Option<WireUsage>,
    /// Some servers report errors in responses that look like successes.
    #[serde(default)]
    pub(crate) error: Option<Value>,
}

#[derive(Deserialize)]
pub(crate) struct Choice {
    #[serde(default, alias = "delta")]
    pub(crate) message: ReplyMessage,
    #[serde(default)]
    pub(crate) finish_reason: Option<String>,
    #[serde(default)]
    pub(crate) logprobs: Option<Logprobs>,
}

#[derive(Default, Deserialize)]
pub(crate) struct ReplyMessage {
    #[serde(default)]
    pub(crate) content: Option<Content>,
    /// The thoughts of a reasoning model, as `DeepSeek`, vLLM and `SGLang` send them.
    #[serde(default)]
    reasoning_content: Option<String>,
    /// The same of `OpenRouter`, Ollama and newer vLLM; some servers send both.
    #[serde(default)]
    reasoning: Option<Value>,
    #[serde(default)]
    pub(crate) refusal: Option<String>,
}

impl ReplyMessage {
    /// What the model thought, empty where the server does not say.
    pub(crate) fn thoughts(&self) -> &str {
        let other = || self.reasoning.as_ref().and_then(Value::as_str);
        self.reasoning_content.as_deref().or_else(other).unwrap_or_default()
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
pub(crate) struct Part {
    #[serde(default)]
    text: Option<String>,
}

impl Content {
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => parts.into_iter().filter_map(|part| part.text).collect(),
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct Logprobs {
    #[serde(default)]
    pub(crate) content: Option<Vec<TokenLogprob>>,
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
        let own = bytes.unwrap_or_else(|| token.clone().into_bytes());
        let (bytes, text_of_tokens, sum) = match open.take() {
            Some((before, text_of_tokens, sum)) => {
                ([before, own].concat(), text_of_tokens + &token, sum + logprob)
            }
            None => (own, token, logprob),
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

    fn content(json: &str) -> String {
        let reply: Reply = serde_json::from_str(json).unwrap();
        let choice = reply.choices.unwrap().remove(0);
        choice.message.content.map(Content::into_text).unwrap_or_default()
    }

    #[test]
    fn content_may_be_text_or_parts_or_missing() {
        assert_eq!(content(r#"{"choices":[{"message":{"content":"a"}}]}"#), "a");
        let parts = r#"{"choices":[{"message":{"content":[{"type":"text","text":"a"},
            {"type":"image"},{"type":"text","text":"b"}],"reasoning_content":"hm"}}]}"#;
        assert_eq!(content(parts), "ab");
        assert_eq!(content(r#"{"choices":[{"message":{"content":null}}],"usage":null}"#), "");
        assert_eq!(content(r#"{"choices":[{"delta":{"content":"d"}}]}"#), "d");
    }

    #[test]
    fn tokens_that_share_a_character_are_put_together() {
        let tokens = |json: &str| -> Vec<(String, f32)> {
            let tokens: Logprobs = serde_json::from_str(json).unwrap();
            pairs(tokens.content.unwrap())
        };
        let split = r#"{"content":[{"token":"Ol","logprob":-1.0,"bytes":[79,108]},
            {"token":"\\xc3","logprob":-0.5,"bytes":[195]},
            {"token":"\\xa9","logprob":-0.25,"bytes":[169]},
            {"token":"!","logprob":0.0,"bytes":null}]}"#;
        let expected = [("Ol", -1.0), ("é", -0.75), ("!", 0.0)];
        assert_eq!(tokens(split), expected.map(|(text, sum)| (text.to_owned(), sum)));
        let broken = r#"{"content":[{"token":"\\xc3","logprob":-0.5,"bytes":[195]}]}"#;
        assert_eq!(tokens(broken), [("\\xc3".to_owned(), -0.5)]);
    }

    #[test]
    fn a_schema_is_named_as_servers_want_it() {
        assert_eq!(schema_name("kar3/select.2"), "kar3_select_2");
        assert_eq!(schema_name(&"x".repeat(200)).len(), NAME_LENGTH);
        assert_eq!(schema_name(""), "reply");
    }
}
