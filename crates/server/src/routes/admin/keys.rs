//! API keys: listed, created, revoked.
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::MayAdmin;
use crate::app::Shared;
use crate::builds::unstored;
use crate::json::{JsonBody, Part};
use crate::keys::{Key, KeysError, NewKey};
use crate::limits::blocking::run_blocking;
use crate::pagination::Items;
use crate::problem::Problem;

/// A new key; this response is the only one that contains its secret.
#[derive(Serialize, ToSchema)]
pub(crate) struct CreatedKey {
    #[serde(flatten)]
    info: Key,
    /// What a client sends: `halma_<id>_<secret>`.
    key: String,
}

/// List the keys, without their secrets.
#[utoipa::path(get, path = "/api/v1/keys", tag = "keys",
    responses((status = 200, body = Items<Key>), (status = 403, body = Problem)))]
pub(crate) async fn list(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
) -> Result<Json<Items<Key>>, Problem> {
    run_blocking(move || Ok(Json(Items::whole(app.keys.stored.list()?)))).await
}

/// Create a key. From the first key on, every request requires one.
#[utoipa::path(post, path = "/api/v1/keys", tag = "keys", request_body = NewKey,
    responses((status = 201, body = CreatedKey), (status = 422, body = Problem)))]
pub(crate) async fn create(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
    JsonBody(new): JsonBody<NewKey>,
) -> Result<(StatusCode, Json<CreatedKey>), Problem> {
    run_blocking(move || {
        let workspace = new.workspace.as_deref().unwrap_or(crate::workspace::DEFAULT);
        if !app.workspaces.names().iter().any(|name| name == workspace) {
            return Err(Problem::unfit(format!("there is no workspace `{workspace}`"))
                .hint("create it first"));
        }
        if new.expires.is_some_and(|expires| expires <= chrono::Utc::now()) {
            return Err(Problem::unfit("the key would have expired already")
                .hint("give `expires` a time to come, or omit it"));
        }
        let (info, key) = app.keys.stored.create(new)?;
        app.keys.reload();
        Ok((StatusCode::CREATED, Json(CreatedKey { info, key })))
    })
    .await
}

/// Revoke a key permanently and close its open streams.
#[utoipa::path(delete, path = "/api/v1/keys/{id}", tag = "keys", params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn revoke(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
    Part(id): Part<String>,
) -> Result<StatusCode, Problem> {
    run_blocking(move || {
        app.keys.stored.revoke(&id)?;
        app.keys.reload();
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

impl From<KeysError> for Problem {
    fn from(error: KeysError) -> Self {
        match error {
            KeysError::Unknown(_) => Self::not_found("such key"),
            KeysError::Invalid(reason) => Self::unfit(reason),
            KeysError::Condition(reason) => Self::unfit(reason),
            KeysError::Storage(source) => unstored(source),
            KeysError::Broken { .. } | KeysError::Random(_) => Self::internal(&error),
        }
    }
}
