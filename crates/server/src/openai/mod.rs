//! The API of OpenAI, for chat front ends: every strategy is a model, the last user message is the
//! question, citations are `[1]` in the text and `annotations`.
mod chat;
mod embeddings;
mod models;
mod reply;
mod request;

pub(crate) use chat::{__path_chat, chat};
pub(crate) use embeddings::{__path_embeddings, embeddings};
pub(crate) use models::{__path_models, __path_one_model, models, one_model};

use axum::Json;
use serde_json::{Value, json};

use crate::problem::Problem;

/// The answer as text with numbered citations and a list of the sources.
pub(crate) fn with_sources(answer: &halma_core::Answer) -> String {
    reply::render(answer).text
}

/// What is there, for those who open the address that clients are given.
pub(crate) async fn about() -> Json<Value> {
    Json(json!({"name": "Halma", "interface": "OpenAI API",
        "paths": ["/v1/chat/completions", "/v1/embeddings", "/v1/models"], "docs": "/api/docs"}))
}

/// Prefix of a strategy's name as a model.
const PREFIX: &str = "halma-";

/// A problem as an error of OpenAI's API.
pub(crate) fn error_body(problem: &Problem) -> String {
    let kind = match problem.status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        400..=499 => "invalid_request_error",
        _ => "server_error",
    };
    let message = match &problem.hint {
        Some(hint) => format!("{}; {hint}", problem.detail),
        None => problem.detail.clone(),
    };
    let code = problem.kind.trim_start_matches("urn:halma:");
    json!({"error": {"message": message, "type": kind, "code": code, "param": null,
        "request_id": problem.request_id}})
    .to_string()
}
