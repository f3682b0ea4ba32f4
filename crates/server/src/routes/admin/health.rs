//! Health of the server, the caller's permissions, the configuration.
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use halma_core::MetadataFilter;
use halma_engine::ShownValue;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::{AnyKey, MayAdmin};
use crate::app::{Shared, Stop};
use crate::keys::Scope;
use crate::problem::Problem;
use crate::storage_health::StorageHealth;

#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`.
    status: &'static str,
    version: &'static str,
}

/// Check that the server is running; no key is required.
#[utoipa::path(get, path = "/api/v1/health", tag = "server", security(()),
    responses((status = 200, body = Health)))]
pub(crate) async fn health() -> Json<Health> {
    Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

#[expect(clippy::struct_excessive_bools, reason = "each is a condition of its own")]
#[derive(Serialize, ToSchema)]
pub(crate) struct Readiness {
    /// Whether questions can be answered and files be stored.
    ready: bool,
    /// Whether the store of the default workspace can be read.
    store: bool,
    /// The embedder that is open; without one, only keywords are searched.
    embedder: Option<String>,
    /// Whether the disk has space left.
    disk: bool,
    /// Whether another question would be accepted.
    queue: bool,
    /// Whether the database of a base that is shared is reached. While it is not, questions are
    /// answered from what this server has, and nothing is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    database: Option<bool>,
}

/// Check that the server can do its work; no key is required.
#[utoipa::path(get, path = "/api/v1/ready", tag = "server", security(()),
    responses((status = 200, body = Readiness), (status = 503, body = Readiness)))]
pub(crate) async fn ready(State(app): State<Shared>) -> (StatusCode, Json<Readiness>) {
    let engine = app.workspaces.root.engine();
    let embedder = engine.embedder().map(|embedder| embedder.model().to_owned());
    let StorageHealth { store, disk } = *app.storage_health.borrow();
    let stopping = *app.stop.borrow() != Stop::No;
    let queue = !stopping && app.asks.available_permits() > 0;
    let ready = store && disk && queue;
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let database = app.keys.database();
    (status, Json(Readiness { ready, store, embedder, disk, queue, database }))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Me {
    workspace: String,
    scopes: Vec<Scope>,
    /// Whether requests require a key.
    keys_required: bool,
    /// The key's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The conditions that the documents meet which the key sees; all are seen without any.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    documents: Option<MetadataFilter>,
    /// Whether this is the demo library.
    demo: bool,
}

/// Read the caller's workspace and scopes.
#[utoipa::path(get, path = "/api/v1/me", tag = "server",
    responses((status = 200, body = Me), (status = 401, body = Problem)))]
pub(crate) async fn me(State(app): State<Shared>, AnyKey(caller): AnyKey) -> Json<Me> {
    Json(Me {
        workspace: caller.workspace.name.clone(),
        scopes: caller.scopes(),
        keys_required: caller.key.is_some(),
        name: caller.key.as_ref().map(|key| key.name.clone()),
        documents: caller.documents().cloned(),
        demo: app.demo.is_some(),
    })
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ConfigValues {
    values: Vec<ShownValue>,
}

/// Read the resolved configuration. It never contains API keys of models, only the names of the
/// environment variables that hold them.
#[utoipa::path(get, path = "/api/v1/config", tag = "server",
    responses((status = 200, body = ConfigValues), (status = 403, body = Problem)))]
pub(crate) async fn config(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
) -> Result<Json<ConfigValues>, Problem> {
    let mut values = halma_engine::show(&app.loaded())?;
    for shown in &mut values {
        shown.value = without_password(std::mem::take(&mut shown.value));
    }
    Ok(Json(ConfigValues { values }))
}

/// Removes user name and password from an address.
fn without_password(value: serde_json::Value) -> serde_json::Value {
    let Some((scheme, rest)) = value.as_str().and_then(|text| text.split_once("://")) else {
        return value;
    };
    let host = rest.split('/').next().unwrap_or_default();
    match host.rsplit_once('@') {
        Some((secret, _)) => format!("{scheme}://…{}", &rest[secret.len()..]).into(),
        None => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_an_address_is_removed() {
        assert_eq!(without_password("http://a:b@host/v1".into()), "http://…@host/v1");
        assert_eq!(without_password("http://host/v1@x".into()), "http://host/v1@x");
        assert_eq!(without_password(3.into()), 3);
    }
}
