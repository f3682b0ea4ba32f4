//! The JSON of a request.
use std::borrow::Cow;

use halma_core::{ChatRequest, Message};
use halma_net::Endpoint;
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};
use serde_json::Value;

use super::dialect::{BOUNDS, Dialect, JsonFormat};

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

/// A schema without the keywords that bound a reply.
fn without_bounds(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let left = fields
                .iter()
                .filter(|(key, value)| !(BOUNDS.contains(&key.as_str()) && value.is_number()));
            left.map(|(key, value)| (key.clone(), without_bounds(value))).collect()
        }
        other => other.clone(),
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
    let schema = request.schema.as_deref().map(|schema| {
        if dialect.bounds() { Cow::Borrowed(schema) } else { Cow::Owned(without_bounds(schema)) }
    });
    let response_format = schema.as_deref().and_then(|schema| match dialect.json_format() {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_named_as_servers_want_it() {
        assert_eq!(schema_name("kar3/select.2"), "kar3_select_2");
        assert_eq!(schema_name(&"x".repeat(200)).len(), NAME_LENGTH);
        assert_eq!(schema_name(""), "reply");
    }
}
