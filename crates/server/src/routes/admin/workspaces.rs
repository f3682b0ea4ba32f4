//! Workspaces: listed, created, removed.
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::access::MayAdmin;
use crate::app::Shared;
use crate::json::{JsonBody, Part};
use crate::limits::blocking::run_blocking;
use crate::pagination::Items;
use crate::problem::Problem;
use crate::workspace::Overview;

#[derive(Serialize, ToSchema)]
pub(crate) struct WorkspaceLine {
    name: String,
    documents: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    created: Option<DateTime<Utc>>,
}

fn line(name: String, overview: Overview) -> WorkspaceLine {
    let Overview { documents, created } = overview;
    WorkspaceLine { name, documents, created }
}

/// List the workspaces. One that cannot be opened is left out, and the log says why.
#[utoipa::path(get, path = "/api/v1/workspaces", tag = "workspaces",
    responses((status = 200, body = Items<WorkspaceLine>), (status = 403, body = Problem)))]
pub(crate) async fn list(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
) -> Result<Json<Items<WorkspaceLine>>, Problem> {
    let mut lines = vec![];
    for name in app.workspaces.names() {
        match app.workspaces.overview(&name).await {
            Ok(overview) => lines.push(line(name, overview)),
            // One that cannot be opened does not hide the others; one may have been removed.
            Err(Problem { detail, .. }) => tracing::warn!("`{name}` is not listed: {detail}"),
        }
    }
    Ok(Json(Items::whole(lines)))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewWorkspace {
    /// At most 64 characters: a-z, 0-9, - and _.
    name: String,
}

/// Create a workspace.
#[utoipa::path(post, path = "/api/v1/workspaces", tag = "workspaces", request_body = NewWorkspace,
    responses((status = 201, body = WorkspaceLine), (status = 409, body = Problem),
        (status = 422, body = Problem)))]
pub(crate) async fn create(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
    JsonBody(new): JsonBody<NewWorkspace>,
) -> Result<(StatusCode, Json<WorkspaceLine>), Problem> {
    let workspace = app.workspaces.create(&new.name).await?;
    let overview = run_blocking(move || Overview::read(&workspace)).await?;
    Ok((StatusCode::CREATED, Json(line(new.name, overview))))
}

/// Remove a workspace and everything in it permanently.
#[utoipa::path(delete, path = "/api/v1/workspaces/{name}", tag = "workspaces",
    params(("name" = String, Path)),
    responses((status = 204), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn delete(
    State(app): State<Shared>,
    MayAdmin(caller): MayAdmin,
    Part(name): Part<String>,
) -> Result<StatusCode, Problem> {
    // It may hold the workspace that is to be closed.
    drop(caller);
    // It is completed also when the client leaves.
    let removal = tokio::spawn(async move { app.workspaces.remove(&name).await });
    removal.await.map_err(|e| Problem::internal(&e))??;
    Ok(StatusCode::NO_CONTENT)
}
