//! `POST /v1/chat/completions`, in one response or streamed.
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use chrono::Utc;
use serde_json::{Value, json};

use super::error_body;
use super::reply::{Rendered, render, usage};
use super::request::ChatRequest;
use crate::access::MayAsk;
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
    MayAsk(caller): MayAsk,
    Extension(request_id): Extension<RequestId>,
    JsonBody(request): JsonBody<ChatRequest>,
) -> Result<Response, Problem> {
    let asking = Asking::begin(&app, &caller, request.to_ask()?, None)?;
    if request.stream {
        return Ok(stream(asking, &request, request_id));
    }
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

fn stream(asking: Asking, request: &ChatRequest, request_id: RequestId) -> Response {
    let (sender, receiver) = sse::channel();
    let chunk = Chunks {
        id: format!("chatcmpl-{}", asking.id()),
        created: Utc::now().timestamp(),
        model: request.model.clone(),
    };
    let include_usage = request.include_usage();
    let first = json!({"role": "assistant", "content": ""});
    sender.send_data(chunk.delta(&first, &Value::Null).to_string());
    let task = tokio::spawn(async move {
        match asking.run().await {
            Ok(response) => {
                let Rendered { text, annotations } = render(&response.answer);
                let content = json!({"content": text, "annotations": annotations});
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
    });
    sse::response(receiver, task.abort_handle())
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
