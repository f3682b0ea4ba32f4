//! The `OpenAPI` description, and a page that shows it.
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse as _;
use axum::routing::get;
use serde_json::{Value, json};
use utoipa::openapi::OpenApi;

use crate::app::Shared;

const PAGE: &str = include_str!("../reference/index.html");
const SCRIPT: &str = include_str!("../reference/reference.js");
const STYLE: &str = include_str!("../reference/reference.css");

pub(crate) fn routes(openapi: &OpenApi) -> Router<Shared> {
    let text = with_errors(openapi).to_string();
    let file = |media_type: &'static str, text: String| {
        get(move || async move { ([(CONTENT_TYPE, media_type)], text).into_response() })
    };
    Router::new()
        .route("/api/v1/openapi.json", file("application/json", text))
        .route("/api/docs", file("text/html; charset=utf-8", PAGE.to_owned()))
        .route("/api/docs/reference.js", file("text/javascript; charset=utf-8", SCRIPT.to_owned()))
        .route("/api/docs/reference.css", file("text/css; charset=utf-8", STYLE.to_owned()))
}

/// The description with what is the same for all operations: an error can have any status, and its
/// body is a problem, or an error in OpenAI's shape under `/v1/`.
fn with_errors(openapi: &OpenApi) -> Value {
    let mut document = serde_json::to_value(openapi).unwrap_or_default();
    let problem = json!({
        "description": "An error",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    });
    let openai_error = json!({
        "description": "An error in OpenAI's shape",
        "content": {"application/json": {"schema": {"type": "object", "required": ["error"]}}},
    });
    for (path, operations) in document["paths"].as_object_mut().into_iter().flatten() {
        let error = if path.starts_with("/v1/") { &openai_error } else { &problem };
        for (_, operation) in operations.as_object_mut().into_iter().flatten() {
            let Some(responses) = operation["responses"].as_object_mut() else { continue };
            responses.insert("default".into(), error.clone());
            for (status, response) in responses.iter_mut() {
                if status.starts_with(['4', '5']) {
                    *response = error.clone();
                } else if response.get("description").is_none() {
                    response["description"] = json!("Success");
                }
            }
        }
    }
    document
}
