//! Keys: listed, made, revoked.
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::MayAdmin;
use crate::app::Shared;
use crate::beside::beside;
use crate::json::{Body, Part};
use crate::keys::{Key, KeysError, NewKey};
use crate::listing::Items;
use crate::problem::Problem;

/// A new key; its text is told this once.
#[derive(Serialize, ToSchema)]
pub(crate) struct MadeKey {
    #[serde(flatten)]
    about: Key,
    /// What a client sends: `halma_<id>_<secret>`.
    key: String,
}

/// All keys, without their secrets.
#[utoipa::path(get, path = "/api/v1/keys", tag = "keys",
    responses((status = 200, body = Items<Key>), (status = 403, body = Problem)))]
pub(crate) async fn list(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
) -> Result<Json<Items<Key>>, Problem> {
    beside(move || Ok(Json(Items::whole(app.keys.file().list()?)))).await
}

/// Makes a key. The first one closes a server that was open until then.
#[utoipa::path(post, path = "/api/v1/keys", tag = "keys", request_body = NewKey,
    responses((status = 201, body = MadeKey), (status = 422, body = Problem)))]
pub(crate) async fn create(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
    Body(new): Body<NewKey>,
) -> Result<(StatusCode, Json<MadeKey>), Problem> {
    beside(move || {
        let known = app.workspaces.names();
        let workspace = new.workspace.as_deref().unwrap_or(crate::workspace::DEFAULT);
        if !known.iter().any(|name| name == workspace) {
            return Err(Problem::unfit(format!("there is no workspace `{workspace}`"))
                .hint("make it first"));
        }
        let (about, key) = app.keys.file().create(new)?;
        app.keys.look();
        Ok((StatusCode::CREATED, Json(MadeKey { about, key })))
    })
    .await
}

/// Revokes a key for good; what it is streaming ends.
#[utoipa::path(delete, path = "/api/v1/keys/{id}", tag = "keys", params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn revoke(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
    Part(id): Part<String>,
) -> Result<StatusCode, Problem> {
    beside(move || {
        app.keys.file().revoke(&id)?;
        app.keys.look();
        Ok(StatusCode::NO_CONTENT)
    })
    .await
}

impl From<KeysError> for Problem {
    fn from(error: KeysError) -> Self {
        match error {
            KeysError::Unknown(_) => Self::not_found("such key"),
            KeysError::Unfit(said) => Self::unfit(said),
            KeysError::File { .. } | KeysError::Broken { .. } | KeysError::Random(_) => {
                Self::internal(&error)
            }
        }
    }
}
