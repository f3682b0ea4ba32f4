//! `GET /v1/models`: each strategy is a model.
use axum::Json;
use halma_engine::strategies;
use serde::Serialize;
use utoipa::ToSchema;

use super::PREFIX;
use crate::access::MayAsk;

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

/// The strategies that can be used, as models; the configured one first, the embedder last.
#[utoipa::path(get, path = "/v1/models", tag = "openai",
    responses((status = 200, body = ModelList)))]
pub(crate) async fn models(MayAsk(caller): MayAsk) -> Json<ModelList> {
    let engine = caller.workspace.engine();
    let usual = engine.config().ask.strategy.clone();
    let mut names: Vec<&str> = strategies().iter().map(|entry| entry.name).collect();
    names.retain(|name| engine.strategy(name).is_ok());
    names.sort_by_key(|name| *name != usual);
    let model = |id: String| Model { id, object: "model", created: 0, owned_by: "halma" };
    let mut data: Vec<Model> = names.iter().map(|name| model(format!("{PREFIX}{name}"))).collect();
    data.extend(engine.embedder().map(|name| model(name.to_owned())));
    Json(ModelList { object: "list", data })
}
