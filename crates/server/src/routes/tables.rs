//! Tables of the base, and SQL over them.
use axum::Json;
use axum::response::{IntoResponse as _, Response};
use halma_core::SqlResult;
use halma_engine::{SqlLimits, TableLine};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::access::{MayAskDocuments, run_queued};
use crate::json::{JsonBody, Params, Part};
use crate::pagination::{Items, limit};
use crate::problem::Problem;

/// List the tables that can be queried.
#[utoipa::path(get, path = "/api/v1/tables", tag = "knowledge",
    responses((status = 200, body = Items<TableLine>), (status = 401, body = Problem)))]
pub(crate) async fn list(
    MayAskDocuments(caller): MayAskDocuments,
) -> Result<Json<Items<TableLine>>, Problem> {
    run_queued(caller, move |caller| {
        Ok(Json(Items::whole(caller.workspace.engine().base().tables()?)))
    })
    .await
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RowRange {
    /// Maximum number of rows: 50 by default, at most 500.
    limit: Option<usize>,
    /// Rows to skip.
    offset: Option<usize>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct TableRows {
    #[serde(flatten)]
    table: TableLine,
    /// The rows of this page, cell by cell; `rows` is the number of all rows.
    #[schema(value_type = Vec<Vec<Value>>)]
    data: Vec<Vec<Value>>,
}

/// Read a table and some of its rows (`data`).
#[utoipa::path(get, path = "/api/v1/tables/{name}", tag = "knowledge",
    params(("name" = String, Path), RowRange),
    responses((status = 200, body = TableRows), (status = 404, body = Problem)))]
pub(crate) async fn get(
    MayAskDocuments(caller): MayAskDocuments,
    Part(name): Part<String>,
    Params(range): Params<RowRange>,
) -> Result<Json<TableRows>, Problem> {
    run_queued(caller, move |caller| {
        let engine = caller.workspace.engine();
        let table = engine.base().tables()?.into_iter().find(|table| table.name == name);
        let table = table.ok_or_else(|| Problem::not_found("such table"))?;
        let (limit, offset) = (limit(range.limit)?, range.offset.unwrap_or(0).min(1 << 40));
        let quoted = table.name.replace('"', "\"\"");
        let sql = format!("SELECT * FROM \"{quoted}\" LIMIT {limit} OFFSET {offset}");
        let result = engine.base().sql(&sql, SqlLimits::default())?;
        let data = result.rows.into_iter().map(|row| row.values).collect();
        Ok(Json(TableRows { table, data }))
    })
    .await
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SqlRequest {
    /// One `SELECT` over the tables.
    sql: String,
}

/// Run one `SELECT`, read only, for at most 5 seconds. Each row names the nodes that it comes from.
#[utoipa::path(post, path = "/api/v1/sql", tag = "knowledge", request_body = SqlRequest,
    responses((status = 200, body = SqlResult), (status = 422, body = Problem),
        (status = 503, body = Problem)))]
pub(crate) async fn sql(
    MayAskDocuments(caller): MayAskDocuments,
    JsonBody(request): JsonBody<SqlRequest>,
) -> Result<Response, Problem> {
    run_queued(caller, move |caller| {
        let engine = caller.workspace.engine();
        engine.check_text("sql", &request.sql)?;
        // Written as JSON here, where it takes up no thread of the runtime.
        Ok(Json(engine.base().sql(&request.sql, SqlLimits::default())?).into_response())
    })
    .await
}
