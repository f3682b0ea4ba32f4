//! What questions and builds have used.
use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::MayAsk;
use crate::json::Params;
use crate::problem::Problem;
use crate::usage::{By, UsageLine};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Grouped {
    /// `day` (default), `key` or `strategy`.
    #[serde(default)]
    #[param(inline)]
    by: By,
}

/// What questions and builds of this workspace have used.
#[utoipa::path(get, path = "/api/v1/usage", tag = "server", params(Grouped),
    responses((status = 200, body = Vec<UsageLine>), (status = 401, body = Problem)))]
pub(crate) async fn usage(
    MayAsk(caller): MayAsk,
    Params(grouped): Params<Grouped>,
) -> Json<Vec<UsageLine>> {
    Json(caller.workspace.usage.by(grouped.by))
}
