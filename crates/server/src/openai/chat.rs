//! `POST /v1/chat/completions`, in one response or streamed.
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use chrono::Utc;
use halma_core::{Event, Watcher};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tracing::Instrument as _;

use super::error_body;
use super::reply::{Rendered, render, usage};
use super::request::ChatRequest;
use crate::access::{Caller, MayAskDocuments};
use crate::app::Shared;
use crate::asking::{AskResponse, Asking};
use crate::json::JsonBody;
use crate::problem::Problem;
use crate::security::RequestId;
use crate::sse;

/// Answer the last user message of a conversation with the strategy that the model names. The reply
/// has the answer with `[1]` for its citations, `annotations` with document and quote, and usage.
#[utoipa::path(post, path = "/v1/chat/completions", tag = "openai", request_body = ChatRequest,
    responses((status = 200, description = "A completion, or chunks of one", body = Object)))]
pub(crate) async fn chat(
    State(app): State<Shared>,
    MayAskDocuments(caller): MayAskDocuments,
    Extension(request_id): Extension<RequestId>,
    JsonBody(request): JsonBody<ChatRequest>,
) -> Result<Response, Problem> {
    if request.stream {
        return stream(&app, &caller, &request, request_id).await;
    }
    let asking = Asking::begin(&app, &caller, request.to_ask()?, None).await?;
    let response = asking.run().await?;
    let Rendered { text, annotations } = render(&response.answer);
    let message = json!({"role": "assistant", "content": text, "refusal": null,
        "annotations": annotations});
    let completion = json!({
        "id": format!("chatcmpl-{}", response.id),
        "object": "chat.completion",
        "created": Utc::now().timestamp(),
        "model": request.model,
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": "stop"}],
        "usage": usage(&response),
        "halma": extension(&response),
    });
    Ok(Json(completion).into_response())
}

/// What Halma adds to OpenAI's format.
fn extension(response: &AskResponse) -> Value {
    json!({
        "trace": response.id,
        "question": response.question,
        "strategy": response.strategy,
        "hops": response.hops,
        "abstained": response.answer.abstained,
        "partial": response.answer.partial,
        "reason": response.answer.reason,
        "usd": response.usage.usd,
    })
}

async fn stream(
    app: &Shared,
    caller: &Caller,
    request: &ChatRequest,
    request_id: RequestId,
) -> Result<Response, Problem> {
    let (watcher, mut written) = pieces();
    let asking = Asking::begin(app, caller, request.to_ask()?, Some(watcher)).await?;
    let (sender, receiver) = sse::channel();
    let chunk = Chunks {
        id: format!("chatcmpl-{}", asking.id()),
        created: Utc::now().timestamp(),
        model: request.model.clone(),
    };
    let include_usage = request.include_usage();
    let first = json!({"role": "assistant", "content": ""});
    sender.send_data(chunk.delta(&first, &Value::Null).to_string());
    let task = tokio::spawn(
        async move {
            let mut sent = SentText::default();
            let mut run = pin!(asking.run());
            let result = loop {
                tokio::select! {
                    biased;
                    Some((text, restart)) = written.recv() => {
                        if let Some(text) = sent.add(text, restart) {
                            let content = json!({"content": text});
                            sender.send_data(chunk.delta(&content, &Value::Null).to_string());
                        }
                    }
                    result = &mut run => break result,
                }
            };
            match result {
                Ok(response) => {
                    let Rendered { text, annotations } = render(&response.answer);
                    let content = json!({"content": sent.rest(&text), "annotations": annotations});
                    sender.send_data(chunk.delta(&content, &Value::Null).to_string());
                    let mut last = chunk.delta(&json!({}), &json!("stop"));
                    last["halma"] = extension(&response);
                    sender.send_data(last.to_string());
                    if include_usage {
                        let mut total = chunk.with_choices(&json!([]));
                        total["usage"] = usage(&response);
                        sender.send_data(total.to_string());
                    }
                    sender.send_data("[DONE]".to_owned());
                }
                Err(problem) => {
                    sender.send_data(error_body(&Problem { request_id: request_id.0, ..problem }));
                }
            }
        }
        .in_current_span(),
    );
    Ok(sse::response(receiver, task.abort_handle()))
}

/// Pieces of an answer that wait to be sent.
const MAX_WAITING: usize = 1_024;

/// A piece of an answer, and whether what was shown before is void.
type Piece = (String, bool);

/// Receives the pieces of an answer from the run that writes it. A piece that finds the queue full is
/// the last: there must be no gap before another, and the whole answer completes what was sent.
fn pieces() -> (Watcher, mpsc::Receiver<Piece>) {
    let (pieces, written) = mpsc::channel(MAX_WAITING);
    let lost = AtomicBool::new(false);
    let watcher: Watcher = Arc::new(move |event: &Event| {
        if let Event::AnswerDelta { text, restart } = event
            && !lost.load(Ordering::Acquire)
        {
            // The receiver is gone when the client has disconnected.
            let sent = pieces.try_send((text.clone(), *restart)).is_ok();
            lost.store(!sent, Ordering::Release);
        }
    });
    (watcher, written)
}

/// What a client has been sent of an answer. No chunk can be taken back: a text that turns out
/// void stays, and the whole answer follows it.
#[derive(Default)]
struct SentText {
    text: String,
    void: bool,
}

impl SentText {
    /// The piece to send, if what was sent before is still the beginning of the answer.
    fn add(&mut self, piece: String, restart: bool) -> Option<String> {
        self.void |= restart && !self.text.is_empty();
        if self.void || piece.is_empty() {
            return None;
        }
        self.text.push_str(&piece);
        Some(piece)
    }

    /// What is missing of the whole text.
    fn rest(&self, whole: &str) -> String {
        match whole.strip_prefix(self.text.as_str()) {
            Some(rest) if !self.void => rest.to_owned(),
            _ => format!("\n\n{whole}"),
        }
    }
}

/// What all chunks of a streamed completion share.
struct Chunks {
    id: String,
    created: i64,
    model: String,
}

impl Chunks {
    fn with_choices(&self, choices: &Value) -> Value {
        json!({"id": self.id, "object": "chat.completion.chunk", "created": self.created,
            "model": self.model, "choices": choices})
    }

    fn delta(&self, delta: &Value, finish_reason: &Value) -> Value {
        self.with_choices(&json!([{"index": 0, "delta": delta, "logprobs": null,
            "finish_reason": finish_reason}]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_completed_or_followed_by_the_whole() {
        let mut sent = SentText::default();
        assert_eq!(sent.add("Ann ".into(), false).as_deref(), Some("Ann "));
        assert_eq!(sent.rest("Ann Roe [1]"), "Roe [1]");
        assert_eq!(sent.add("Bo".into(), true), None);
        assert_eq!(sent.rest("Bo"), "\n\nBo");
        let mut empty = SentText::default();
        assert_eq!(empty.add("Bo".into(), true).as_deref(), Some("Bo"));
        assert_eq!(empty.rest("Bo"), "");
    }

    #[test]
    fn pieces_that_no_one_takes_fill_a_bounded_queue_without_a_gap() {
        let (watcher, mut written) = pieces();
        let show = |text: String| watcher(&Event::AnswerDelta { text, restart: false });
        (0..3 * MAX_WAITING).for_each(|n| show(format!("{n} ")));
        assert_eq!(written.try_recv().unwrap(), ("0 ".to_owned(), false));
        show("after a gap".into());
        let mut sent = SentText::default();
        while let Ok((text, restart)) = written.try_recv() {
            sent.add(text, restart);
        }
        let numbers: Vec<String> = (1..3 * MAX_WAITING).map(|n| format!("{n} ")).collect();
        let whole = numbers.concat();
        let rest = sent.rest(&whole);
        assert!(rest.starts_with(&format!("{MAX_WAITING} ")), "{rest:.40}");
    }
}
