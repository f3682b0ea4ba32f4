//! The description of the interface, and a page that shows it.
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

pub(crate) fn routes(description: &OpenApi) -> Router<Shared> {
    let text = with_errors(description).to_string();
    let file = |kind: &'static str, text: String| {
        get(move || async move { ([(CONTENT_TYPE, kind)], text).into_response() })
    };
    Router::new()
        .route("/api/v1/openapi.json", file("application/json", text))
        .route("/api/docs", file("text/html; charset=utf-8", PAGE.to_owned()))
        .route("/api/docs/reference.js", file("text/javascript; charset=utf-8", SCRIPT.to_owned()))
        .route("/api/docs/reference.css", file("text/css; charset=utf-8", STYLE.to_owned()))
}

/// The description with what is the same for all operations: an error can have any status and is
/// a problem, or for OpenAI's clients an error of theirs.
fn with_errors(description: &OpenApi) -> Value {
    let mut whole = serde_json::to_value(description).unwrap_or_default();
    let problem = json!({
        "description": "What went wrong",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    });
    let of_openai = json!({
        "description": "What went wrong, in OpenAI's shape",
        "content": {"application/json": {"schema": {"type": "object", "required": ["error"]}}},
    });
    for (path, operations) in whole["paths"].as_object_mut().into_iter().flatten() {
        let error = if path.starts_with("/v1/") { &of_openai } else { &problem };
        for (_, operation) in operations.as_object_mut().into_iter().flatten() {
            let Some(responses) = operation["responses"].as_object_mut() else { continue };
            responses.insert("default".into(), error.clone());
            for (status, response) in responses.iter_mut() {
                if status.starts_with(['4', '5']) {
                    *response = error.clone();
                } else if response.get("description").is_none() {
                    response["description"] = json!("It is done");
                }
            }
        }
    }
    whole
}
