//! Requests and endpoints that the tests share.
use std::sync::Arc;

use halma_core::{ChatReply, ChatRequest, Llm, LlmError, Message};
use halma_net::Endpoint;
use halma_testkit::double::Double;
use serde_json::json;

/// Name of the prompt in [`request`].
pub(crate) const REQUEST: &str = "test/ask";

/// The double as an endpoint without a key.
pub(crate) fn bare(double: &Double) -> Endpoint {
    Endpoint::new(double.url(), "m")
}

pub(crate) fn request(text: &str) -> ChatRequest {
    ChatRequest {
        prompt: REQUEST.into(),
        task: "read".into(),
        variables: minijinja::Value::UNDEFINED,
        messages: vec![Message { role: "user".into(), text: text.into() }],
        schema: None,
        stop: vec![],
        max_tokens: 64,
        temperature: 0.0,
        logprobs: false,
        about: vec![],
        images: vec![],
        stream: None,
    }
}

pub(crate) fn json_request() -> ChatRequest {
    let schema = json!({
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "additionalProperties": false,
    });
    ChatRequest { schema: Some(Arc::new(schema)), ..request("Answer in JSON.") }
}

pub(crate) async fn ask(
    model: &Arc<dyn Llm>,
    request: &ChatRequest,
) -> Result<ChatReply, LlmError> {
    model.chat(request).await
}

/// What to do about an outcome, in a word.
pub(crate) fn kind<T>(outcome: &Result<T, LlmError>) -> &'static str {
    match outcome {
        Ok(_) => "ok",
        Err(LlmError::Transient { .. }) => "transient",
        Err(LlmError::TooLong { .. }) => "too long",
        Err(LlmError::Refused { .. }) => "refused",
    }
}
