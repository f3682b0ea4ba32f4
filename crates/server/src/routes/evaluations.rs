//! Evaluations in the folders of `serve.evaluations`, as `halma eval` wrote them. They hold
//! questions and answers of what was evaluated, so that only an administrator may read them.
use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use chrono::{DateTime, Utc};
use halma_eval::{AnswerOutcome, Comparison, Report, Resampling, Side, question_detail};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use crate::access::MayAdmin;
use crate::app::Shared;
use crate::evaluation_runs::{RunState, evaluation_id, is_evaluation_name};
use crate::json::{Params, Part};
use crate::limits::blocking::run_blocking;
use crate::pagination::Items;
use crate::problem::Problem;

/// How deep folders are searched.
const MAX_DEPTH: usize = 4;

/// The page of a report has its script and style in itself, and loads nothing.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; \
                      script-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; sandbox \
                      allow-scripts";

/// An evaluation in a list.
#[derive(Serialize, ToSchema)]
pub(crate) struct EvaluationLine {
    id: String,
    dataset: String,
    /// Questions that were to be asked.
    n: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    at: Option<DateTime<Utc>>,
    runs: Vec<RunLine>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct RunLine {
    strategy: String,
    label: String,
    /// By column, as `report.json` has them.
    values: Value,
}

/// An evaluation's folder, by an id that clients cannot choose.
struct Evaluation {
    id: String,
    folder: PathBuf,
}

fn evaluations(app: &Shared) -> Vec<Evaluation> {
    let mut folders = vec![];
    for root in &app.config.evaluations {
        collect(root, MAX_DEPTH, &mut folders);
    }
    for folder in app.workspaces.evaluations() {
        collect(&folder, MAX_DEPTH, &mut folders);
    }
    folders.sort();
    folders.dedup();
    let evaluation = |folder: PathBuf| Evaluation { id: evaluation_id(&folder), folder };
    folders.into_iter().map(evaluation).collect()
}

fn collect(folder: &Path, depth: usize, folders: &mut Vec<PathBuf>) {
    if folder.join("report.json").is_file() {
        folders.push(folder.to_owned());
    }
    if depth == 0 {
        return;
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        collect(&entry.path(), depth - 1, folders);
    }
}

fn one(app: &Shared, id: &str) -> Result<PathBuf, Problem> {
    let evaluation = evaluations(app).into_iter().find(|evaluation| evaluation.id == id);
    Ok(evaluation.ok_or_else(|| Problem::not_found("such evaluation"))?.folder)
}

fn read(folder: &Path) -> Result<Report, Problem> {
    Report::open(folder).map_err(|error| Problem::unfit(error.to_string()))
}

/// Evaluations, newest first.
#[utoipa::path(get, path = "/api/v1/evaluations", tag = "evaluations",
    responses((status = 200, body = Items<EvaluationLine>), (status = 403, body = Problem)))]
pub(crate) async fn list(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
) -> Result<Json<Items<EvaluationLine>>, Problem> {
    run_blocking(move || {
        let mut lines: Vec<EvaluationLine> =
            evaluations(&app).into_iter().filter_map(line).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.at));
        Ok(Json(Items::whole(lines)))
    })
    .await
}

/// `None` for a report that cannot be read.
fn line(evaluation: Evaluation) -> Option<EvaluationLine> {
    let report = read(&evaluation.folder).ok()?;
    let about = std::fs::metadata(evaluation.folder.join("report.json")).ok()?;
    let run = |run: halma_eval::Run| RunLine {
        strategy: run.strategy,
        label: run.label,
        values: json!(run.values),
    };
    Some(EvaluationLine {
        id: evaluation.id,
        dataset: report.dataset,
        n: report.n as u64,
        at: about.modified().ok().map(DateTime::from),
        runs: report.runs.into_iter().map(run).collect(),
    })
}

/// An evaluation's `report.json`.
#[utoipa::path(get, path = "/api/v1/evaluations/{id}", tag = "evaluations",
    params(("id" = String, Path)),
    responses((status = 200, body = Object, content_type = "application/json"),
        (status = 404, body = Problem)))]
pub(crate) async fn get(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
    Part(id): Part<String>,
) -> Result<Json<Report>, Problem> {
    run_blocking(move || read(&one(&app, &id)?).map(Json)).await
}

/// Delete an evaluation that was started over HTTP in this workspace, with its questions, answers and
/// traces; also one that was interrupted, by its name. Those in the folders of `serve.evaluations` are
/// not the server's to delete.
#[utoipa::path(delete, path = "/api/v1/evaluations/{id}", tag = "evaluations",
    params(("id" = String, Path, description = "An id, or the name that it was started with")),
    responses((status = 204), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn delete(
    State(app): State<Shared>,
    MayAdmin(caller): MayAdmin,
    Part(id): Part<String>,
) -> Result<StatusCode, Problem> {
    run_blocking(move || {
        let workspace = &caller.workspace;
        let root = workspace.evaluations();
        let named = is_evaluation_name(&id).then(|| root.join(&id)).filter(|named| named.is_dir());
        let folder = named.map_or_else(|| one(&app, &id), Ok)?;
        if folder.parent() != Some(&root) {
            let detail = "this evaluation was not started over HTTP in this workspace";
            return Err(Problem::new(StatusCode::CONFLICT, detail)
                .hint("delete its folder, or send the header `x-halma-workspace`"));
        }
        workspace.while_open(|| {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let runs = workspace.evaluation_runs.list()?;
            if runs.iter().any(|run| run.name == name && run.state == RunState::Running) {
                return Err(Problem::new(StatusCode::CONFLICT, "this evaluation is running")
                    .hint("wait for its end, or cancel it"));
            }
            remove(&folder).map_err(|e| Problem::io(&e))?;
            Ok(StatusCode::NO_CONTENT)
        })
    })
    .await
}

/// Removes a folder, its report last: one that is half removed is still listed and can be deleted.
fn remove(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(entry.path())?;
        } else if entry.file_name() != "report.json" {
            std::fs::remove_file(entry.path())?;
        }
    }
    std::fs::remove_dir_all(folder)
}

/// The report with what a viewer shows and does not compute itself: comparisons with the first
/// run, notes, the names of the causes of errors.
#[utoipa::path(get, path = "/api/v1/evaluations/{id}/view", tag = "evaluations",
    params(("id" = String, Path)),
    responses((status = 200, body = Object, content_type = "application/json"),
        (status = 404, body = Problem)))]
pub(crate) async fn view(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
    Part(id): Part<String>,
) -> Result<Json<Value>, Problem> {
    run_blocking(move || Ok(Json(json!(read(&one(&app, &id)?)?.view())))).await
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OneQuestion {
    /// The id of the question.
    question: String,
}

/// One question of an evaluation: its gold answers, and the answer and trace of each run.
#[utoipa::path(get, path = "/api/v1/evaluations/{id}/question", tag = "evaluations",
    params(("id" = String, Path), OneQuestion),
    responses((status = 200, body = Object, content_type = "application/json"),
        (status = 404, body = Problem)))]
pub(crate) async fn question(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
    Part(id): Part<String>,
    Params(OneQuestion { question }): Params<OneQuestion>,
) -> Result<Json<Value>, Problem> {
    run_blocking(move || {
        let folder = one(&app, &id)?;
        let detail = question_detail(&folder, &read(&folder)?, &question)
            .map_err(|error| Problem::unfit(error.to_string()))?;
        let detail = detail.ok_or_else(|| Problem::not_found(&format!("question `{question}`")))?;
        Ok(Json(json!(detail)))
    })
    .await
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Two {
    /// The label of one run.
    a: String,
    /// The label of another.
    b: String,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Compared {
    /// The comparison as `halma eval compare --json` prints it; `null` where the runs have no
    /// scored question in common.
    #[schema(value_type = Option<Object>)]
    comparison: Option<Comparison>,
    flips: Vec<Flip>,
}

/// A question that one of two runs answered rightly and the other did not.
#[derive(Serialize, ToSchema)]
pub(crate) struct Flip {
    question: String,
    kind: Option<String>,
    #[schema(value_type = String)]
    a: AnswerOutcome,
    #[schema(value_type = String)]
    b: AnswerOutcome,
}

/// Two runs of an evaluation, question by question.
#[utoipa::path(get, path = "/api/v1/evaluations/{id}/compare", tag = "evaluations",
    params(("id" = String, Path), Two),
    responses((status = 200, body = Compared), (status = 404, body = Problem)))]
pub(crate) async fn compare(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
    Part(id): Part<String>,
    Params(two): Params<Two>,
) -> Result<Json<Compared>, Problem> {
    run_blocking(move || {
        let report = read(&one(&app, &id)?)?;
        let side = |label: &str| {
            let side = Side::select(&report, Some(label));
            side.map_err(|_| Problem::not_found(&format!("run `{label}`")))
        };
        let (a, b) = (side(&two.a)?, side(&two.b)?);
        let comparison = halma_eval::compare(a, b, Resampling::default()).ok();
        Ok(Json(Compared { comparison, flips: flips(a, b) }))
    })
    .await
}

fn flips(a: Side<'_>, b: Side<'_>) -> Vec<Flip> {
    let flip = |flip: halma_eval::Flip| Flip {
        question: flip.question.id.clone(),
        kind: flip.question.kind.clone(),
        a: flip.a,
        b: flip.b,
    };
    halma_eval::flips(a, b).into_iter().map(flip).collect()
}

/// The viewer of an evaluation as one file, `report.html`.
#[utoipa::path(get, path = "/api/v1/evaluations/{id}/page", tag = "evaluations",
    params(("id" = String, Path)),
    responses((status = 200, description = "The viewer", content_type = "text/html"),
        (status = 404, body = Problem)))]
pub(crate) async fn page(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
    Part(id): Part<String>,
) -> Result<Response, Problem> {
    run_blocking(move || {
        let page = std::fs::read(one(&app, &id)?.join("report.html"));
        let page = page.map_err(|_| Problem::not_found("page of this evaluation"))?;
        let headers: [(HeaderName, HeaderValue); 2] = [
            (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
            (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        ];
        Ok((headers, page).into_response())
    })
    .await
}
