//! Usage statistics of questions and builds.
use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::MayAskDocuments;
use crate::json::Params;
use crate::limits::blocking::run_blocking;
use crate::problem::Problem;
use crate::usage::{GroupBy, UsageLine};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsageQuery {
    /// `day` (default), `key` or `strategy`.
    #[serde(default)]
    #[param(inline)]
    by: GroupBy,
}

/// Read the usage statistics of this workspace.
#[utoipa::path(get, path = "/api/v1/usage", tag = "server", params(UsageQuery),
    responses((status = 200, body = Vec<UsageLine>), (status = 401, body = Problem)))]
pub(crate) async fn usage(
    MayAskDocuments(caller): MayAskDocuments,
    Params(query): Params<UsageQuery>,
) -> Result<Json<Vec<UsageLine>>, Problem> {
    run_blocking(move || {
        // Those who see some documents see what their own key has used.
        let own = caller.documents().and_then(|_| caller.key_id());
        Ok(Json(caller.workspace.usage.grouped(query.by, own)?))
    })
    .await
}
