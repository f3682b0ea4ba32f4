//! Evaluations that are started over HTTP: questions with known answers, asked of a workspace's base
//! by some strategies. One at a time runs in a workspace.
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use chrono::Utc;
use halma_core::Meter;
use halma_engine::Engine;
use halma_eval::{DataSet, Format, Origin, Progress, Runner, Source, SystemUnderTest, Tick, load};
use serde::Deserialize;
use tempfile::TempDir;
use utoipa::ToSchema;

use crate::access::{Caller, MayAdmin};
use crate::app::{Shared, Stop};
use crate::evaluation_runs::{
    EvaluationRun, EvaluationRuns, RunState, evaluation_id, is_evaluation_name,
};
use crate::json::{JsonBody, Part};
use crate::limits::blocking::run_blocking;
use crate::pagination::Items;
use crate::problem::Problem;
use crate::usage::UsageCounter;

/// Questions that are asked concurrently.
const CONCURRENCY: usize = 4;

/// Questions with their answers and the strategies that are compared.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewEvaluation {
    /// Letters, digits, `-` and `_`.
    name: String,
    /// One JSON object per line: `{"question": "…", "answers": ["…"]}`.
    questions: String,
    strategies: Vec<String>,
}

/// List the evaluations that were started over HTTP, newest first, with their progress.
#[utoipa::path(get, path = "/api/v1/evaluation-runs", tag = "evaluations",
    responses((status = 200, body = Items<EvaluationRun>), (status = 403, body = Problem)))]
pub(crate) async fn list(
    MayAdmin(caller): MayAdmin,
) -> Result<Json<Items<EvaluationRun>>, Problem> {
    let runs = Arc::clone(&caller.workspace.evaluation_runs);
    run_blocking(move || Ok(Json(Items::whole(runs.list()?)))).await
}

/// Start an evaluation: ask the strategies these questions over the documents of the workspace,
/// within `budget.eval`. Its report is listed with the others. With the same name and questions as
/// before, only what is missing is asked.
#[utoipa::path(post, path = "/api/v1/evaluation-runs", tag = "evaluations",
    request_body = NewEvaluation,
    responses((status = 200, body = EvaluationRun), (status = 409, body = Problem),
        (status = 422, body = Problem)))]
pub(crate) async fn start(
    State(app): State<Shared>,
    MayAdmin(caller): MayAdmin,
    JsonBody(new): JsonBody<NewEvaluation>,
) -> Result<Json<EvaluationRun>, Problem> {
    let engine = caller.workspace.engine();
    let evaluation = {
        let (caller, engine) = (caller.clone(), Arc::clone(&engine));
        let parent = app.allowance.admit(caller.key.as_deref()).await?;
        run_blocking(move || Evaluation::prepare(&caller, engine, &new, parent)).await?
    };
    let started = Utc::now();
    let run = EvaluationRun {
        id: format!("{}-{}", evaluation_id(&evaluation.folder), started.timestamp_millis()),
        name: evaluation.data.name.clone(),
        state: RunState::Running,
        label: String::new(),
        done: 0,
        total: evaluation.data.items.len(),
        failed: 0,
        error: None,
        started,
    };
    let runs = Arc::clone(&caller.workspace.evaluation_runs);
    let stop = {
        let (runs, run, workspace) =
            (Arc::clone(&runs), run.clone(), Arc::clone(&caller.workspace));
        run_blocking(move || workspace.while_open(|| runs.add(&run))).await?
    };
    let id = run.id.clone();
    tokio::spawn(Arc::clone(&runs).follow(id.clone()));
    tokio::spawn(async move {
        let under = (caller.key_id().unwrap_or_default(), "evaluation");
        let budget = Arc::clone(&evaluation.budget);
        let mut counter = UsageCounter::new(&caller.workspace, under, budget)
            .in_metrics(&app.metrics.evaluation_usage);
        let work = async {
            tokio::select! {
                outcome = evaluation.run(&runs, &id) => outcome,
                () = stop.notified() => Ok(()),
                problem = caller.ended(&app) => Err(problem.detail),
                () = app.stopping(Stop::Soon) => Err("the server was stopped".to_owned()),
            }
        };
        let outcome = counter.during(work).await;
        // It holds the meter, as calls do that are still under way.
        drop(evaluation);
        counter.finish(None);
        runs.end(&id, outcome).await;
    });
    Ok(Json(run))
}

/// Cancel a running evaluation. What was answered is stored and used when it is started again.
#[utoipa::path(post, path = "/api/v1/evaluation-runs/{id}/cancel", tag = "evaluations",
    params(("id" = String, Path)),
    responses((status = 200, body = EvaluationRun), (status = 404, body = Problem)))]
pub(crate) async fn cancel(
    MayAdmin(caller): MayAdmin,
    Part(id): Part<String>,
) -> Result<Json<EvaluationRun>, Problem> {
    let runs = Arc::clone(&caller.workspace.evaluation_runs);
    run_blocking(move || runs.cancel(&id).map(Json)).await
}

/// What an evaluation is run with.
struct Evaluation {
    engine: Arc<Engine>,
    data: DataSet,
    systems: Vec<SystemUnderTest>,
    folder: PathBuf,
    budget: Arc<Meter>,
    /// Where the questions are until the evaluation begins.
    checked: TempDir,
}

impl Evaluation {
    fn prepare(
        caller: &Caller,
        engine: Arc<Engine>,
        new: &NewEvaluation,
        parent: Option<Arc<Meter>>,
    ) -> Result<Self, Problem> {
        let systems = systems(&engine, &new.strategies)?;
        if !is_evaluation_name(&new.name) {
            return Err(Problem::unfit("the name is not valid")
                .hint("use at most 64 letters, digits, `-` and `_`"));
        }
        let folder = caller.workspace.evaluations().join(&new.name);
        let failed = |e: std::io::Error| Problem::io(&e);
        // An earlier evaluation of this name keeps its questions until this one begins.
        let temporary = &caller.workspace.uploads;
        std::fs::create_dir_all(temporary).map_err(failed)?;
        let checked = tempfile::tempdir_in(temporary).map_err(failed)?;
        let file = checked.path().join(questions_of(&new.name));
        std::fs::write(&file, &new.questions).map_err(failed)?;
        let data = load(&file, Format::USER, None).map_err(|e| {
            let detail = e.to_string().replace(&file.display().to_string(), "`questions`");
            Problem::unfit(detail)
        })?;
        if let Some(refused) = data.refused.first() {
            let detail = format!("line {} cannot be used: {}", refused.line, refused.reason);
            return Err(Problem::unfit(detail)
                .hint("each line is one JSON object with `question` and `answers`"));
        }
        let limits = engine.config().budget.eval;
        let budget = Arc::new(match parent {
            Some(parent) => Meter::within(limits, parent),
            None => Meter::new(limits),
        });
        Ok(Self { engine, data, systems, folder, budget, checked })
    }

    /// Asks and writes the report; the error says what went wrong.
    async fn run(&self, runs: &Arc<EvaluationRuns>, id: &str) -> Result<(), String> {
        let file = self.place_questions().map_err(|e| Problem::internal(&e).detail)?;
        let source = Source::read(&file).map_err(|e| e.to_string())?;
        let runner = Runner {
            concurrency: CONCURRENCY,
            out: Some(self.folder.clone()),
            budget: Arc::clone(&self.budget),
            origin: Origin { source: Some(source), ..Origin::default() },
        };
        let progress: Progress = {
            let (runs, id) = (Arc::clone(runs), id.to_owned());
            Arc::new(move |tick: &Tick| {
                runs.update(&id, |run| {
                    run.label.clone_from(&tick.label);
                    (run.done, run.total, run.failed) = (tick.done, tick.total, tick.failed);
                });
            })
        };
        let searched = &self.data.format.entry().searched;
        let bench = self.engine.bench(searched).map_err(|e| e.to_string())?;
        let report = runner.run(&self.data, &self.systems, &bench, &progress).await;
        report.and_then(|report| report.save(&self.folder)).map(drop).map_err(|e| e.to_string())
    }

    /// Moves the questions into the folder of the evaluation, in place of those of an earlier one.
    fn place_questions(&self) -> std::io::Result<PathBuf> {
        let name = questions_of(&self.data.name);
        let file = self.folder.join(&name);
        std::fs::create_dir_all(&self.folder)?;
        std::fs::rename(self.checked.path().join(&name), &file)?;
        Ok(file)
    }
}

/// The file with the questions of an evaluation.
fn questions_of(name: &str) -> String {
    format!("{name}.jsonl")
}

/// The strategies as configured; each is built before anything is asked.
fn systems(engine: &Engine, names: &[String]) -> Result<Vec<SystemUnderTest>, Problem> {
    let mut systems: Vec<SystemUnderTest> = vec![];
    for name in names {
        if systems.iter().any(|system| system.label == *name) {
            continue;
        }
        systems.push(engine.system_under_test(name, name.clone(), BTreeMap::new())?);
    }
    if systems.is_empty() {
        return Err(Problem::unfit("`strategies` is empty")
            .hint("GET /api/v1/strategies lists all strategies"));
    }
    Ok(systems)
}
