//! Whether the server is there, who calls it, what it is configured with.
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::{Known, MayAdmin};
use crate::app::Shared;
use crate::keys::Scope;
use crate::problem::Problem;

#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`.
    status: &'static str,
    version: &'static str,
}

/// Whether the server is there; needs no key.
#[utoipa::path(get, path = "/api/v1/health", tag = "server", security(()),
    responses((status = 200, body = Health)))]
pub(crate) async fn health() -> Json<Health> {
    Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Me {
    workspace: String,
    scopes: Vec<Scope>,
    /// Whether requests need a key.
    keys_required: bool,
    /// The key's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Whether this is the demo's library.
    demo: bool,
}

/// Who calls, and what they may do.
#[utoipa::path(get, path = "/api/v1/me", tag = "server",
    responses((status = 200, body = Me), (status = 401, body = Problem)))]
pub(crate) async fn me(State(app): State<Shared>, Known(caller): Known) -> Json<Me> {
    Json(Me {
        workspace: caller.workspace.name.clone(),
        scopes: caller.scopes(),
        keys_required: caller.key.is_some(),
        name: caller.key.as_ref().map(|key| key.name.clone()),
        demo: app.demo,
    })
}

/// A value of the configuration and where it came from.
#[derive(Serialize, ToSchema)]
pub(crate) struct ConfigValue {
    /// Dotted, as in `strategy.kar3.n`.
    key: String,
    value: serde_json::Value,
    /// `default`, a file, or a flag.
    origin: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ConfigValues {
    values: Vec<ConfigValue>,
}

/// The configuration as resolved. Keys of models are not among it: it names the variables that
/// hold them.
#[utoipa::path(get, path = "/api/v1/config", tag = "server",
    responses((status = 200, body = ConfigValues), (status = 403, body = Problem)))]
pub(crate) async fn config(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
) -> Result<Json<ConfigValues>, Problem> {
    let shown = halma_engine::show(&app.loaded)?.into_iter();
    let values = shown.map(|shown| ConfigValue {
        key: shown.key,
        value: without_password(shown.value),
        origin: shown.origin,
    });
    Ok(Json(ConfigValues { values: values.collect() }))
}

/// An address may carry a name and a password.
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
    fn a_password_in_an_address_is_not_shown() {
        assert_eq!(without_password("http://a:b@host/v1".into()), "http://…@host/v1");
        assert_eq!(without_password("http://host/v1@x".into()), "http://host/v1@x");
        assert_eq!(without_password(3.into()), 3);
    }
}
