//! The server itself.
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Query, State as Shared};
use axum::http::{HeaderMap, Method, Response, Uri, header};
use tokio::sync::oneshot;

use super::trouble::gzip;
use super::{EngineFailure, Shape, State, WebRequest, topics};
use crate::double::respond;

/// Serves until `stopped` is dropped.
pub(crate) fn run(
    listener: std::net::TcpListener,
    state: Arc<State>,
    stopped: oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let app = Router::new().fallback(take).with_state(state);
        tokio::select! {
            served = axum::serve(listener, app) => served.unwrap(),
            _ = stopped => {}
        }
    });
    runtime.shutdown_background();
}

async fn take(
    Shared(state): Shared<Arc<State>>,
    Query(parameters): Query<BTreeMap<String, String>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let text = |value: &header::HeaderValue| value.to_str().unwrap_or_default().to_owned();
    let request = WebRequest {
        method: method.to_string(),
        path: uri.path().to_owned(),
        parameters,
        headers: headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect(),
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    state.requests.lock().push(request.clone());
    let trouble = state.troubles.lock().pop_front();
    if let Some(EngineFailure::Late(wait)) = trouble {
        tokio::time::sleep(wait).await;
    }
    let bad = trouble.and_then(|trouble| trouble.response());
    bad.unwrap_or_else(|| answer(&state, &request))
}

fn answer(state: &State, request: &WebRequest) -> Response<Body> {
    if let Some((kind, bytes)) = state.pages.lock().get(&request.path) {
        let accepts = request.headers.get("accept-encoding");
        if accepts.is_some_and(|accepts| accepts.contains("gzip")) {
            let mut response = respond(200, kind, gzip(bytes));
            let packed = header::HeaderValue::from_static("gzip");
            response.headers_mut().insert(header::CONTENT_ENCODING, packed);
            return response;
        }
        return respond(200, kind, bytes.clone());
    }
    let Some((shape, query, key)) = parse_request(request) else {
        return respond(404, "text/plain", "there is nothing here");
    };
    if state.key.lock().as_ref().is_some_and(|wanted| Some(wanted) != key.as_ref()) {
        let (status, body) = shape.unknown_key();
        return respond(status, "application/json", body.to_string());
    }
    let best = topics::best(&state.topics.lock(), shape, &query);
    let body = best.unwrap_or_else(|| shape.nothing());
    respond(200, "application/json", body.to_string())
}

/// Which engine is asked, for what, with which key.
fn parse_request(request: &WebRequest) -> Option<(Shape, String, Option<String>)> {
    let parameter = |name: &str| request.parameters.get(name).cloned();
    let header = |name: &str| request.headers.get(name).cloned();
    let bearer = || Some(header("authorization")?.strip_prefix("Bearer ")?.to_owned());
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/search.json") => Some((Shape::SerpApi, parameter("q")?, parameter("api_key"))),
        ("GET", "/res/v1/web/search") => {
            Some((Shape::Brave, parameter("q")?, header("x-subscription-token")))
        }
        ("POST", "/search") => {
            let query = request.body["query"].as_str()?.to_owned();
            Some((Shape::Tavily, query, bearer()))
        }
        ("GET", "/search") => Some((Shape::SearXng, parameter("q")?, bearer())),
        _ => None,
    }
}
