//! `POST /v1/chat/completions`, whole and streamed.
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event as Sent, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use chrono::Utc;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::as_openai;
use super::reply::{Written, usage, written};
use super::request::Chat;
use crate::access::MayAsk;
use crate::app::Shared;
use crate::asking::{Answered, Asking};
use crate::json::Body;
use crate::problem::Problem;
use crate::routes::{unbuffered, while_read};
use crate::security::RequestId;

const HEARTBEAT: Duration = Duration::from_secs(10);

/// Answers the last message of a conversation by the strategy that the model names. The reply
/// has the answer with `[1]` for its citations, `annotations` with document and quote, and usage.
#[utoipa::path(post, path = "/v1/chat/completions", tag = "openai", request_body = Chat,
    responses((status = 200, description = "A completion, or chunks of one", body = Object)))]
pub(crate) async fn chat(
    State(app): State<Shared>,
    MayAsk(caller): MayAsk,
    Extension(request): Extension<RequestId>,
    Body(chat): Body<Chat>,
) -> Result<Response, Problem> {
    let asking = Asking::begin(&app, &caller, chat.ask()?, None)?;
    if chat.stream {
        return Ok(streamed(asking, chat.model.clone(), chat.include_usage(), request));
    }
    let answered = asking.run().await?;
    let Written { text, annotations } = written(&answered.answer);
    let message = json!({"role": "assistant", "content": text, "refusal": null,
        "annotations": annotations});
    let reply = json!({
        "id": format!("chatcmpl-{}", answered.id),
        "object": "chat.completion",
        "created": Utc::now().timestamp(),
        "model": chat.model,
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": "stop"}],
        "usage": usage(&answered),
        "halma": about(&answered),
    });
    Ok(Json(reply).into_response())
}

/// What no other server says.
fn about(answered: &Answered) -> Value {
    json!({
        "trace": answered.id,
        "question": answered.question,
        "strategy": answered.strategy,
        "hops": answered.hops,
        "abstained": answered.answer.abstained,
        "partial": answered.answer.partial,
        "reason": answered.answer.reason,
        "usd": answered.usage.usd,
    })
}

fn streamed(asking: Asking, model: String, include_usage: bool, request: RequestId) -> Response {
    let (send, events) = mpsc::unbounded_channel();
    let (id, created) = (format!("chatcmpl-{}", asking.id()), Utc::now().timestamp());
    let chunk = move |choices: Value| {
        json!({"id": id, "object": "chat.completion.chunk", "created": created, "model": model,
            "choices": choices})
    };
    let delta = |delta: Value, finish: Value| json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
    let say = move |what: String| drop(send.send(Sent::default().data(what)));
    say(chunk(delta(json!({"role": "assistant", "content": ""}), Value::Null)).to_string());
    let running = tokio::spawn(async move {
        match asking.run().await {
            Ok(answered) => {
                let Written { text, annotations } = written(&answered.answer);
                let whole = json!({"content": text, "annotations": annotations});
                say(chunk(delta(whole, Value::Null)).to_string());
                let mut last = chunk(delta(json!({}), json!("stop")));
                last["halma"] = about(&answered);
                say(last.to_string());
                if include_usage {
                    let mut told = chunk(json!([]));
                    told["usage"] = usage(&answered);
                    say(told.to_string());
                }
                say("[DONE]".to_owned());
            }
            Err(problem) => say(as_openai(&Problem { request_id: request.0, ..problem })),
        }
    });
    let stream = while_read(events, running.abort_handle());
    let keep_alive = KeepAlive::new().interval(HEARTBEAT).text("still at it");
    (unbuffered(), Sse::new(stream).keep_alive(keep_alive)).into_response()
}
