//! Prompts: read with the scope `ask`, changed with the scope `admin`.
use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State;
use halma_core::PromptInfo;
use halma_engine::{Config, configured_prompts, replace_file, shipped_prompts};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::access::{MayAdmin, MayAsk};
use crate::app::{App, Shared};
use crate::json::{JsonBody, Part};
use crate::limits::blocking::run_blocking;
use crate::pagination::Items;
use crate::problem::Problem;
use crate::workspace::Workspace;

#[derive(Serialize, ToSchema)]
pub(crate) struct PromptLine {
    /// As in `kar3/select`.
    name: String,
    task: String,
    role: String,
    variables: Vec<String>,
    /// Whether a file replaces the shipped text.
    changed: bool,
    /// Hash of the text in use, as recorded in traces.
    hash: String,
}

impl From<PromptInfo> for PromptLine {
    fn from(info: PromptInfo) -> Self {
        let PromptInfo { name, task, role, variables, overridden: changed, hash, .. } = info;
        Self { name, task, role, variables, changed, hash }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PromptDetail {
    #[serde(flatten)]
    line: PromptLine,
    text: String,
    /// The text that is shipped with Halma.
    shipped_text: &'static str,
}

/// List the prompts.
#[utoipa::path(get, path = "/api/v1/prompts", tag = "prompts",
    responses((status = 200, body = Items<PromptLine>), (status = 401, body = Problem)))]
pub(crate) async fn list(MayAsk(caller): MayAsk) -> Json<Items<PromptLine>> {
    let prompts = caller.workspace.engine().prompts().list();
    Json(Items::whole(prompts.into_iter().map(PromptLine::from).collect()))
}

fn shipped(name: &str) -> Option<&'static str> {
    let all = shipped_prompts();
    let mut files = std::iter::once(halma_core::PROMPTS).chain(all).flatten();
    files.find(|file| file.name == name).map(|file| file.text)
}

fn detail((app, workspace): (&App, &Workspace), name: &str) -> Result<PromptDetail, Problem> {
    let _unchanged = app.applied();
    let engine = workspace.engine();
    let info = engine.prompts().list().into_iter().find(|info| info.name == name);
    let missing = || Problem::not_found("such prompt");
    let (info, shipped_text) = (info.ok_or_else(missing)?, shipped(name).ok_or_else(missing)?);
    let text = if info.overridden {
        std::fs::read_to_string(&info.file).map_err(|e| Problem::internal(&e))?
    } else {
        shipped_text.to_owned()
    };
    Ok(PromptDetail { line: info.into(), text, shipped_text })
}

/// Read a prompt: the text in use and the shipped one.
#[utoipa::path(get, path = "/api/v1/prompts/{*name}", tag = "prompts",
    params(("name" = String, Path, description = "As in `kar3/select`")),
    responses((status = 200, body = PromptDetail), (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(app): State<Shared>,
    MayAsk(caller): MayAsk,
    Part(name): Part<String>,
) -> Result<Json<PromptDetail>, Problem> {
    run_blocking(move || detail((&app, &caller.workspace), &name).map(Json)).await
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PromptText {
    text: String,
}

/// Replace a prompt's text in all workspaces, of a shared base on all its servers. A text that is not
/// a valid template is refused.
#[utoipa::path(put, path = "/api/v1/prompts/{*name}", tag = "prompts", request_body = PromptText,
    params(("name" = String, Path)),
    responses((status = 200, body = PromptDetail), (status = 422, body = Problem)))]
pub(crate) async fn put(
    State(app): State<Shared>,
    MayAdmin(caller): MayAdmin,
    Part(name): Part<String>,
    JsonBody(new): JsonBody<PromptText>,
) -> Result<Json<PromptDetail>, Problem> {
    run_blocking(move || {
        let path = path(&app, &name)?;
        let _turn = app.prompt_changes.lock();
        if let Some(shared) = &app.settings {
            app.change_settings(shared, |settings| {
                settings.prompts.insert(name.clone(), new.text.clone());
                app.check_prompts(settings)
            })?;
            return detail((&app, &caller.workspace), &name).map(Json);
        }
        check(&app, &name, &new.text)?;
        write(&path, new.text.as_bytes())?;
        let config = config(&app);
        app.workspaces.reconfigure(&config)?;
        detail((&app, &caller.workspace), &name).map(Json)
    })
    .await
}

/// Restore the shipped text of a prompt.
#[utoipa::path(delete, path = "/api/v1/prompts/{*name}", tag = "prompts",
    params(("name" = String, Path)),
    responses((status = 200, body = PromptDetail), (status = 404, body = Problem)))]
pub(crate) async fn delete(
    State(app): State<Shared>,
    MayAdmin(caller): MayAdmin,
    Part(name): Part<String>,
) -> Result<Json<PromptDetail>, Problem> {
    run_blocking(move || {
        let path = path(&app, &name)?;
        let _turn = app.prompt_changes.lock();
        if let Some(shared) = &app.settings {
            app.change_settings(shared, |settings| {
                settings.prompts.remove(&name);
                Ok(())
            })?;
        } else if path.exists() {
            std::fs::remove_file(&path).map_err(|e| Problem::internal(&e))?;
            app.workspaces.reconfigure(&config(&app))?;
        }
        detail((&app, &caller.workspace), &name).map(Json)
    })
    .await
}

/// Refuses a text that is not valid with the other prompts, before it replaces anything: a server
/// that is killed in between must start again.
fn check(app: &App, name: &str, text: &str) -> Result<(), Problem> {
    let failed = |e: std::io::Error| Problem::io(&e);
    let trial = tempfile::tempdir().map_err(failed)?;
    let all = std::iter::once(halma_core::PROMPTS).chain(shipped_prompts()).flatten();
    for file in all {
        let changed = app.prompts_dir.join(format!("{}.md", file.name));
        if file.name != name && changed.is_file() {
            let bytes = std::fs::read(&changed).map_err(failed)?;
            write(&trial.path().join(format!("{}.md", file.name)), &bytes)?;
        }
    }
    write(&trial.path().join(format!("{name}.md")), text.as_bytes())?;
    let config = Config { prompts_dir: Some(trial.path().to_owned()), ..config(app) };
    Ok(configured_prompts(&config).map(drop)?)
}

/// The file of an existing prompt; no other name is made a path.
fn path(app: &App, name: &str) -> Result<PathBuf, Problem> {
    shipped(name).ok_or_else(|| Problem::not_found("such prompt"))?;
    Ok(app.prompts_dir.join(format!("{name}.md")))
}

/// The configuration with the folder of changed prompts.
fn config(app: &App) -> Config {
    let mut config = app.workspaces.root().engine().config().clone();
    config.prompts_dir = app.prompts_dir.is_dir().then(|| app.prompts_dir.clone());
    config
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    let failed = |e: std::io::Error| Problem::io(&e);
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    replace_file(path, bytes).map_err(failed)
}
