//! Tables of the base, and SQL over them.
use axum::Json;
use halma_engine::{Engine, SqlLimits};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::access::MayAsk;
use crate::beside::beside;
use crate::json::{Body, Params, Part};
use crate::listing::{Items, limit};
use crate::problem::Problem;

/// A table as SQL knows it.
#[derive(Serialize, ToSchema)]
pub(crate) struct TableInfo {
    name: String,
    /// Its node.
    id: String,
    caption: Option<String>,
    /// None for what was made from facts or unites tables.
    document: Option<String>,
    page: Option<u32>,
    rows: usize,
    columns: Vec<ColumnInfo>,
    /// Names of the tables whose rows this one unites.
    unites: Vec<String>,
    /// Why it cannot be read in SQL.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ColumnInfo {
    name: String,
    /// As the document has it.
    written: String,
    /// `integer`, `number`, `date`, `truth` or `text`.
    kind: &'static str,
    unit: Option<String>,
}

fn tables(engine: &Engine) -> Result<Vec<TableInfo>, Problem> {
    let tables = engine.base().tables()?.into_iter();
    Ok(tables
        .map(|table| TableInfo {
            name: table.name,
            id: table.id.0,
            caption: table.caption,
            document: table.document,
            page: table.page,
            rows: table.rows,
            columns: table
                .columns
                .into_iter()
                .map(|column| ColumnInfo {
                    name: column.name,
                    written: column.written,
                    kind: column.kind,
                    unit: column.unit,
                })
                .collect(),
            unites: table.unites,
            refused: table.refused,
        })
        .collect())
}

/// The tables that can be queried.
#[utoipa::path(get, path = "/api/v1/tables", tag = "knowledge",
    responses((status = 200, body = Items<TableInfo>), (status = 401, body = Problem)))]
pub(crate) async fn list(MayAsk(caller): MayAsk) -> Result<Json<Items<TableInfo>>, Problem> {
    beside(move || Ok(Json(Items::whole(tables(&caller.workspace.engine())?)))).await
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Rows {
    /// At most so many; 50 by default, 500 at most.
    limit: Option<usize>,
    /// Rows before the first one.
    offset: Option<usize>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct WholeTable {
    #[serde(flatten)]
    info: TableInfo,
    /// The rows of this page, cell by cell.
    #[serde(rename = "data")]
    #[schema(value_type = Vec<Vec<Object>>)]
    data: Vec<Vec<Value>>,
}

/// A table with some of its rows, as `data`.
#[utoipa::path(get, path = "/api/v1/tables/{name}", tag = "knowledge",
    params(("name" = String, Path), Rows),
    responses((status = 200, body = WholeTable), (status = 404, body = Problem)))]
pub(crate) async fn get(
    MayAsk(caller): MayAsk,
    Part(name): Part<String>,
    Params(rows): Params<Rows>,
) -> Result<Json<WholeTable>, Problem> {
    beside(move || {
        let engine = caller.workspace.engine();
        let info = tables(&engine)?.into_iter().find(|table| table.name == name);
        let info = info.ok_or_else(|| Problem::not_found("such table"))?;
        let (limit, offset) = (limit(rows.limit), rows.offset.unwrap_or(0).min(1 << 40));
        let quoted = info.name.replace('"', "\"\"");
        let sql = format!("SELECT * FROM \"{quoted}\" LIMIT {limit} OFFSET {offset}");
        let computed = engine.base().sql(&sql, SqlLimits::default())?;
        let data = computed.rows.into_iter().map(|row| row.values).collect();
        Ok(Json(WholeTable { info, data }))
    })
    .await
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sql {
    /// One `SELECT` over the tables.
    sql: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SqlResult {
    columns: Vec<String>,
    #[schema(value_type = Vec<Vec<Object>>)]
    rows: Vec<Vec<Value>>,
    /// For each row the nodes it comes from, as many as are known.
    sources: Vec<Vec<String>>,
    /// Names of the documents whose tables were read.
    documents: Vec<String>,
    /// Rows beyond the limit were left out.
    cut: bool,
}

/// Runs one `SELECT`, read only, for at most 5 seconds.
#[utoipa::path(post, path = "/api/v1/sql", tag = "knowledge", request_body = Sql,
    responses((status = 200, body = SqlResult), (status = 422, body = Problem)))]
pub(crate) async fn sql(
    MayAsk(caller): MayAsk,
    Body(asked): Body<Sql>,
) -> Result<Json<SqlResult>, Problem> {
    beside(move || {
        let engine = caller.workspace.engine();
        engine.check_question(&asked.sql)?;
        let computed = engine.base().sql(&asked.sql, SqlLimits::default())?;
        let ids = |ids: &[halma_core::NodeId]| ids.iter().map(|id| id.0.clone()).collect();
        Ok(Json(SqlResult {
            sources: computed.rows.iter().map(|row| ids(&row.sources)).collect(),
            rows: computed.rows.into_iter().map(|row| row.values).collect(),
            columns: computed.columns,
            documents: computed.documents,
            cut: computed.cut,
        }))
    })
    .await
}
