//! Failure modes of a model server.
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{Response, StatusCode, header};
use futures::{StreamExt as _, stream};
use serde_json::json;

/// What happens to one request instead of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// 429, with this `Retry-After` (seconds or an HTTP date).
    Throttled { retry_after: Option<String> },
    /// 500 with an error object.
    ServerError,
    /// The connection is closed before any byte of the response.
    Dropped,
    /// 200 and JSON that stops in the middle.
    MalformedJson,
    /// 200 and a web page, as a proxy's log-in or a wrong path gives.
    Html,
    /// A good response whose text is prose where JSON was asked for.
    Prose,
    /// The connection breaks in the middle of a reply, streamed or whole.
    CutReply,
    /// A streamed reply ends in order, but without its end mark.
    UnendedStream,
    /// 400 with a reason.
    Refused,
    /// 400 with the code `context_length_exceeded`.
    TooLong,
    /// 401.
    Unauthorized,
    /// The answer comes, but this much later.
    Slow(Duration),
    /// A streamed reply that is this text again and again, without an end.
    Endless(String),
    /// Any status with any body, sent as JSON.
    Status(u16, String),
}

impl Failure {
    /// A 429 that asks to come back in this many seconds.
    pub fn throttled(seconds: u64) -> Self {
        Self::Throttled { retry_after: Some(seconds.to_string()) }
    }

    /// The response, for the failures that are one; the others change how an answer is sent.
    pub(crate) fn response(&self) -> Option<Response<Body>> {
        let error = |status: u16, code: &str, message: &str| {
            let body = json!({"error": {"message": message, "type": code, "code": code}});
            Some(respond(status, "application/json", body.to_string()))
        };
        match self {
            Self::Throttled { retry_after } => {
                let mut response = error(429, "rate_limit_exceeded", "slow down")?;
                if let Some(after) = retry_after {
                    response.headers_mut().insert(header::RETRY_AFTER, after.parse().ok()?);
                }
                Some(response)
            }
            Self::Endless(text) => {
                let text = Bytes::from(text.clone());
                // Yields in between, so that the server notices that its client has left.
                let pieces = stream::repeat(text).then(|text| async {
                    tokio::task::yield_now().await;
                    Ok::<Bytes, std::io::Error>(text)
                });
                Some(respond(200, "text/event-stream", Body::from_stream(pieces)))
            }
            Self::ServerError => error(500, "server_error", "the model fell over"),
            Self::MalformedJson => {
                Some(respond(200, "application/json", r#"{"choices": [{"mess"#.to_owned()))
            }
            Self::Html => {
                let page = "<!doctype html><html><body><h1>Welcome</h1></body></html>";
                Some(respond(200, "text/html; charset=utf-8", page.to_owned()))
            }
            Self::Refused => error(400, "invalid_request_error", "the request is not to my taste"),
            Self::TooLong => error(
                400,
                "context_length_exceeded",
                "This model's maximum context length is 8192 tokens.",
            ),
            Self::Unauthorized => error(401, "invalid_api_key", "the key is not known here"),
            Self::Status(status, body) => Some(respond(*status, "application/json", body.clone())),
            Self::Dropped | Self::Prose | Self::CutReply | Self::UnendedStream | Self::Slow(_) => {
                None
            }
        }
    }
}

pub(crate) fn respond(status: u16, kind: &str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response.headers_mut().insert(header::CONTENT_TYPE, kind.parse().unwrap());
    response
}
