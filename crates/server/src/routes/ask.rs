//! A question, answered at once or hop by hop.
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::sse::{Event as Sent, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use futures::Stream;
use halma_core::{Event, Watcher};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::access::{Caller, MayAsk};
use crate::app::Shared;
use crate::asking::{Answered, Ask, Asking};
use crate::json::Body;
use crate::problem::Problem;
use crate::security::RequestId;

/// How long a stream is silent at most.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Answers a question. With `stream`, or `accept: text/event-stream`, the events are `started`
/// {id, strategy}, `trace` for each thing that happens, `answer_delta` {text}, and at the end
/// `answer` with the same object as without, or `error` with a problem.
#[utoipa::path(post, path = "/api/v1/ask", tag = "ask", request_body = Ask,
    responses(
        (status = 200, description = "The answer; or events, where they are asked for",
            content((Answered = "application/json"), (String = "text/event-stream"))),
        (status = 401, body = Problem), (status = 403, body = Problem),
        (status = 422, body = Problem), (status = 429, body = Problem),
        (status = 502, body = Problem), (status = 503, body = Problem),
    ))]
pub(crate) async fn ask(
    State(app): State<Shared>,
    MayAsk(caller): MayAsk,
    Extension(request): Extension<RequestId>,
    headers: HeaderMap,
    Body(ask): Body<Ask>,
) -> Result<Response, Problem> {
    let accepts = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    if ask.stream || accepts.contains("text/event-stream") {
        return streamed(&app, &caller, ask, request);
    }
    let answered = Asking::begin(&app, &caller, ask, None)?.run().await?;
    Ok(Json(answered).into_response())
}

fn streamed(
    app: &Shared,
    caller: &Caller,
    ask: Ask,
    request: RequestId,
) -> Result<Response, Problem> {
    let (send, events) = mpsc::unbounded_channel();
    let watcher: Watcher = {
        let send = send.clone();
        Arc::new(move |event: &Event| tell(&send, "trace", event))
    };
    let asking = Asking::begin(app, caller, ask, Some(watcher))?;
    tell(&send, "started", &serde_json::json!({"id": asking.id(), "strategy": asking.strategy()}));
    let running = tokio::spawn(async move {
        match asking.run().await {
            Ok(answered) => {
                let text = &answered.answer.text;
                tell(&send, "answer_delta", &serde_json::json!({"text": text}));
                tell(&send, "answer", &answered);
            }
            Err(problem) => tell(&send, "error", &Problem { request_id: request.0, ..problem }),
        }
    });
    let stream = while_read(events, running.abort_handle());
    let keep_alive = KeepAlive::new().interval(HEARTBEAT).text("still at it");
    Ok((unbuffered(), Sse::new(stream).keep_alive(keep_alive)).into_response())
}

/// Tells proxies to pass events on as they come.
pub(crate) fn unbuffered() -> [(HeaderName, HeaderValue); 1] {
    [(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"))]
}

type Channel<T> = mpsc::UnboundedSender<T>;

fn tell(send: &Channel<Sent>, name: &str, what: &impl Serialize) {
    // Who does not listen any more ends the run by dropping the stream.
    if let Ok(event) = Sent::default().event(name).json_data(what) {
        let _ = send.send(event);
    }
}

/// Ends a task when it is dropped, and with it the calls to models that it waits for.
pub(crate) struct Ends(pub(crate) AbortHandle);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What a task sends, as long as somebody reads it.
pub(crate) fn while_read<T>(
    sent: mpsc::UnboundedReceiver<T>,
    task: AbortHandle,
) -> impl Stream<Item = Result<T, std::convert::Infallible>> {
    futures::stream::unfold((sent, Ends(task)), |(mut sent, ends)| async {
        let event = sent.recv().await?;
        Some((Ok(event), (sent, ends)))
    })
}
