//! The bodies of good answers, as OpenAI-compatible servers write them.
use std::fmt::Write as _;

use axum::body::{Body, Bytes};
use axum::http::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::stream;
use halma_core::LlmError;
use serde_json::{Value, json};

use crate::mischief::{CallOutcome, SpoilerCall};

use super::failure::respond;
use super::serve::refusal;
use super::{Behaviour, ChatCall, EmbedLimits, Encoding, Failure, vector};

/// Characters in one piece of a streamed reply.
const PIECE: usize = 16;

/// A request on its way to its answer.
pub(crate) struct IncomingRequest {
    pub(crate) prompt: String,
    pub(crate) body: Value,
    pub(crate) failure: Option<Failure>,
    pub(crate) authorization: Option<String>,
}

pub(crate) fn chat(behaviour: &Behaviour, request: IncomingRequest) -> Response<Body> {
    let IncomingRequest { prompt, body, failure, .. } = request;
    if !body["messages"].is_array() {
        return refusal(400, "`messages` is missing");
    }
    let call = ChatCall::new(prompt, body);
    let text = match failure {
        Some(Failure::Prose) => "Let me rather tell you how I see it.".to_owned(),
        _ => (behaviour.reply)(&call),
    };
    let SpoiledReply { text, thoughts, failure } = spoiled(behaviour, &call, text, failure);
    if let Some(response) = failure.as_ref().and_then(Failure::response) {
        return response;
    }
    if call.body["stream"] == true {
        return streamed(behaviour, &call, (&text, &thoughts), failure.as_ref());
    }
    let mut choice = json!({
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    });
    if !thoughts.is_empty() {
        choice["message"]["reasoning_content"] = json!(thoughts);
    }
    if gives_logprobs(behaviour, &call) {
        choice["logprobs"] = logprobs(&text);
    }
    let mut reply = json!({
        "id": "chatcmpl-double",
        "object": "chat.completion",
        "model": call.body["model"],
        "choices": [choice],
    });
    if behaviour.usage {
        reply["usage"] = usage(&call, &text);
    }
    let reply = reply.to_string();
    if failure == Some(Failure::CutReply) {
        return broken(vec![reply[..reply.len() / 2].to_owned()], true);
    }
    respond(200, "application/json", reply)
}

/// A reply as the behaviour's mischief leaves it.
struct SpoiledReply {
    text: String,
    /// Sent in a field of their own.
    thoughts: String,
    failure: Option<Failure>,
}

fn spoiled(
    behaviour: &Behaviour,
    call: &ChatCall,
    text: String,
    failure: Option<Failure>,
) -> SpoiledReply {
    let thoughts = String::new();
    let Some(spoiler) = &behaviour.spoiler else { return SpoiledReply { text, thoughts, failure } };
    let prompt = call.prompt.as_str();
    let max_tokens = ["max_tokens", "max_completion_tokens"];
    let max_tokens = max_tokens.iter().find_map(|name| call.body[*name].as_u64()).unwrap_or(0);
    match spoiler.decide(&SpoilerCall { prompt, messages: &call.messages, max_tokens }) {
        CallOutcome::Untouched => SpoiledReply { text, thoughts, failure },
        CallOutcome::Spoiled(seed) => {
            let (text, thoughts) = spoiler.spoil(prompt, &text, seed);
            SpoiledReply { text, thoughts, failure }
        }
        CallOutcome::Fails(error) => {
            let fails = match error {
                LlmError::TooLong { .. } => Failure::TooLong,
                LlmError::Transient { throttled: true, .. } => Failure::throttled(0),
                LlmError::Transient { reason, .. } if reason == "500" => Failure::ServerError,
                _ => Failure::CutReply,
            };
            SpoiledReply { text, thoughts, failure: failure.or(Some(fails)) }
        }
    }
}

fn gives_logprobs(behaviour: &Behaviour, call: &ChatCall) -> bool {
    let given = behaviour.spoiler.as_ref().is_none_or(|spoiler| spoiler.logprobs());
    given && call.body["logprobs"] == true
}

fn streamed(
    behaviour: &Behaviour,
    call: &ChatCall,
    (text, thoughts): (&str, &str),
    failure: Option<&Failure>,
) -> Response<Body> {
    let line = |value: Value| format!("data: {value}\n\n");
    let part = |content: &str| {
        let mut choice = json!({"index": 0, "delta": {"content": content}, "finish_reason": null});
        if gives_logprobs(behaviour, call) {
            choice["logprobs"] = logprobs(content);
        }
        line(json!({"object": "chat.completion.chunk", "choices": [choice]}))
    };
    let chars: Vec<char> = text.chars().collect();
    let mut lines: Vec<String> =
        chars.chunks(PIECE).map(|piece| part(&piece.iter().collect::<String>())).collect();
    if !thoughts.is_empty() {
        let delta = json!({"reasoning_content": thoughts});
        lines.insert(0, line(json!({"choices": [{"index": 0, "delta": delta}]})));
    }
    if matches!(failure, Some(Failure::CutReply | Failure::UnendedStream)) {
        lines.truncate(lines.len().div_ceil(2));
        return broken(lines, failure == Some(&Failure::CutReply));
    }
    lines.push(line(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})));
    if behaviour.usage && call.body["stream_options"]["include_usage"] == true {
        lines.push(line(json!({"choices": [], "usage": usage(call, text)})));
    }
    lines.push("data: [DONE]\n\n".to_owned());
    broken(lines, false)
}

/// Sends the pieces one by one; with `cut` the connection breaks after the last.
fn broken(pieces: Vec<String>, cut: bool) -> Response<Body> {
    let end = cut.then(|| Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset)));
    let pieces = pieces.into_iter().map(|piece| Ok(Bytes::from(piece))).chain(end);
    // Yields in between, so that what is cut off has been preceded by what was sent.
    let pieces = futures::StreamExt::then(stream::iter(pieces), |piece| async {
        tokio::task::yield_now().await;
        piece
    });
    respond(200, "text/event-stream", Body::from_stream(pieces))
}

fn usage(call: &ChatCall, text: &str) -> Value {
    let prompt: usize = call.messages.iter().map(|message| message.text.len() / 4 + 3).sum();
    let completion = text.len() / 4 + 1;
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    })
}

fn logprobs(text: &str) -> Value {
    let token = |word: &str| json!({"token": word, "logprob": -0.25});
    json!({"content": text.split_inclusive(' ').map(token).collect::<Vec<Value>>()})
}

/// The response and how many texts were embedded.
pub(crate) fn embeddings(
    behaviour: &Behaviour,
    request: &IncomingRequest,
) -> (Response<Body>, usize) {
    let texts: Vec<&str> = match &request.body["input"] {
        Value::String(text) => vec![text],
        Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
        _ => return (refusal(400, "`input` is missing"), 0),
    };
    if let Some(EmbedLimits { texts: max_texts, chars }) = behaviour.embed_limits {
        let count = texts.len();
        if count > max_texts {
            let message = format!("batch size {count} > maximum allowed batch size {max_texts}");
            return (refusal(422, &message), 0);
        }
        if texts.iter().any(|text| text.len() > chars) {
            return (refusal(413, "`inputs` must have less than 100 tokens"), 0);
        }
    }
    if let Some((word, failure)) = &behaviour.text_fault
        && texts.iter().any(|text| text.contains(word))
        && let Some(response) = failure.response()
    {
        return (response, 0);
    }
    let wanted = request.body["encoding_format"] == "base64";
    if wanted && behaviour.encoding == Encoding::Refused {
        return (refusal(400, "Unsupported parameter: 'encoding_format'"), 0);
    }
    let base64 = wanted && behaviour.encoding == Encoding::Base64;
    // Written by hand: a tree of half a million numbers would be most of the work.
    let mut body = String::with_capacity(texts.len() * (behaviour.dim * 6 + 64) + 128);
    body.push_str(r#"{"object":"list","data":["#);
    let mut tokens = 0;
    for (i, text) in texts.iter().enumerate() {
        tokens += text.len() / 4 + 1;
        if i > 0 {
            body.push(',');
        }
        body.push_str(r#"{"object":"embedding","index":"#);
        body.push_str(&i.to_string());
        body.push_str(r#","embedding":"#);
        let vector = vector(text, behaviour.dim);
        if base64 {
            let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
            body.push('"');
            STANDARD.encode_string(bytes, &mut body);
            body.push('"');
        } else {
            body.push_str(&serde_json::to_string(&vector).unwrap());
        }
        body.push('}');
    }
    body.push_str(r#"],"model":"double","usage":{"prompt_tokens":"#);
    let _ = write!(body, "{tokens},\"total_tokens\":{tokens}}}}}");
    (respond(200, "application/json", body), texts.len())
}

/// Scores texts by the words they share with the query, the best first, in the shape of the
/// request: `documents` as Jina and Cohere have it, `texts` as Text Embeddings Inference does.
pub(crate) fn rerank(behaviour: &Behaviour, request: &IncomingRequest) -> Response<Body> {
    let Some(query) = request.body["query"].as_str() else {
        return refusal(400, "`query` is missing");
    };
    let (texts, score_name) = match (&request.body["documents"], &request.body["texts"]) {
        (Value::Array(documents), Value::Null) => (documents, "relevance_score"),
        (Value::Null, Value::Array(texts)) => (texts, "score"),
        _ => return refusal(422, "`documents` or `texts` is missing"),
    };
    let query = vector(query, 384);
    let text = |document: &Value| match document {
        Value::String(text) => text.clone(),
        other => other["text"].as_str().unwrap_or_default().to_owned(),
    };
    let score = |document: &Value| -> f32 {
        let cosine: f32 = query.iter().zip(vector(&text(document), 384)).map(|(a, b)| a * b).sum();
        let score = cosine.clamp(0.0, 1.0);
        if behaviour.logits { 12.0 * score - 6.0 } else { score }
    };
    let mut scores: Vec<(usize, f32)> = texts.iter().map(score).enumerate().collect();
    scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let top = request.body["top_n"].as_u64().map_or(scores.len(), |n| usize::try_from(n).unwrap());
    scores.truncate(top);
    let result = |(index, score): &(usize, f32)| json!({"index": index, score_name: score});
    let results: Vec<Value> = scores.iter().map(result).collect();
    let body = if score_name == "score" { json!(results) } else { json!({"results": results}) };
    respond(200, "application/json", body.to_string())
}

pub(crate) fn models() -> Response<Body> {
    let models = json!({"object": "list", "data": [{"id": "double", "object": "model"}]});
    respond(200, "application/json", models.to_string())
}
