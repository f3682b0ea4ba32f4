//! Connecting a model: servers on this machine, a trial, and the table of the configuration.
use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use halma_engine::{
    Config, Connection, LOCAL_SERVERS, Loaded, ModelServer, OFFLINE, Trial, discover, replace_file,
    try_connection, with_reader_only,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::models::{Models, lines};
use crate::access::MayAdmin;
use crate::app::Shared;
use crate::json::JsonBody;
use crate::limits::blocking::run_blocking;
use crate::problem::Problem;

/// The name of a model in the configuration has at most so many characters.
const LONGEST_NAME: usize = 40;

#[derive(Serialize, ToSchema)]
pub(crate) struct ModelServers {
    servers: Vec<ModelServer>,
}

/// A model of a server.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelAddress {
    /// The base of the server's API, such as `http://127.0.0.1:11434/v1`.
    url: String,
    /// The name of the model on the server.
    model: String,
    /// The environment variable of Halma's server that holds the key. It begins with `HALMA_` or is
    /// named in the configuration: other variables are not sent to an address that a client gives.
    #[serde(default)]
    key_env: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelConnection {
    /// The name of the model in the configuration.
    name: String,
    address: ModelAddress,
    /// Gives the model the role of the reader alone, as fits one that is slow. Nothing where roles
    /// are assigned already.
    #[serde(default)]
    reader_only: bool,
}

impl ModelAddress {
    fn connection(&self, config: &Config) -> Result<Connection, Problem> {
        let key_env = self.key_env.trim();
        let is_named = config.models.values().any(|model| model.key_env == key_env);
        if !key_env.is_empty() && !key_env.starts_with("HALMA_") && !is_named {
            let problem = Problem::unfit(format!("`{key_env}` is not a variable for keys"));
            return Err(problem.hint("give it a name that begins with `HALMA_`"));
        }
        let url = self.url.trim().trim_end_matches('/');
        if url.is_empty() || self.model.trim().is_empty() {
            let problem = Problem::unfit("`url` and `model` name a model of a server");
            return Err(problem.hint("GET /api/v1/models/servers lists those of this machine"));
        }
        Ok(Connection {
            url: url.to_owned(),
            model: self.model.trim().to_owned(),
            key_env: key_env.to_owned(),
            key_file: None,
            file: None,
        })
    }
}

/// List the model servers of this machine with their models.
#[utoipa::path(get, path = "/api/v1/models/servers", tag = "models",
    responses((status = 200, body = ModelServers)))]
pub(crate) async fn servers(_: MayAdmin) -> Json<ModelServers> {
    Json(ModelServers { servers: discover(&LOCAL_SERVERS).await })
}

/// Try a model with a small real question: its speed, and what a question will take.
#[utoipa::path(post, path = "/api/v1/models/trial", tag = "models", request_body = ModelAddress,
    responses((status = 200, body = Trial), (status = 422, body = Problem)))]
pub(crate) async fn trial(
    MayAdmin(caller): MayAdmin,
    JsonBody(address): JsonBody<ModelAddress>,
) -> Result<Json<Trial>, Problem> {
    let engine = caller.workspace.engine();
    let config = address.connection(engine.config())?.config();
    let tried = try_connection(engine.config(), "new", &config).await;
    // It is the client's address that does not work.
    tried.map(Json).map_err(|error| {
        let hint = "check the address, the name of the model, and the variable with its key";
        Problem::unfit(Problem::from(error).detail).hint(hint)
    })
}

/// Connect a model: it is added to the configuration file and in use from the next question on.
#[utoipa::path(post, path = "/api/v1/models", tag = "models", request_body = ModelConnection,
    responses((status = 200, body = Models), (status = 422, body = Problem)))]
pub(crate) async fn connect(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
    JsonBody(new): JsonBody<ModelConnection>,
) -> Result<Json<Models>, Problem> {
    let connection = new.address.connection(&app.loaded().config)?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let fits = !new.name.is_empty() && new.name.len() <= LONGEST_NAME && new.name != OFFLINE;
    if !fits || !new.name.chars().all(is_name) {
        let problem = Problem::unfit(format!("`{}` cannot be the name of a model", new.name));
        return Err(problem.hint("use letters, digits, `-` and `_`"));
    }
    run_blocking(move || {
        let _changing = app.role_changes.lock();
        let before = app.loaded();
        let file = before.file.clone().unwrap_or_else(|| PathBuf::from("halma.toml"));
        let shown = file.display().to_string();
        let former = match std::fs::read_to_string(&file) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
            text => Some(text.map_err(|e| Problem::io(&e))?),
        };
        let text = former.clone().unwrap_or_default();
        let mut text = connection.add_to(&text, &shown, &new.name)?;
        let mut config = before.config.clone();
        config.models.insert(new.name.clone(), connection.config());
        if new.reader_only && config.roles.is_empty() {
            text = with_reader_only(&text, &new.name);
            let roles = [("default", OFFLINE), ("reader", &new.name)];
            config.roles.extend(roles.map(|(role, model)| (role.to_owned(), model.to_owned())));
        }
        let mut origins = before.origins.clone();
        origins.insert(format!("models.{}.url", new.name), shown);
        // First, so that what cannot be stored is not in force until the next start.
        replace_file(&file, text.as_bytes()).map_err(|e| Problem::io(&e))?;
        let models = lines(&config);
        let connected = app.reload(Loaded { config, origins, file: Some(file.clone()) });
        if let Err(problem) = connected {
            match former {
                Some(former) => replace_file(&file, former.as_bytes()),
                None => std::fs::remove_file(&file),
            }
            .map_err(|e| Problem::io(&e))?;
            return Err(problem);
        }
        Ok(Json(models))
    })
    .await
}
