//! The server itself: takes requests, counts them, fails them when told to, answers the rest.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, DefaultBodyLimit, State as Shared};
use axum::http::{HeaderMap, Response, Uri};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::answer::{IncomingRequest, chat, embeddings, models, rerank};
use super::failure::respond;
use super::socket::{Cut, Sockets};
use super::{Behaviour, Failure, Recorded, State};

/// Serves until `stopped` is dropped.
pub(crate) fn run(
    listener: std::net::TcpListener,
    state: Arc<State>,
    stopped: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = Sockets(tokio::net::TcpListener::from_std(listener).unwrap());
        let app = Router::new().fallback(take).layer(DefaultBodyLimit::disable()).with_state(state);
        let service = app.into_make_service_with_connect_info::<Cut>();
        tokio::select! {
            served = axum::serve(listener, service) => served.unwrap(),
            _ = stopped => {}
        }
    });
    runtime.shutdown_background();
}

/// One request, counted as in flight until it is answered or given up on by its sender.
async fn take(
    Shared(state): Shared<Arc<State>>,
    ConnectInfo(cut): ConnectInfo<Cut>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let in_flight = InFlight::enter(&state);
    let behaviour = Arc::clone(&state.behaviour.lock());
    let failure = state.failures.lock().pop_front();
    let body: Value = if body.is_empty() {
        Value::Null
    } else {
        match serde_json::from_slice(&body) {
            Ok(body) => body,
            Err(e) => return refusal(400, &format!("the body is not JSON: {e}")),
        }
    };
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
    let (prompt, authorization) = (header("x-halma-prompt"), header("authorization"));
    if behaviour.record {
        state.recorded.lock().push(Recorded {
            path: uri.path().to_owned(),
            prompt: prompt.clone(),
            authorization: authorization.clone(),
            body: body.clone(),
        });
    }
    let wait = match &failure {
        Some(Failure::Slow(more)) => behaviour.latency + *more,
        _ => behaviour.latency,
    };
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
    let request =
        IncomingRequest { prompt: prompt.unwrap_or_default(), body, failure, authorization };
    let response = answer(&state, &behaviour, uri.path(), request, &cut);
    drop(in_flight);
    response
}

fn answer(
    state: &State,
    behaviour: &Behaviour,
    path: &str,
    request: IncomingRequest,
    cut: &Cut,
) -> Response<Body> {
    let path = path.strip_prefix("/v1").unwrap_or("");
    match path {
        "/chat/completions" => state.chat_calls.fetch_add(1, Ordering::Relaxed),
        "/embeddings" => state.embed_calls.fetch_add(1, Ordering::Relaxed),
        "/rerank" => state.rerank_calls.fetch_add(1, Ordering::Relaxed),
        _ => 0,
    };
    if request.failure == Some(Failure::Dropped) {
        cut.now();
    }
    if let Some(response) = request.failure.as_ref().and_then(Failure::response) {
        return response;
    }
    let wanted = behaviour.key.as_ref().map(|key| format!("Bearer {key}"));
    if wanted.is_some() && wanted != request.authorization {
        return refusal(401, "the key is not known here");
    }
    let unknown = behaviour.refused_fields.iter().find(|field| request.body.get(field).is_some());
    if let Some(field) = unknown {
        return refusal(400, &format!("Unsupported parameter: '{field}' is not supported"));
    }
    let schema = request.body["response_format"].to_string();
    let has_number = |word: &str| {
        let key = format!("\"{word}\":");
        let mut values = schema.split(&key).skip(1);
        values.any(|value| value.starts_with(|c: char| c.is_ascii_digit()))
    };
    if let Some(word) = behaviour.refused_keywords.iter().find(|word| has_number(word)) {
        return refusal(
            400,
            &format!("Invalid schema for response_format: '{word}' is not permitted"),
        );
    }
    let format = request.body["response_format"]["type"].as_str();
    let unknown = behaviour.refused_formats.iter().find(|(name, _)| format == Some(*name));
    if let Some((name, status)) = unknown {
        return refusal(*status, &format!("response_format: '{name}' is not one of the types"));
    }
    let roles = request.body["messages"].as_array().into_iter().flatten();
    let roles: Vec<&str> = roles.filter_map(|message| message["role"].as_str()).collect();
    if let Some(role) = behaviour.refused_roles.iter().find(|role| roles.contains(*role)) {
        return refusal(400, &format!("messages of the role {role} are not supported"));
    }
    match path {
        "/chat/completions" => chat(behaviour, request),
        "/embeddings" => {
            let (response, texts) = embeddings(behaviour, &request);
            state.embedded_texts.fetch_add(texts, Ordering::Relaxed);
            response
        }
        "/rerank" => rerank(behaviour, &request),
        "/models" => models(),
        _ => refusal(404, "there is nothing here"),
    }
}

pub(crate) fn refusal(status: u16, message: &str) -> Response<Body> {
    let body = json!({"error": {"message": message, "type": "invalid_request_error"}});
    respond(status, "application/json", body.to_string())
}

struct InFlight<'a>(&'a AtomicUsize);

impl<'a> InFlight<'a> {
    fn enter(state: &'a State) -> Self {
        let now = state.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        state.peak.fetch_max(now, Ordering::Relaxed);
        Self(&state.in_flight)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
