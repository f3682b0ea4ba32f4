//! Evaluations that lie in the folders of `serve.evaluations`, as `halma eval` wrote them. They
//! hold questions and answers of whatever was evaluated, so that an administrator reads them.
use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use crate::access::MayAdmin;
use crate::app::Shared;
use crate::blocking::run_blocking;
use crate::json::{Params, Part};
use crate::listing::Items;
use crate::problem::Problem;

/// Folders are looked into so deep.
const DEEPEST: usize = 4;

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
    /// Means over the questions, as `report.json` has them.
    metrics: Value,
    usage: Value,
    tokens: Value,
}

/// An evaluation's folder, by an id that no client makes up.
struct Found {
    id: String,
    folder: PathBuf,
}

fn found(app: &Shared) -> Vec<Found> {
    let mut folders = vec![];
    for root in &app.config.evaluations {
        look(root, DEEPEST, &mut folders);
    }
    folders.sort();
    folders.dedup();
    let id =
        |folder: &Path| blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex()[..16].into();
    folders.into_iter().map(|folder| Found { id: id(&folder), folder }).collect()
}

fn look(folder: &Path, deep: usize, folders: &mut Vec<PathBuf>) {
    if folder.join("report.json").is_file() {
        folders.push(folder.to_owned());
    }
    if deep == 0 {
        return;
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        look(&entry.path(), deep - 1, folders);
    }
}

fn one(app: &Shared, id: &str) -> Result<PathBuf, Problem> {
    let found = found(app).into_iter().find(|found| found.id == id);
    Ok(found.ok_or_else(|| Problem::not_found("such evaluation"))?.folder)
}

fn report(folder: &Path) -> Result<Value, Problem> {
    let text = std::fs::read(folder.join("report.json")).map_err(|e| Problem::internal(&e))?;
    serde_json::from_slice(&text).map_err(|e| {
        Problem::unfit(format!("its report.json cannot be read: {e}"))
            .hint("run `halma eval` again with the same --out")
    })
}

/// Evaluations, newest first.
#[utoipa::path(get, path = "/api/v1/evaluations", tag = "evaluations",
    responses((status = 200, body = Items<EvaluationLine>), (status = 403, body = Problem)))]
pub(crate) async fn list(
    State(app): State<Shared>,
    MayAdmin(_caller): MayAdmin,
) -> Result<Json<Items<EvaluationLine>>, Problem> {
    run_blocking(move || {
        let mut lines: Vec<EvaluationLine> = found(&app).into_iter().filter_map(line).collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.at));
        Ok(Json(Items::whole(lines)))
    })
    .await
}

/// `None` for a report that cannot be read.
fn line(found: Found) -> Option<EvaluationLine> {
    let report = report(&found.folder).ok()?;
    let about = std::fs::metadata(found.folder.join("report.json")).ok()?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let run = |run: &Value| RunLine {
        strategy: text(&run["strategy"]),
        label: text(&run["label"]),
        metrics: run["metrics"].clone(),
        usage: run["usage"].clone(),
        tokens: run["tokens"].clone(),
    };
    Some(EvaluationLine {
        id: found.id,
        dataset: text(&report["dataset"]),
        n: report["n"].as_u64().unwrap_or_default(),
        at: about.modified().ok().map(DateTime::from),
        runs: report["runs"].as_array()?.iter().map(run).collect(),
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
) -> Result<Json<Value>, Problem> {
    run_blocking(move || report(&one(&app, &id)?).map(Json)).await
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
    flips: Vec<Flip>,
}

/// A question that one of two runs got right and the other did not.
#[derive(Serialize, ToSchema)]
pub(crate) struct Flip {
    question: String,
    kind: Option<String>,
    /// `right`, `wrong`, `abstained`, `failed` or `unasked`.
    a: String,
    b: String,
    /// What the two answered, as far as it is kept.
    answers: Vec<Value>,
}

/// Questions that came out differently in two runs of an evaluation.
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
        let report = report(&one(&app, &id)?)?;
        let run = |label: &str| {
            let mut runs = report["runs"].as_array().into_iter().flatten();
            runs.find(|run| run["label"] == label)
                .ok_or_else(|| Problem::not_found(&format!("run `{label}`")))
        };
        Ok(Json(Compared { flips: flips(&report, run(&two.a)?, run(&two.b)?) }))
    })
    .await
}

fn flips(report: &Value, a: &Value, b: &Value) -> Vec<Flip> {
    let questions = report["questions"].as_array().into_iter().flatten();
    let fate = |run: &Value, at: usize| {
        run["results"][at]["fate"].as_str().unwrap_or("unasked").to_owned()
    };
    let flip = |(at, question): (usize, &Value)| {
        let (in_a, in_b) = (fate(a, at), fate(b, at));
        ((in_a == "right") != (in_b == "right")).then(|| Flip {
            question: question["id"].as_str().unwrap_or_default().to_owned(),
            kind: question["kind"].as_str().map(str::to_owned),
            a: in_a,
            b: in_b,
            answers: [a, b].iter().map(|run| json!(run["results"][at]["answer"])).collect(),
        })
    };
    questions.enumerate().filter_map(flip).collect()
}

/// An evaluation's page, `report.html`.
#[utoipa::path(get, path = "/api/v1/evaluations/{id}/page", tag = "evaluations",
    params(("id" = String, Path)),
    responses((status = 200, description = "The page", content_type = "text/html"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_questions_that_came_out_differently_are_told() {
        let results =
            |fates: [&str; 3]| json!({"results": fates.map(|fate| json!({"fate": fate}))});
        let report =
            json!({"questions": [{"id": "q1"}, {"id": "q2", "kind": "bridge"}, {"id": "q3"}]});
        let (a, b) = (results(["right", "right", "wrong"]), results(["right", "wrong", "failed"]));
        let flips = flips(&report, &a, &b);
        assert_eq!(flips.len(), 1);
        assert_eq!((flips[0].question.as_str(), flips[0].b.as_str()), ("q2", "wrong"));
    }
}
