//! The shape that chat front ends speak: every strategy is a model, the last message is the
//! question, citations come as `[1]` in the text and as `annotations`.
mod chat;
mod embeddings;
mod models;
mod reply;
mod request;

pub(crate) use chat::{__path_chat, chat};
pub(crate) use embeddings::{__path_embeddings, embeddings};
pub(crate) use models::{__path_models, __path_one_model, models, one_model};

use serde_json::json;

use crate::problem::Problem;

/// An answer with numbers for its citations and the list of them below, as text.
pub(crate) fn with_sources(answer: &halma_core::Answer) -> String {
    reply::written(answer).text
}

/// What begins the name of a strategy as a model.
const PREFIX: &str = "halma-";

/// A problem in the shape that OpenAI's clients read.
pub(crate) fn as_openai(problem: &Problem) -> String {
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
