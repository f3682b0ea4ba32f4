//! Models, their roles, and a test call.
use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use halma_core::Price;
use halma_engine::{Config, OFFLINE, ROLES};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::access::{MayAdmin, MayAskDocuments};
use crate::app::Shared;
use crate::json::{JsonBody, Part};
use crate::limits::blocking::run_blocking;
use crate::problem::Problem;
use crate::roles;

#[derive(Serialize, ToSchema)]
pub(crate) struct Models {
    models: Vec<ModelLine>,
    /// The model of each role.
    roles: BTreeMap<&'static str, String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ModelLine {
    name: String,
    /// Empty for the built-in offline model.
    url: String,
    model: String,
    price: Price,
}

/// List the configured models and the built-in one.
#[utoipa::path(get, path = "/api/v1/models", tag = "models",
    responses((status = 200, body = Models), (status = 401, body = Problem)))]
pub(crate) async fn list(MayAskDocuments(caller): MayAskDocuments) -> Json<Models> {
    Json(lines(caller.workspace.engine().config()))
}

pub(super) fn lines(config: &Config) -> Models {
    let offline = ModelLine {
        name: OFFLINE.into(),
        url: String::new(),
        model: OFFLINE.into(),
        price: Price::default(),
    };
    let line = |(name, model): (&String, &halma_engine::ModelConfig)| ModelLine {
        name: name.clone(),
        url: without_credentials(&model.api_url()),
        model: model.served_name(),
        price: model.price,
    };
    let models = config.models.iter().map(line).chain([offline]).collect();
    let roles = ROLES.iter().map(|role| (*role, config.model_of(role).to_owned())).collect();
    Models { models, roles }
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoleAssignment {
    /// Role → name of a model.
    roles: BTreeMap<String, String>,
}

/// Assign roles to models, in all workspaces, from the next question on. Of a shared base this holds
/// for all its servers.
#[utoipa::path(put, path = "/api/v1/models/roles", tag = "models", request_body = RoleAssignment,
    responses((status = 200, body = Models), (status = 422, body = Problem)))]
pub(crate) async fn assign(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
    JsonBody(new): JsonBody<RoleAssignment>,
) -> Result<Json<Models>, Problem> {
    run_blocking(move || {
        let _changing = app.role_changes.lock();
        let root = &app.workspaces.root;
        let config = roles::assign(root.engine().config(), &new.roles)?;
        if let Some(shared) = &app.settings {
            app.change_settings(shared, |settings| {
                settings.roles.extend(new.roles.clone());
                Ok(())
            })?;
            return Ok(Json(lines(root.engine().config())));
        }
        // First, so that what cannot be stored is not in force until the next start.
        let before = roles::read(&root.dir)?;
        let mut all = before.clone();
        all.extend(new.roles);
        roles::write(&root.dir, &all)?;
        if let Err(problem) = app.workspaces.reconfigure(&config) {
            roles::write(&root.dir, &before)?;
            return Err(problem);
        }
        Ok(Json(lines(&config)))
    })
    .await
}

/// An address without user name and password.
fn without_credentials(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let end = rest.find('/').unwrap_or(rest.len());
            let at = rest[..end].rfind('@').map_or(0, |at| at + 1);
            format!("{scheme}://{}", &rest[at..])
        }
        None => url.to_owned(),
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ModelTest {
    ok: bool,
    ms: f64,
    message: String,
}

/// Test a configured model with a short call.
#[utoipa::path(post, path = "/api/v1/models/{name}/test", tag = "models",
    params(("name" = String, Path)),
    responses((status = 200, body = ModelTest), (status = 404, body = Problem)))]
pub(crate) async fn test(
    MayAdmin(caller): MayAdmin,
    Part(name): Part<String>,
) -> Result<Json<ModelTest>, Problem> {
    let engine = caller.workspace.engine();
    if name == OFFLINE {
        let message = "built in".into();
        return Ok(Json(ModelTest { ok: true, ms: 0.0, message }));
    }
    if !engine.config().models.contains_key(&name) {
        return Err(Problem::new(StatusCode::NOT_FOUND, "there is no such model"));
    }
    let result = match engine.try_model(&name).await {
        Ok(ms) => ModelTest { ok: true, ms, message: "the model replied".into() },
        Err(error) => {
            let problem = Problem::from(error);
            let hint = problem.hint.unwrap_or_default();
            ModelTest { ok: false, ms: 0.0, message: format!("{}; {hint}", problem.detail) }
        }
    };
    Ok(Json(result))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_listed_without_its_password() {
        assert_eq!(without_credentials("https://a:b@x.example/v1"), "https://x.example/v1");
        assert_eq!(without_credentials("https://x.example/v1/@a"), "https://x.example/v1/@a");
    }
}
