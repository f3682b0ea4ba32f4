//! The outermost layer of every request: its id, checks of host and origin, security headers, the
//! common form of errors, a line in the log.
use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, ORIGIN,
    REFERRER_POLICY, RETRY_AFTER, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tracing::Instrument as _;
use tracing::field::Empty;

use crate::app::{App, Shared};
use crate::openai::error_body;
use crate::problem::Problem;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

const POLICY: &str = "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; \
                      script-src 'self'; object-src 'none'; frame-ancestors 'none'; \
                      base-uri 'none'; form-action 'self'; worker-src 'self' blob:";

const PROBLEM: &str = "application/problem+json";

/// Identifies a request in the log, in its response and in problems.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(pub(crate) String);

/// The outermost layer.
pub(crate) async fn outer(State(app): State<Shared>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(request.headers());
    request.extensions_mut().insert(RequestId(id.clone()));
    let (method, uri) = (request.method().clone(), request.uri().clone());
    // The pattern, never the path, which may contain names of documents.
    let matched = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let path = matched.as_deref().unwrap_or("(web UI)");
    // Everything that is logged for the request has these; `access` fills in who sent it.
    let span = tracing::error_span!("request", request = id, key = Empty, workspace = Empty);
    let response = match cross_site_problem(&app, &method, request.headers(), &uri) {
        Some(problem) => problem.into_response(),
        None => next.run(request).instrument(span.clone()).await,
    };
    let mut response = with_problem_body(response, &uri, &id);
    add_headers(&mut response, &uri, &id);
    let (status, elapsed) = (response.status().as_u16(), started.elapsed().as_secs_f64());
    app.metrics.request(&method, path, status, elapsed);
    span.in_scope(
        || tracing::info!(%method, path, status, ms = (elapsed * 1e6).round() / 1e3, "answered"),
    );
    response
}

/// The client's id for the request, if it is a plain one, or else a new id.
fn request_id(headers: &HeaderMap) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let sent = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
    if let Some(id) = sent.filter(|id| (1..=64).contains(&id.len()) && id.chars().all(plain)) {
        return id.to_owned();
    }
    // Without random numbers the id is always the same, which only makes the log harder to read.
    let mut bytes = [0; 8];
    let _ = getrandom::fill(&mut bytes);
    hex::encode(bytes)
}

/// Refuses requests that a web page of another site makes the browser of its visitor send.
fn cross_site_problem(
    app: &App,
    method: &Method,
    headers: &HeaderMap,
    uri: &Uri,
) -> Option<Problem> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(HOST).or_else(|| uri.authority().map(axum::http::uri::Authority::as_str));
    let host = host.unwrap_or_default();
    let hosts = &app.config.hosts;
    let is_accepted = hosts.is_empty() && !app.loopback
        || is_for_machines(app, method, uri.path())
        || is_loopback(host_name(host))
        || hosts.iter().any(|name| name.eq_ignore_ascii_case(host_name(host)));
    if !is_accepted {
        let detail = "the host name of this request is not one of the server's";
        return Some(
            Problem::new(StatusCode::MISDIRECTED_REQUEST, detail)
                .hint("add the name to `serve.hosts` in halma.toml"),
        );
    }
    let reads = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    let origin = text(ORIGIN)?;
    let same = origin.split_once("://").is_some_and(|(_, from)| from.eq_ignore_ascii_case(host));
    let listed = app.config.cors_origins.iter().any(|allowed| allowed == origin);
    if reads || same || listed {
        return None;
    }
    Some(
        Problem::new(StatusCode::FORBIDDEN, "this request comes from a page of another site")
            .hint("add the origin of the page to `serve.cors_origins` in halma.toml"),
    )
}

/// Whether probes and monitoring read this, which know the server by an address of its network: the
/// IP of a pod, the name of a service. There is no secret in it, or only those with a key may read it,
/// which a page of another site does not have.
fn is_for_machines(app: &App, method: &Method, path: &str) -> bool {
    let reads = matches!(*method, Method::GET | Method::HEAD);
    let is_open = matches!(path, "/api/v1/health" | "/api/v1/ready" | "/health" | "/healthz");
    reads && (is_open || path == "/metrics" && app.keys.are_required())
}

/// A host without its port.
fn host_name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn is_loopback(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Gives every error its problem body, including errors of the web framework.
fn with_problem_body(mut response: Response, uri: &Uri, id: &str) -> Response {
    let problem = response.extensions_mut().remove::<Problem>();
    let problem = match problem {
        Some(problem) => problem,
        None if has_no_body(&response, uri) => status_problem(response.status()),
        None => return response,
    };
    let problem = Problem { request_id: id.to_owned(), ..problem };
    let (media_type, body) = if uri.path().starts_with("/v1/") {
        ("application/json", error_body(&problem))
    } else {
        (PROBLEM, serde_json::to_string(&problem).unwrap_or_default())
    };
    let headers = response.headers_mut();
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    // A budget that is spent stays so: only responses with a time to retry have the header.
    if let Some(seconds) = problem.retry_after.or((problem.status == 503).then_some(5)) {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if matches!(problem.status, 401 | 403 | 408 | 413 | 421) {
        // The body may not have been read; the rest of it must not be taken for another request.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    *response.body_mut() = Body::from(body);
    response
}

/// Whether an error has no JSON body; errors of MCP are defined by its protocol.
fn has_no_body(response: &Response, uri: &Uri) -> bool {
    let status = response.status();
    let json = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/"));
    (status.is_client_error() || status.is_server_error())
        && !json
        && !uri.path().starts_with("/mcp")
}

fn status_problem(status: StatusCode) -> Problem {
    let (detail, hint) = match status {
        StatusCode::NOT_FOUND => ("there is no such path", "/api/docs lists all paths"),
        StatusCode::METHOD_NOT_ALLOWED => {
            ("the method is not allowed for this path", "the header `allow` lists those that are")
        }
        StatusCode::PAYLOAD_TOO_LARGE => ("the body is too large", ""),
        StatusCode::REQUEST_TIMEOUT => ("the request took too long to arrive", ""),
        StatusCode::INTERNAL_SERVER_ERROR => {
            ("an internal error occurred", "see the server's log for this request id")
        }
        status => (status.canonical_reason().unwrap_or("the request failed"), ""),
    };
    Problem::new(status, detail).hint(hint)
}

fn add_headers(response: &mut Response, uri: &Uri, id: &str) {
    let is_api = ["/api/v1", "/v1/", "/mcp"].iter().any(|start| uri.path().starts_with(start));
    let headers = response.headers_mut();
    let fixed = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ];
    for (name, value) in fixed {
        // A served file may already have a stricter policy.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if is_api {
        headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    }
    // Takes effect only behind a proxy that terminates TLS; harmless without.
    headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_recognised_without_its_port() {
        for here in
            ["localhost:1", "127.0.0.1", "127.0.0.1:8765", "[::1]:8765", "[::1]", "LOCALHOST"]
        {
            assert!(is_loopback(host_name(here)), "{here}");
        }
        for other in ["evil.example", "127.0.0.1.evil.example:80", "localhost.evil", "10.0.0.1", ""]
        {
            assert!(!is_loopback(host_name(other)), "{other}");
        }
    }

    #[test]
    fn only_a_plain_request_id_is_reused() {
        let resulting = |id: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_bytes(id.as_bytes()).unwrap());
            request_id(&headers)
        };
        assert_eq!(resulting("abc-1"), "abc-1");
        assert_eq!(resulting("a b").len(), 16);
        assert_eq!(resulting(&"a".repeat(65)).len(), 16);
    }
}
