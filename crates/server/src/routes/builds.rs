//! Builds: estimated, started, followed, paused, cancelled.
use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use halma_engine::{BasePart, Estimate, KeptPart, RebuildCost, StageEstimate};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::access::{Caller, MayAskDocuments, MayWrite, MayWriteDocuments, run_queued};
use crate::app::{Shared, Stop};
use crate::builds::{Build, BuildState, BuildStatus, inputs, options};
use crate::json::{JsonBody, Part};
use crate::limits::blocking::run_blocking;
use crate::limits::bounds;
use crate::pagination::Items;
use crate::problem::Problem;
use crate::sse::{self, EventSender};

/// Files that one build names at most; a build of everything has no limit.
const MAX_UPLOADS: usize = 10_000;

/// What is to be built.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BuildRequest {
    /// `upload` of accepted files; everything that was uploaded by default. An empty list is refused:
    /// a client that had no file accepted does not mean everything.
    uploads: Option<Vec<String>>,
    /// Parts of the base that are made again as the configuration says: `chunks` of the uploads of
    /// this build, any other part of the whole base. Without them a base stays as it was made.
    #[serde(default)]
    #[schema(value_type = Vec<BasePart>)]
    rebuild: BTreeSet<BasePart>,
}

/// What a build is started with, when its request was checked.
struct BuildInput {
    uploads: Option<Vec<String>>,
    rebuild: Vec<BasePart>,
}

/// What a build would cost.
#[derive(Serialize, ToSchema)]
pub(crate) struct BuildEstimate {
    /// New and changed documents.
    documents: usize,
    chunks: usize,
    calls: u64,
    tokens: u64,
    /// US dollars, by the prices in the configuration.
    usd: f64,
    seconds: f64,
    stages: Vec<StageEstimate>,
    /// Parts that would stay as they were made although the configuration says otherwise.
    kept: Vec<KeptLine>,
}

/// A part that stays as it was made, and what it would cost to make it again by `rebuild`.
#[derive(Serialize, ToSchema)]
pub(crate) struct KeptLine {
    #[serde(flatten)]
    part: KeptPart,
    /// `null` for chunks: the estimate of a build with `rebuild` has it.
    cost: Option<RebuildCost>,
}

impl From<Estimate> for BuildEstimate {
    fn from(estimate: Estimate) -> Self {
        Self {
            documents: estimate.documents_new + estimate.documents_replaced,
            chunks: estimate.chunks,
            calls: estimate.calls,
            tokens: estimate.prompt_tokens + estimate.completion_tokens,
            usd: estimate.usd,
            seconds: estimate.seconds,
            stages: estimate.stages,
            kept: estimate.kept.into_iter().map(|(part, cost)| KeptLine { part, cost }).collect(),
        }
    }
}

/// Estimate the cost of a build. No model is called.
#[utoipa::path(post, path = "/api/v1/builds/estimate", tag = "builds",
    request_body = BuildRequest,
    responses((status = 200, body = BuildEstimate), (status = 422, body = Problem)))]
pub(crate) async fn estimate(
    MayWriteDocuments(caller): MayWriteDocuments,
    JsonBody(request): JsonBody<BuildRequest>,
) -> Result<Json<BuildEstimate>, Problem> {
    let BuildInput { uploads, rebuild } = check(&caller, request).await?;
    let engine = caller.workspace.engine();
    let (inputs, options) = (inputs(&caller.workspace), options(uploads.as_deref(), rebuild));
    // One at a time: each reads all new files.
    let mut estimate =
        caller.workspace.estimates.run_async(engine.estimate(&inputs, &options)).await??;
    if caller.documents().is_some() {
        // It is about the whole base.
        estimate.kept.clear();
    }
    Ok(Json(estimate.into()))
}

/// Start a build; it waits for builds that are already queued, of which there may be 20 in a
/// workspace. Where the same key has requested the same and that still waits, no other build is
/// queued, and its status is the response.
#[utoipa::path(post, path = "/api/v1/builds", tag = "builds", request_body = BuildRequest,
    responses((status = 202, body = BuildStatus), (status = 422, body = Problem),
        (status = 503, body = Problem)))]
pub(crate) async fn start(
    MayWriteDocuments(caller): MayWriteDocuments,
    JsonBody(request): JsonBody<BuildRequest>,
) -> Result<(StatusCode, Json<BuildStatus>), Problem> {
    let BuildInput { uploads, rebuild } = check(&caller, request).await?;
    let key = caller.key_id().map(str::to_owned);
    run_blocking(move || {
        let build = caller.workspace.builds.start(uploads, rebuild, key)?;
        Ok((StatusCode::ACCEPTED, Json(status(&caller, &build))))
    })
    .await
}

/// A build that the caller may know of.
async fn find(caller: &Caller, id: &str) -> Result<Build, Problem> {
    let (builds, build_id) = (std::sync::Arc::clone(&caller.workspace.builds), id.to_owned());
    let build = run_blocking(move || builds.look_up(&build_id)).await?;
    if caller.sees_build(&build) { Ok(build) } else { Err(Problem::not_found("such build")) }
}

/// The status of a build for the caller: those who see some of the documents do not see what went
/// wrong with others, which a build tries again.
fn status(caller: &Caller, build: &Build) -> BuildStatus {
    as_seen_by(caller, build.status())
}

fn as_seen_by(caller: &Caller, status: BuildStatus) -> BuildStatus {
    if caller.documents().is_none() { status } else { status.without_texts() }
}

/// The requested uploads, all of which exist, or `None` for everything; and what is made again, if the
/// caller may ask for that.
async fn check(caller: &Caller, request: BuildRequest) -> Result<BuildInput, Problem> {
    let workspace = std::sync::Arc::clone(&caller.workspace);
    if let Some(uploads) = &request.uploads {
        if uploads.is_empty() {
            return Err(Problem::unfit("`uploads` is empty, so there is nothing to build")
                .hint("omit it to build everything that was uploaded"));
        }
        bounds::names("uploads", uploads, MAX_UPLOADS)?;
    }
    let restricted = caller.documents().is_some();
    let rebuild: Vec<BasePart> = request.rebuild.into_iter().collect();
    if restricted && !rebuild.is_empty() {
        return Err(Problem::restricted_key("`rebuild`"));
    }
    let jobs = &caller.workspace.requests;
    jobs.run(move || {
        let engine = workspace.engine();
        let files = engine.originals().list();
        let existing: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
        let all = || existing.iter().map(|name| (*name).to_owned()).collect();
        // Without names those who see some of the files build these.
        let every = restricted.then(all);
        let uploads = request.uploads.or(every);
        // Chunks are made of files, everything else of what the base holds.
        if existing.is_empty() && (rebuild.is_empty() || rebuild.contains(&BasePart::Chunks)) {
            return Err(no_uploads(&rebuild));
        }
        match uploads.iter().flatten().find(|upload| !existing.contains(upload.as_str())) {
            Some(upload) => Err(Problem::unfit(format!("there is no upload `{upload}`"))),
            None => Ok(BuildInput { uploads, rebuild }),
        }
    })
    .await
}

fn no_uploads(rebuild: &[BasePart]) -> Problem {
    let hint = if rebuild.contains(&BasePart::Chunks) {
        "chunks are made of uploaded files: upload them first, or run `halma index --rebuild chunks` \
         with the files that the base was made of"
    } else {
        "upload documents first"
    };
    Problem::unfit("no documents have been uploaded").hint(hint)
}

/// List builds, newest first. Each has at most 20 of the files that it refused; the status of one
/// build has them all.
#[utoipa::path(get, path = "/api/v1/builds", tag = "builds",
    responses((status = 200, body = Items<BuildStatus>), (status = 401, body = Problem)))]
pub(crate) async fn list(
    MayAskDocuments(caller): MayAskDocuments,
) -> Result<Json<Items<BuildStatus>>, Problem> {
    run_queued(caller, move |caller| {
        let builds = caller.workspace.builds.list();
        let seen = builds.iter().filter(|build| caller.sees_build(build));
        Ok(Json(Items::whole(seen.map(|build| as_seen_by(&caller, build.list_status())).collect())))
    })
    .await
}

/// Read the status of a build.
#[utoipa::path(get, path = "/api/v1/builds/{id}", tag = "builds", params(("id" = String, Path)),
    responses((status = 200, body = BuildStatus), (status = 404, body = Problem)))]
pub(crate) async fn get(
    MayAskDocuments(caller): MayAskDocuments,
    Part(id): Part<String>,
) -> Result<Json<BuildStatus>, Problem> {
    find(&caller, &id).await.map(|build| Json(status(&caller, &build)))
}

/// Follow a build: an event `progress` for every change, and `done` when it has ended or is paused.
#[utoipa::path(get, path = "/api/v1/builds/{id}/events", tag = "builds",
    params(("id" = String, Path)),
    responses(
        (status = 200, description = "Events `progress` and `done`, each with the build's status",
            body = sse::StreamEvent, content_type = "text/event-stream"),
        (status = 404, body = Problem)))]
pub(crate) async fn events(
    State(app): State<Shared>,
    MayAskDocuments(caller): MayAskDocuments,
    Part(id): Part<String>,
) -> Result<Response, Problem> {
    find(&caller, &id).await?;
    let (sender, receiver) = sse::channel();
    let task = tokio::spawn(async move { follow(&app, &caller, &id, &sender).await });
    Ok(sse::response(receiver, task.abort_handle()))
}

async fn follow(app: &Shared, caller: &Caller, id: &str, sender: &EventSender) {
    let builds = &caller.workspace.builds;
    let mut changes = builds.changes();
    while let Ok(build) = builds.get(id) {
        let pending = build.state.is_pending();
        let name = if pending { "progress" } else { "done" };
        if !sender.send(name, &status(caller, &build)) || !pending {
            return;
        }
        tokio::select! {
            more = changes.changed() => if more.is_err() { return },
            _ = caller.ended(app) => return,
            () = app.stopping(Stop::Soon) => return,
        }
        // A progress bar needs only a few updates a second.
        tokio::time::sleep(std::time::Duration::from_millis(150)).await;
    }
}

async fn set_state(
    caller: Caller,
    id: String,
    state: BuildState,
) -> Result<Json<BuildStatus>, Problem> {
    run_blocking(move || Ok(Json(caller.workspace.builds.set_state(&id, state)?.status()))).await
}

/// Pause a build; finished work is kept.
#[utoipa::path(post, path = "/api/v1/builds/{id}/pause", tag = "builds",
    params(("id" = String, Path)),
    responses((status = 200, body = BuildStatus), (status = 409, body = Problem)))]
pub(crate) async fn pause(
    MayWrite(caller): MayWrite,
    Part(id): Part<String>,
) -> Result<Json<BuildStatus>, Problem> {
    set_state(caller, id, BuildState::Paused).await
}

/// Resume a build that was paused or has failed.
#[utoipa::path(post, path = "/api/v1/builds/{id}/resume", tag = "builds",
    params(("id" = String, Path)),
    responses((status = 200, body = BuildStatus), (status = 409, body = Problem)))]
pub(crate) async fn resume(
    MayWrite(caller): MayWrite,
    Part(id): Part<String>,
) -> Result<Json<BuildStatus>, Problem> {
    set_state(caller, id, BuildState::Queued).await
}

/// Cancel a build; finished work is kept.
#[utoipa::path(post, path = "/api/v1/builds/{id}/cancel", tag = "builds",
    params(("id" = String, Path)),
    responses((status = 200, body = BuildStatus), (status = 409, body = Problem)))]
pub(crate) async fn cancel(
    MayWrite(caller): MayWrite,
    Part(id): Part<String>,
) -> Result<Json<BuildStatus>, Problem> {
    set_state(caller, id, BuildState::Cancelled).await
}
