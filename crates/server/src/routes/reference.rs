//! The description of the interface, and a page that shows it.
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse as _;
use axum::routing::get;
use utoipa::openapi::OpenApi;

use crate::app::Shared;

const PAGE: &str = include_str!("../reference/index.html");
const SCRIPT: &str = include_str!("../reference/reference.js");
const STYLE: &str = include_str!("../reference/reference.css");

pub(crate) fn routes(description: &OpenApi) -> Router<Shared> {
    let text = description.to_json().unwrap_or_default();
    let file = |kind: &'static str, text: String| {
        get(move || async move { ([(CONTENT_TYPE, kind)], text).into_response() })
    };
    Router::new()
        .route("/api/v1/openapi.json", file("application/json", text))
        .route("/api/docs", file("text/html; charset=utf-8", PAGE.to_owned()))
        .route("/api/docs/reference.js", file("text/javascript; charset=utf-8", SCRIPT.to_owned()))
        .route("/api/docs/reference.css", file("text/css; charset=utf-8", STYLE.to_owned()))
}
