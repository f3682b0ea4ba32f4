//! Models, their roles, and whether one answers.
use std::collections::BTreeMap;

use axum::Json;
use axum::http::StatusCode;
use halma_engine::{OFFLINE, ROLES};
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::{MayAdmin, MayAsk};
use crate::json::Part;
use crate::problem::Problem;

#[derive(Serialize, ToSchema)]
pub(crate) struct Models {
    models: Vec<ModelLine>,
    /// Which model plays which role.
    roles: BTreeMap<&'static str, String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ModelLine {
    name: String,
    /// Empty for the built-in offline model.
    url: String,
    model: String,
    price: ModelPrice,
}

/// US dollars for a million tokens.
#[derive(Serialize, ToSchema)]
pub(crate) struct ModelPrice {
    prompt: f64,
    completion: f64,
}

/// The models that are configured, and the one that is always there.
#[utoipa::path(get, path = "/api/v1/models", tag = "models",
    responses((status = 200, body = Models), (status = 401, body = Problem)))]
pub(crate) async fn list(MayAsk(caller): MayAsk) -> Json<Models> {
    let engine = caller.workspace.engine();
    let config = engine.config();
    let offline = ModelLine {
        name: OFFLINE.into(),
        url: String::new(),
        model: OFFLINE.into(),
        price: ModelPrice { prompt: 0.0, completion: 0.0 },
    };
    let line = |(name, model): (&String, &halma_engine::ModelConfig)| ModelLine {
        name: name.clone(),
        url: host(&model.url),
        model: model.model.clone(),
        price: ModelPrice { prompt: model.price.prompt, completion: model.price.completion },
    };
    let models = config.models.iter().map(line).chain([offline]).collect();
    let roles = ROLES.iter().map(|role| (*role, config.model_of(role).to_owned())).collect();
    Json(Models { models, roles })
}

/// An address without a name and password in it.
fn host(url: &str) -> String {
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
pub(crate) struct Tested {
    ok: bool,
    ms: f64,
    message: String,
}

/// Asks a configured model for a word. Only what the configuration names is called.
#[utoipa::path(post, path = "/api/v1/models/{name}/test", tag = "models",
    params(("name" = String, Path)),
    responses((status = 200, body = Tested), (status = 404, body = Problem)))]
pub(crate) async fn test(
    MayAdmin(caller): MayAdmin,
    Part(name): Part<String>,
) -> Result<Json<Tested>, Problem> {
    let engine = caller.workspace.engine();
    if name == OFFLINE {
        let message = "it is built in".into();
        return Ok(Json(Tested { ok: true, ms: 0.0, message }));
    }
    if !engine.config().models.contains_key(&name) {
        return Err(Problem::new(StatusCode::NOT_FOUND, "there is no such model"));
    }
    let tested = match engine.try_model(&name).await {
        Ok(ms) => Tested { ok: true, ms, message: "it answers".into() },
        Err(error) => {
            let problem = Problem::from(error);
            let hint = problem.hint.unwrap_or_default();
            Tested { ok: false, ms: 0.0, message: format!("{}; {hint}", problem.detail) }
        }
    };
    Ok(Json(tested))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        assert_eq!(host("https://a:b@x.example/v1"), "https://x.example/v1");
        assert_eq!(host("https://x.example/v1/@a"), "https://x.example/v1/@a");
    }
}
