//! Extractors for bodies, queries and path parameters that report errors as problems, and answers
//! that may be long.
mod values;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::limits::blocking::run_blocking;
use crate::limits::deadline::BODY_TIMEOUT;
use crate::problem::Problem;

use values::describe;
pub(crate) use values::from_json;

/// A JSON body.
pub(crate) struct JsonBody<T>(pub(crate) T);

const BODY_HINT: &str = "/api/docs describes the body";

/// Longer bodies are read off the runtime's threads.
const LARGE: usize = 64 * 1024;

/// As many hits are written at once; a page of the web UI has no more.
const MAX_INLINE_ITEMS: usize = 50;

impl<T: DeserializeOwned + Send + 'static, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let request = Request::from_parts(parts.clone(), body);
        let read = Bytes::from_request(request, state);
        let read = tokio::time::timeout(BODY_TIMEOUT, read).await.map_err(|_| {
            let detail = "the body of the request did not end in time";
            Problem::new(StatusCode::REQUEST_TIMEOUT, detail).hint("send the request again")
        })?;
        let bytes = read.map_err(|rejection| {
            let problem = Problem::new(rejection.status(), rejection.body_text());
            problem.hint("`serve.max_body_bytes` is the limit")
        })?;
        let large = bytes.len() > LARGE;
        let request = Request::from_parts(parts, Body::from(bytes));
        let read = async {
            let body = Json::<Value>::from_request(request, &()).await;
            let Json(body) = body.map_err(|rejection| body_problem(&rejection))?;
            from_json(body).map_err(|reason| Problem::unfit(reason).hint(BODY_HINT))
        };
        let body = if large {
            let runtime = tokio::runtime::Handle::current();
            run_blocking(move || runtime.block_on(read)).await
        } else {
            read.await
        };
        body.map(Self)
    }
}

fn body_problem(rejection: &JsonRejection) -> Problem {
    let (status, text) = (rejection.status(), rejection.body_text());
    if status == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return Problem::new(status, "the body is not sent as JSON")
            .hint("send the header `content-type: application/json`");
    }
    let place = text.rsplit_once(" at line ").map_or("", |(_, place)| place);
    let place = place.replace(" column ", ", column ");
    Problem::new(status, format!("the body is not valid JSON: line {place}")).hint(BODY_HINT)
}

/// A JSON answer of `items` hits or lines. One of many is written off the runtime's threads: hundreds
/// of clients who ask for the longest answers would hold up everyone else's requests.
pub(crate) async fn answer<T>(value: T, items: usize) -> Result<Response, Problem>
where
    T: Serialize + Send + 'static,
{
    if items <= MAX_INLINE_ITEMS {
        return Ok(Json(value).into_response());
    }
    let write = move || serde_json::to_vec(&value).map_err(|e| Problem::internal(&e));
    let bytes = run_blocking(write).await?;
    Ok(([(CONTENT_TYPE, "application/json")], bytes).into_response())
}

/// The query string.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        query.map(|Query(value)| Self(value)).map_err(|rejection| {
            let text = rejection.body_text();
            // After "Failed to deserialize query string".
            let message = text.split_once(": ").map_or(text.as_str(), |(_, message)| message);
            Problem::new(rejection.status(), describe(message))
                .hint("/api/docs describes the query parameters")
        })
    }
}

/// The parameters in the path.
pub(crate) struct Part<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Part<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(value)| Self(value))
            .map_err(|rejection| Problem::new(rejection.status(), rejection.body_text()))
    }
}
