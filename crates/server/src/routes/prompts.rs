//! Prompts: read by whoever asks, changed by whoever may do everything.
use std::io::Write as _;
use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State;
use halma_core::PromptInfo;
use halma_engine::{Config, Engine, list_prompts, shipped_prompts};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::access::{MayAdmin, MayAsk};
use crate::app::{App, Shared};
use crate::beside::beside;
use crate::json::{Body, Part};
use crate::listing::Items;
use crate::problem::Problem;

#[derive(Serialize, ToSchema)]
pub(crate) struct PromptLine {
    /// As in `kar3/select`.
    name: String,
    task: String,
    role: String,
    variables: Vec<String>,
    /// Whether a file replaces the shipped words.
    changed: bool,
    /// Of the words in use; traces name it.
    hash: String,
}

impl From<PromptInfo> for PromptLine {
    fn from(info: PromptInfo) -> Self {
        let PromptInfo { name, task, role, variables, overridden: changed, hash, .. } = info;
        Self { name, task, role, variables, changed, hash }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct WholePrompt {
    #[serde(flatten)]
    line: PromptLine,
    text: String,
    /// The words that Halma comes with.
    shipped_text: &'static str,
}

/// All prompts.
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

fn whole(engine: &Engine, name: &str) -> Result<WholePrompt, Problem> {
    let info = engine.prompts().list().into_iter().find(|info| info.name == name);
    let missing = || Problem::not_found("such prompt");
    let (info, shipped_text) = (info.ok_or_else(missing)?, shipped(name).ok_or_else(missing)?);
    let text = if info.overridden {
        std::fs::read_to_string(&info.file).map_err(|e| Problem::internal(&e))?
    } else {
        shipped_text.to_owned()
    };
    Ok(WholePrompt { line: info.into(), text, shipped_text })
}

/// A prompt with its words and the shipped ones.
#[utoipa::path(get, path = "/api/v1/prompts/{*name}", tag = "prompts",
    params(("name" = String, Path, description = "As in `kar3/select`")),
    responses((status = 200, body = WholePrompt), (status = 404, body = Problem)))]
pub(crate) async fn get(
    MayAsk(caller): MayAsk,
    Part(name): Part<String>,
) -> Result<Json<WholePrompt>, Problem> {
    beside(move || whole(&caller.workspace.engine(), &name).map(Json)).await
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    text: String,
}

/// Replaces a prompt's words, in all workspaces. Words that do not fit are refused.
#[utoipa::path(put, path = "/api/v1/prompts/{*name}", tag = "prompts", request_body = Words,
    params(("name" = String, Path)),
    responses((status = 200, body = WholePrompt), (status = 422, body = Problem)))]
pub(crate) async fn put(
    State(app): State<Shared>,
    MayAdmin(caller): MayAdmin,
    Part(name): Part<String>,
    Body(words): Body<Words>,
) -> Result<Json<WholePrompt>, Problem> {
    beside(move || {
        let path = path(&app, &name)?;
        let before = std::fs::read(&path).ok();
        write(&path, words.text.as_bytes())?;
        let config = config(&app);
        if let Err(error) = list_prompts(&config) {
            // Back to what was there.
            match before {
                Some(before) => write(&path, &before)?,
                None => std::fs::remove_file(&path).map_err(|e| Problem::internal(&e))?,
            }
            return Err(error.into());
        }
        app.workspaces.put_prompts(&config)?;
        whole(&caller.workspace.engine(), &name).map(Json)
    })
    .await
}

/// Goes back to the shipped words.
#[utoipa::path(delete, path = "/api/v1/prompts/{*name}", tag = "prompts",
    params(("name" = String, Path)),
    responses((status = 200, body = WholePrompt), (status = 404, body = Problem)))]
pub(crate) async fn delete(
    State(app): State<Shared>,
    MayAdmin(caller): MayAdmin,
    Part(name): Part<String>,
) -> Result<Json<WholePrompt>, Problem> {
    beside(move || {
        let path = path(&app, &name)?;
        if path.exists() {
            std::fs::remove_file(&path).map_err(|e| Problem::internal(&e))?;
            app.workspaces.put_prompts(&config(&app))?;
        }
        whole(&caller.workspace.engine(), &name).map(Json)
    })
    .await
}

/// The file of a prompt that there is; no other name becomes a path.
fn path(app: &App, name: &str) -> Result<PathBuf, Problem> {
    shipped(name).ok_or_else(|| Problem::not_found("such prompt"))?;
    Ok(app.prompts_dir.join(format!("{name}.md")))
}

/// The configuration in which the folder of changed prompts stands.
fn config(app: &App) -> Config {
    let mut config = app.workspaces.root().engine().config().clone();
    config.prompts_dir = app.prompts_dir.is_dir().then(|| app.prompts_dir.clone());
    config
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    let failed = |e: std::io::Error| Problem::internal(&e);
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.persist(path).map_err(|e| failed(e.error)).map(drop)
}
