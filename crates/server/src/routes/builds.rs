//! Builds: what one would cost, started, followed, stopped.
use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event as Sent, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures::Stream;
use halma_engine::Estimate;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use utoipa::ToSchema;

use super::ask::{unbuffered, while_read};
use crate::access::{Caller, MayAsk, MayWrite};
use crate::app::{Shared, Stop};
use crate::beside::beside;
use crate::builds::{BuildState, Shown, inputs, options};
use crate::json::{Body, Part};
use crate::listing::Items;
use crate::problem::Problem;

/// What is to be built.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    /// `upload` of what was accepted; everything where nothing is named.
    #[serde(default)]
    uploads: Option<Vec<String>>,
}

/// What a build would cost.
#[derive(Serialize, ToSchema)]
pub(crate) struct Estimated {
    /// New and changed ones.
    documents: usize,
    chunks: usize,
    calls: u64,
    tokens: u64,
    /// US dollars, by the prices in the configuration.
    usd: f64,
    seconds: f64,
    /// What each stage would cost: {task, model, units, calls, `prompt_tokens`,
    /// `completion_tokens`, usd, seconds, measured}.
    stages: serde_json::Value,
}

impl From<Estimate> for Estimated {
    fn from(estimate: Estimate) -> Self {
        Self {
            documents: estimate.documents_new + estimate.documents_replaced,
            chunks: estimate.chunks,
            calls: estimate.calls,
            tokens: estimate.prompt_tokens + estimate.completion_tokens,
            usd: estimate.usd,
            seconds: estimate.seconds,
            stages: serde_json::to_value(&estimate.stages).unwrap_or_default(),
        }
    }
}

/// What a build would cost; nothing is spent.
#[utoipa::path(post, path = "/api/v1/builds/estimate", tag = "builds", request_body = Which,
    responses((status = 200, body = Estimated), (status = 422, body = Problem)))]
pub(crate) async fn estimate(
    MayWrite(caller): MayWrite,
    Body(which): Body<Which>,
) -> Result<Json<Estimated>, Problem> {
    let uploads = checked(&caller, which).await?;
    let engine = caller.workspace.engine();
    let estimate =
        engine.estimate(&inputs(&caller.workspace), &options(uploads.as_deref())).await?;
    Ok(Json(estimate.into()))
}

/// Starts a build behind those that are running.
#[utoipa::path(post, path = "/api/v1/builds", tag = "builds", request_body = Which,
    responses((status = 202, body = Shown), (status = 422, body = Problem)))]
pub(crate) async fn start(
    MayWrite(caller): MayWrite,
    Body(which): Body<Which>,
) -> Result<(StatusCode, Json<Shown>), Problem> {
    let uploads = checked(&caller, which).await?;
    let key = caller.key_id().map(str::to_owned);
    let build = beside(move || caller.workspace.builds.start(uploads, key)).await?;
    Ok((StatusCode::ACCEPTED, Json(build.shown())))
}

/// Names of uploads that are there; `None` for all.
async fn checked(caller: &Caller, which: Which) -> Result<Option<Vec<String>>, Problem> {
    let workspace = std::sync::Arc::clone(&caller.workspace);
    beside(move || {
        let engine = workspace.engine();
        let files = engine.originals().list();
        let there: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
        let uploads = which.uploads.filter(|uploads| !uploads.is_empty());
        if there.is_empty() {
            return Err(Problem::unfit("nothing was uploaded").hint("upload documents first"));
        }
        match uploads.iter().flatten().find(|upload| !there.contains(upload.as_str())) {
            Some(upload) => Err(Problem::unfit(format!("there is no upload `{upload}`"))),
            None => Ok(uploads),
        }
    })
    .await
}

/// Builds, newest first.
#[utoipa::path(get, path = "/api/v1/builds", tag = "builds",
    responses((status = 200, body = Items<Shown>), (status = 401, body = Problem)))]
pub(crate) async fn list(MayAsk(caller): MayAsk) -> Json<Items<Shown>> {
    let builds = caller.workspace.builds.list();
    Json(Items::whole(builds.iter().map(crate::builds::Build::shown).collect()))
}

/// One build.
#[utoipa::path(get, path = "/api/v1/builds/{id}", tag = "builds", params(("id" = String, Path)),
    responses((status = 200, body = Shown), (status = 404, body = Problem)))]
pub(crate) async fn get(
    MayAsk(caller): MayAsk,
    Part(id): Part<String>,
) -> Result<Json<Shown>, Problem> {
    Ok(Json(caller.workspace.builds.get(&id)?.shown()))
}

/// Follows a build: an event `progress` for every change, `done` when it is over or paused.
#[utoipa::path(get, path = "/api/v1/builds/{id}/events", tag = "builds",
    params(("id" = String, Path)),
    responses(
        (status = 200, description = "Events `progress` and `done`, each a build",
            content_type = "text/event-stream"),
        (status = 404, body = Problem)))]
pub(crate) async fn events(
    State(app): State<Shared>,
    MayAsk(caller): MayAsk,
    Part(id): Part<String>,
) -> Result<Response, Problem> {
    caller.workspace.builds.get(&id)?;
    let stream = followed(app, caller, id);
    Ok((unbuffered(), Sse::new(stream).keep_alive(KeepAlive::default())).into_response())
}

fn followed(
    app: Shared,
    caller: Caller,
    id: String,
) -> impl Stream<Item = Result<Sent, std::convert::Infallible>> {
    let (send, events) = mpsc::unbounded_channel();
    let following = tokio::spawn(async move {
        let builds = &caller.workspace.builds;
        let mut changes = builds.changes();
        while let Ok(build) = builds.get(&id) {
            let waits = build.state.is_waiting();
            let name = if waits { "progress" } else { "done" };
            let event = Sent::default().event(name).json_data(build.shown());
            if event.is_ok_and(|event| send.send(event).is_err()) || !waits {
                return;
            }
            tokio::select! {
                more = changes.changed() => if more.is_err() { return },
                () = caller.gone(&app) => return,
                () = app.stopping(Stop::Soon) => return,
            }
            // A few times a second is enough for a bar.
            tokio::time::sleep(std::time::Duration::from_millis(150)).await;
        }
    });
    while_read(events, following.abort_handle())
}

async fn turned(caller: Caller, id: String, to: BuildState) -> Result<Json<Shown>, Problem> {
    beside(move || Ok(Json(caller.workspace.builds.turn(&id, to)?.shown()))).await
}

/// Pauses a build; what is done stays done.
#[utoipa::path(post, path = "/api/v1/builds/{id}/pause", tag = "builds",
    params(("id" = String, Path)),
    responses((status = 200, body = Shown), (status = 409, body = Problem)))]
pub(crate) async fn pause(
    MayWrite(caller): MayWrite,
    Part(id): Part<String>,
) -> Result<Json<Shown>, Problem> {
    turned(caller, id, BuildState::Paused).await
}

/// Takes up a build that was paused or has failed.
#[utoipa::path(post, path = "/api/v1/builds/{id}/resume", tag = "builds",
    params(("id" = String, Path)),
    responses((status = 200, body = Shown), (status = 409, body = Problem)))]
pub(crate) async fn resume(
    MayWrite(caller): MayWrite,
    Part(id): Part<String>,
) -> Result<Json<Shown>, Problem> {
    turned(caller, id, BuildState::Queued).await
}

/// Cancels a build; what is done stays done.
#[utoipa::path(post, path = "/api/v1/builds/{id}/cancel", tag = "builds",
    params(("id" = String, Path)),
    responses((status = 200, body = Shown), (status = 409, body = Problem)))]
pub(crate) async fn cancel(
    MayWrite(caller): MayWrite,
    Part(id): Part<String>,
) -> Result<Json<Shown>, Problem> {
    turned(caller, id, BuildState::Cancelled).await
}
