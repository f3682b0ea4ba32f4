//! `GET /v1/models` and `/v1/models/{model}`: each strategy is a model.
use axum::Json;
use axum::http::StatusCode;
use halma_engine::{Engine, strategies};
use serde::Serialize;
use utoipa::ToSchema;

use super::PREFIX;
use crate::access::MayAskDocuments;
use crate::json::Part;
use crate::problem::Problem;

#[derive(Serialize, ToSchema)]
pub(crate) struct ModelList {
    /// `list`.
    object: &'static str,
    data: Vec<Model>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Model {
    /// `halma-<strategy>`, or the embedder's name.
    id: String,
    /// `model`.
    object: &'static str,
    created: u64,
    owned_by: &'static str,
}

impl Model {
    fn new(id: String) -> Self {
        Self { id, object: "model", created: 0, owned_by: "halma" }
    }
}

/// List the usable strategies as models: the configured one first, the embedder last.
#[utoipa::path(get, path = "/v1/models", tag = "openai",
    responses((status = 200, body = ModelList)))]
pub(crate) async fn models(MayAskDocuments(caller): MayAskDocuments) -> Json<ModelList> {
    let data = usable(&caller.workspace.engine());
    Json(ModelList { object: "list", data })
}

/// Read one model.
#[utoipa::path(get, path = "/v1/models/{model}", tag = "openai",
    params(("model" = String, Path, description = "An id from `/v1/models`, or `halma`")),
    responses((status = 200, body = Model)))]
pub(crate) async fn one_model(
    MayAskDocuments(caller): MayAskDocuments,
    Part(name): Part<String>,
) -> Result<Json<Model>, Problem> {
    // The configured strategy has two names, and one of them in the list.
    let is_configured = name == PREFIX.trim_end_matches('-');
    let model = if is_configured {
        Some(Model::new(name.clone()))
    } else {
        usable(&caller.workspace.engine()).into_iter().find(|model| model.id == name)
    };
    let missing = || {
        Problem::new(StatusCode::NOT_FOUND, format!("there is no model `{name}`"))
            .hint("GET /v1/models lists all models")
    };
    model.map(Json).ok_or_else(missing)
}

fn usable(engine: &Engine) -> Vec<Model> {
    let default = engine.config().ask.strategy.clone();
    let mut names: Vec<&str> = strategies().iter().map(|entry| entry.name).collect();
    names.retain(|name| engine.strategy(name).is_ok());
    names.sort_by_key(|name| *name != default);
    let mut data: Vec<Model> =
        names.iter().map(|name| Model::new(format!("{PREFIX}{name}"))).collect();
    data.extend(engine.embedder().map(|embedder| Model::new(embedder.model().to_owned())));
    data
}
