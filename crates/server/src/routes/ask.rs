//! Questions, answered in one response or as a stream of events, and searches.
use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use halma_core::{Event, Hit, Watcher};
use halma_engine::{AskRequest, SearchRequest};
use serde::Serialize;
use tracing::Instrument as _;
use utoipa::ToSchema;

use crate::access::{Caller, MayAskDocuments};
use crate::app::Shared;
use crate::asking::{AskResponse, Asking};
use crate::json::{JsonBody, answer};
use crate::limits::bounds;
use crate::pagination;
use crate::problem::Problem;
use crate::security::RequestId;
use crate::sse;

/// Answer a question. With `stream: true` or `accept: text/event-stream` the response is a stream
/// of events: `started` {id, strategy}, `trace` for each trace event, `answer_delta` {text, restart}
/// for each piece of the answer as it is written (with `restart`, the pieces before are void),
/// `model_asked` {role, model, `longest_ms`} while a model works, and at the end `answer` with the
/// same object as without streaming, or `error` with a problem.
#[utoipa::path(post, path = "/api/v1/ask", tag = "ask", request_body = AskRequest,
    responses(
        (status = 200, description = "The answer, or a stream of events where one is requested",
            content((AskResponse = "application/json"), (sse::StreamEvent = "text/event-stream"))),
        (status = 401, body = Problem), (status = 403, body = Problem),
        (status = 422, body = Problem), (status = 429, body = Problem),
        (status = 502, body = Problem), (status = 503, body = Problem),
    ))]
pub(crate) async fn ask(
    State(app): State<Shared>,
    MayAskDocuments(caller): MayAskDocuments,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    JsonBody(request): JsonBody<AskRequest>,
) -> Result<Response, Problem> {
    let accepts = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    if request.stream || accepts.contains("text/event-stream") {
        return stream(&app, &caller, request, request_id).await;
    }
    let response = Asking::begin(&app, &caller, request, None).await?.run().await?;
    Ok(Json(response).into_response())
}

async fn stream(
    app: &Shared,
    caller: &Caller,
    request: AskRequest,
    request_id: RequestId,
) -> Result<Response, Problem> {
    let (sender, receiver) = sse::channel();
    let to_client = sender.clone();
    let watcher: Watcher = Arc::new(move |event: &Event| {
        let name = match event {
            Event::AnswerDelta { .. } => "answer_delta",
            Event::ModelAsked { .. } => "model_asked",
            _ => "trace",
        };
        to_client.send(name, event);
    });
    let asking = Asking::begin(app, caller, request, Some(watcher)).await?;
    let started = serde_json::json!({"id": asking.id(), "strategy": asking.strategy()});
    sender.send("started", &started);
    let task = tokio::spawn(
        async move {
            match asking.run().await {
                Ok(response) => {
                    sender.send("answer", &response);
                }
                Err(problem) => {
                    sender.send("error", &Problem { request_id: request_id.0, ..problem });
                }
            }
        }
        .in_current_span(),
    );
    Ok(sse::response(receiver, task.abort_handle()))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SearchResponse {
    hits: Vec<Hit>,
}

/// Search one layer.
#[utoipa::path(post, path = "/api/v1/search", tag = "ask", request_body = SearchRequest,
    responses((status = 200, body = SearchResponse), (status = 422, body = Problem)))]
pub(crate) async fn search(
    MayAskDocuments(caller): MayAskDocuments,
    JsonBody(mut request): JsonBody<SearchRequest>,
) -> Result<Response, Problem> {
    let engine = caller.workspace.engine();
    engine.check_text("text", &request.text)?;
    request.limit = Some(pagination::limit(request.limit)?);
    if let Some(filter) = &request.filter {
        bounds::check_filter(filter)?;
    }
    let respond = async {
        let hits = engine.search(request).await?;
        let items = hits.len();
        answer(SearchResponse { hits }, items).await
    };
    caller.workspace.searches.run_async(respond).await?
}
