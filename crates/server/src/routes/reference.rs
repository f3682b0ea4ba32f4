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

/// The description with what is the same for all operations: a name that no other has, the statuses
/// of errors with what each means, and the body of errors: a problem, or an error in OpenAI's shape
/// under `/v1/`.
fn with_errors(openapi: &OpenApi) -> Value {
    let mut document = serde_json::to_value(openapi).unwrap_or_default();
    let problem = json!({
        "description": "An error",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    });
    let openai_error = json!({
        "description": "An error in OpenAI's shape",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/OpenAiError"}}},
    });
    document["components"]["schemas"]["OpenAiError"] = openai_error_schema();
    for (path, operations) in document["paths"].as_object_mut().into_iter().flatten() {
        let error = if path.starts_with("/v1/") { &openai_error } else { &problem };
        for (_, operation) in operations.as_object_mut().into_iter().flatten() {
            let name = operation["operationId"].as_str().unwrap_or_default();
            operation["operationId"] = json!(operation_id(path, name));
            let statuses = error_statuses(path, operation);
            let Some(responses) = operation["responses"].as_object_mut() else { continue };
            for status in statuses {
                responses.entry(status).or_insert_with(|| error.clone());
            }
            responses.insert("default".into(), error.clone());
            for (status, response) in responses.iter_mut() {
                if status.starts_with(['4', '5']) {
                    *response = error.clone();
                    if let Some(meaning) = meaning(status) {
                        response["description"] = json!(meaning);
                    }
                } else if response.get("description").is_none() {
                    response["description"] = json!("Success");
                }
            }
        }
    }
    document
}

/// A name of an operation that no other has: the parts of its path, and what it does.
fn operation_id(path: &str, name: &str) -> String {
    let below = path.trim_start_matches("/api").trim_start_matches("/v1/");
    let fixed = |part: &&str| !part.is_empty() && !part.starts_with('{');
    let mut parts: Vec<String> =
        below.split('/').filter(fixed).map(|part| part.replace('-', "_")).collect();
    if parts.last().is_none_or(|last| last != name && format!("set_{last}") != name) {
        parts.push(name.to_owned());
    } else if let Some(last) = parts.last_mut() {
        name.clone_into(last);
    }
    if path.starts_with("/v1/") {
        parts.insert(0, "openai".to_owned());
    }
    parts.join("_")
}

/// The statuses below 500 with which an operation can refuse a request.
fn error_statuses(path: &str, operation: &Value) -> Vec<&'static str> {
    let mut statuses = vec!["400"];
    if path != "/api/v1/health" {
        statuses.extend(["401", "403", "429"]);
    }
    if path.contains('{') {
        statuses.push("404");
    }
    let has_body = operation.get("requestBody").is_some();
    if has_body {
        statuses.extend(["408", "413", "415"]);
    }
    if has_body || operation.get("parameters").is_some() {
        statuses.push("422");
    }
    statuses
}

fn meaning(status: &str) -> Option<&'static str> {
    Some(match status {
        "400" => "The request is malformed",
        "401" => "A key is required, or this one is not valid",
        "403" => "The key may not do this, or not to this",
        "404" => "There is none, or the key may not see it",
        "408" => "The body did not arrive in time",
        "409" => "Its present state does not allow this",
        "413" => "The body is too large",
        "415" => "The body has another media type than is described",
        "422" => "A value is not valid; the hint says what is",
        "429" => "Too many requests, or a limit of the key is reached; see `retry-after`",
        "502" => "The model or source that the server calls has failed",
        "503" => "The server is busy; see `retry-after`",
        "507" => "There is no space left",
        _ => return None,
    })
}

fn openai_error_schema() -> Value {
    let text = json!({"type": "string"});
    let error = json!({
        "type": "object",
        "required": ["message", "type", "code"],
        "properties": {"message": text, "type": text, "code": text, "param": {"type": ["string", "null"]},
            "request_id": text},
    });
    json!({"type": "object", "required": ["error"], "properties": {"error": error}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_named_by_what_it_is_about_and_what_it_does() {
        for (path, name, expected) in [
            ("/api/v1/ask", "ask", "ask"),
            ("/api/v1/documents", "list", "documents_list"),
            ("/api/v1/documents/{id}/text", "text", "documents_text"),
            ("/api/v1/documents/{id}/metadata", "set_metadata", "documents_set_metadata"),
            ("/api/v1/evaluation-runs/{id}/cancel", "cancel", "evaluation_runs_cancel"),
            ("/v1/models", "models", "openai_models"),
            ("/v1/chat/completions", "chat", "openai_chat_completions_chat"),
        ] {
            assert_eq!(operation_id(path, name), expected, "{path}");
        }
    }
}
