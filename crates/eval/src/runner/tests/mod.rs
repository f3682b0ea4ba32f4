//! Runs of the whole harness against a toy base and a scripted model.
mod assessing;
mod budget;
mod outage;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use halma_core::{
    Answer, Budget, Citation, Cx, Knowledge, Layer, Llm, LlmError, Meter, Mode, Models, Prompt,
    PromptFile, PromptSet, Prompts, Query, Question, Setup, Strategy,
};
use halma_testkit::{Script, Toy};
use parking_lot::Mutex;

use super::*;
use crate::jobs::Tick;
use crate::{EvalError, Format, OpenCx, Retrieve, fingerprint, load};

const ASK: Prompt<String> = Prompt::text("test/ask");
const PROMPTS: PromptSet = PromptSet::Files(&[PromptFile {
    name: "test/ask",
    text: include_str!("../../../tests/fixtures/ask.md"),
}]);

/// Cites the two chunks nearest to the question and answers what the model says; `none` abstains,
/// `panic` panics.
struct Clerk;

#[async_trait]
impl Strategy for Clerk {
    fn name(&self) -> &'static str {
        "clerk"
    }

    fn settings(&self) -> serde_json::Value {
        serde_json::json!({"chunks": 2})
    }

    async fn answer(&self, question: &Question, cx: &Cx) -> halma_core::Result<Answer> {
        let hits = cx.search(&query(&question.text, 2)).await?.remove(0);
        let text = cx.ask(&ASK, minijinja::context! { question => &question.text }).await?;
        assert_ne!(text, "panic", "the clerk gives up");
        let citations = hits.iter().map(Citation::from).collect();
        let abstained = text == "none";
        let text = if abstained { String::new() } else { text };
        Ok(Answer { text, citations, abstained, ..Answer::default() })
    }
}

fn query(text: &str, limit: usize) -> Query {
    Query::new(vec![text.to_owned()], Layer::Chunk, Mode::Hybrid, limit)
}

fn toy() -> Arc<Toy> {
    Toy::new(&[
        ("decoy", "Decoy", "A town with a harbour and a painter.", &[]),
        ("fresco", "Harbour Fresco", "The Harbour Fresco is a mural by Mara Venn.", &[]),
        ("venn", "Mara Venn", "Mara Venn is a painter. She was born in Oldbridge.", &[]),
        ("lenn", "Lenn", "The Lenn is a river.", &[]),
        ("tarr", "Tarr", "The Tarr is a river of the north.", &[]),
    ])
}

pub(crate) fn bench(model: Arc<dyn Llm>) -> Bench {
    let prompts = Arc::new(Prompts::shipped(&[PROMPTS, crate::judge::JUDGE_PROMPTS]).unwrap());
    let setup = Arc::new(Setup::new(Models::new(model), toy(), prompts));
    let open: OpenCx = Arc::new(move |_, whole| {
        let meter = Meter::within(Budget::default(), Arc::clone(whole));
        Cx::new(Arc::clone(&setup), Arc::new(meter), None)
    });
    let retrieve: Retrieve = Arc::new(|text| {
        Box::pin(async move { Ok(toy().search(&query(&text, 10)).await?.remove(0)) })
    });
    let fingerprint = "base".to_owned();
    Bench { open, retrieve, fingerprint, has_embedder: true, judge: None, assessors: vec![] }
}

pub(super) fn data() -> DataSet {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hotpotqa.json");
    load(&path, Format::HOTPOTQA, None).unwrap()
}

pub(super) fn clerk(settings: &str) -> SystemUnderTest {
    SystemUnderTest {
        strategy: Arc::new(Clerk),
        label: "clerk".into(),
        fingerprint: fingerprint([settings]),
        point: BTreeMap::new(),
    }
}

pub(super) fn runner(out: Option<&Path>) -> Runner {
    Runner { concurrency: 1, out: out.map(Path::to_owned), ..Runner::default() }
}

pub(super) fn says<const N: usize>(replies: [&str; N]) -> Arc<Script> {
    Script::new(replies.map(|reply| ("test/ask", reply)))
}

/// Runs the clerk with a script, which must be used up.
async fn run(out: Option<&Path>, settings: &str, script: Arc<Script>) -> Report {
    let bench = bench(Arc::clone(&script) as Arc<dyn Llm>);
    let quiet: Progress = Arc::new(|_| {});
    let report = runner(out).run(&data(), &[clerk(settings)], &bench, &quiet).await.unwrap();
    assert_eq!(script.left(), 0, "the script was not used up");
    report
}

#[tokio::test]
async fn a_run_scores_answers_and_counts_abstentions() {
    let report = run(None, "", says(["Oldbridge town", "Yes, both", "none"])).await;
    let run = &report.runs[0];
    // `Yes, both` is not `yes`, and the abstention scores 0 too.
    assert_eq!((run.values.get("em"), run.abstained, run.failed), (Some(0.0), 1, 0));
    let third = |value: f64| Some(value / 3.0);
    assert_eq!(run.values.get("f1"), third(2.0 / 3.0));
    assert_eq!(run.values.get("precision"), third(0.5));
    assert_eq!(run.values.get("recall"), third(1.0));
    assert_eq!((run.usage.llm_calls, run.usage.prompt_tokens), (3, 30));
    assert_eq!(run.by_kind["bridge"].n, 2);
    assert_eq!(run.values.get("hops"), Some(1.0));
    assert_eq!(run.prompts.keys().collect::<Vec<_>>(), ["test/ask"]);
    assert!(run.values.get("p50") <= run.values.get("p95"));
}

/// Without an embedder there is no threshold to lower.
#[tokio::test]
async fn searches_that_found_nothing_near_are_counted_only_with_an_embedder() {
    let quiet: Progress = Arc::new(|_| {});
    for has_embedder in [true, false] {
        let bench = Bench { has_embedder, ..bench(says(["x", "x", "x"])) };
        let report = runner(None).run(&data(), &[clerk("")], &bench, &quiet).await.unwrap();
        assert_eq!(report.runs[0].nothing_near.is_some(), has_embedder);
    }
}

#[tokio::test]
async fn retrieval_and_support_count_gold_passages() {
    let report = run(None, "", says(["x", "x", "x"])).await;
    // h1: the fresco is second and its painter third; h2: both rivers are first; h3: nothing of
    // it is in the base.
    let run = &report.runs[0];
    assert_eq!(run.retrieval.r2, run.values.get("support"));
    assert_eq!(run.values.get("support"), Some((0.5 + 1.0 + 0.0) / 3.0));
    assert_eq!(run.retrieval.r5, Some((1.0 + 1.0 + 0.0) / 3.0));
    assert_eq!(run.retrieval.r10, run.retrieval.r5);
}

#[tokio::test]
async fn a_second_run_asks_nothing_again() {
    let out = tempfile::tempdir().unwrap();
    let first = run(Some(out.path()), "", says(["Oldbridge", "yes", "none"])).await;
    let second = run(Some(out.path()), "", says([])).await;
    assert_eq!((first.runs[0].taken_over, second.runs[0].taken_over), (0, 3));
    let mut second = serde_json::to_value(&second).unwrap();
    second["runs"][0]["taken_over"] = 0.into();
    assert_eq!(serde_json::to_value(&first).unwrap(), second);
    // Other settings are other answers; both stay in the file.
    let other = run(Some(out.path()), "other", says(["a", "b", "c"])).await;
    assert_eq!(other.runs[0].taken_over, 0);
    assert_eq!(run(Some(out.path()), "", says([])).await.runs[0].values.get("em"), Some(2.0 / 3.0));
}

#[tokio::test]
async fn a_killed_run_resumes_where_it_was() {
    let out = tempfile::tempdir().unwrap();
    run(Some(out.path()), "", says(["Oldbridge", "yes", "monks"])).await;
    for name in ["clerk.jsonl", "retrieval.jsonl"] {
        let file = out.path().join(name);
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, &text[..text.len() - 9]).unwrap();
    }
    let report = run(Some(out.path()), "", says(["the monks of Saint Bryn"])).await;
    assert_eq!((report.runs[0].taken_over, report.runs[0].values.get("em")), (2, Some(1.0)));
    let lines = std::fs::read_to_string(out.path().join("clerk.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 3);
}

#[tokio::test]
async fn a_failed_question_is_counted_apart_and_tried_again() {
    let out = tempfile::tempdir().unwrap();
    let down = LlmError::refused("the server is down");
    let script = Script::with_failures(vec![
        ("test/ask", Ok("Oldbridge")),
        ("test/ask", Err(down)),
        ("test/ask", Ok("panic")),
    ]);
    let report = run(Some(out.path()), "", script).await;
    let failed = &report.runs[0];
    assert_eq!((failed.failed, failed.values.get("em")), (2, Some(1.0)));
    assert_eq!((failed.failed_by_kind["llm"], failed.failed_by_kind["panic"]), (1, 1));
    assert!(failed.failures[0].reason.contains("the server is down"));
    assert!(failed.failures[1].reason.contains("the clerk gives up"));
    let table = report.table(false);
    assert!(table.contains("clerk: 2 questions failed (llm 1, panic 1)"), "{table}");
    let report = run(Some(out.path()), "", says(["yes", "monks"])).await;
    assert_eq!((report.runs[0].taken_over, report.runs[0].failed), (1, 0));
}

#[tokio::test]
async fn every_asked_question_has_its_trace() {
    let out = tempfile::tempdir().unwrap();
    run(Some(out.path()), "", says(["Oldbridge", "yes", "panic"])).await;
    let file = out.path().join("traces/clerk/h3.json");
    let trace: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let events: Vec<_> = trace["trace"].as_array().unwrap().iter().map(|e| &e["event"]).collect();
    assert_eq!(events, ["searched", "model_called"]);
    assert_eq!(std::fs::read_dir(out.path().join("traces/clerk")).unwrap().count(), 3);
}

/// Answers from the question's id after as many turns of the scheduler as its place demands, so
/// that the last one is done first.
pub(crate) struct Echo;

#[async_trait]
impl Strategy for Echo {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn settings(&self) -> serde_json::Value {
        serde_json::json!({})
    }

    async fn answer(&self, question: &Question, _: &Cx) -> halma_core::Result<Answer> {
        for _ in 0..20 * (b'9' - question.id.as_bytes()[1]) {
            tokio::task::yield_now().await;
        }
        Ok(Answer { text: question.id.clone(), ..Answer::default() })
    }
}

#[tokio::test]
async fn side_by_side_the_report_keeps_its_order_and_progress_is_reported() {
    let out = tempfile::tempdir().unwrap();
    let one = |label: &str| SystemUnderTest {
        strategy: Arc::new(Echo),
        label: label.into(),
        fingerprint: String::new(),
        point: BTreeMap::new(),
    };
    let ticks: Arc<Mutex<Vec<Tick>>> = Arc::default();
    let received = Arc::clone(&ticks);
    let progress: Progress = Arc::new(move |tick| received.lock().push(tick.clone()));
    let runner = Runner { concurrency: 8, ..runner(Some(out.path())) };
    let systems = [one("b"), one("a")];
    let bench = bench(says([]));
    let report = runner.run(&data(), &systems, &bench, &progress).await.unwrap();
    let labels: Vec<&str> = report.runs.iter().map(|run| run.label.as_str()).collect();
    assert_eq!(labels, ["b", "a"]);
    let lines = std::fs::read_to_string(out.path().join("b.jsonl")).unwrap();
    assert!(lines.lines().next().unwrap().contains("\"question\":\"h3\""), "{lines}");
    let ticks = ticks.lock().clone();
    let reported: Vec<(&str, usize)> = ticks.iter().map(|t| (t.label.as_str(), t.done)).collect();
    let of = |label| (0..=3).map(move |done| (label, done));
    assert_eq!(reported, of("retrieval").chain(of("b")).chain(of("a")).collect::<Vec<_>>());
    let twins = [one("a"), one("a")];
    let error = runner.run(&data(), &twins, &bench, &progress).await.unwrap_err();
    assert!(matches!(error, EvalError::SameLabel { .. }));
}

#[tokio::test]
async fn a_failed_search_is_counted_and_not_stored() {
    let out = tempfile::tempdir().unwrap();
    let mut bench = bench(says([]));
    bench.retrieve = Arc::new(|text| {
        Box::pin(async move {
            if text.contains("rivers") {
                return Err("the index is closed".into());
            }
            Ok(toy().search(&query(&text, 10)).await?.remove(0))
        })
    });
    let echo = SystemUnderTest {
        strategy: Arc::new(Echo),
        label: "e".into(),
        fingerprint: String::new(),
        point: BTreeMap::new(),
    };
    let quiet: Progress = Arc::new(|_| {});
    let report = runner(Some(out.path())).run(&data(), &[echo], &bench, &quiet).await.unwrap();
    assert_eq!(report.runs[0].retrieval_failed, 1);
    assert_eq!(report.runs[0].retrieval.r10, Some(0.5));
    let lines = std::fs::read_to_string(out.path().join("retrieval.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 2);
}

#[tokio::test]
async fn the_report_has_the_keys_of_the_contract() {
    let report = run(None, "", says(["Oldbridge", "yes", "none"])).await;
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!((&json["dataset"], &json["n"]), (&"hotpotqa".into(), &3.into()));
    let run = &json["runs"][0];
    assert_eq!(run["strategy"], "clerk");
    assert_eq!(run["settings"]["chunks"], 2);
    for key in ["right", "em", "f1", "precision", "recall", "support", "r2", "r5", "r10"] {
        let value = run["values"][key].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&value), "{key}: {value}");
    }
    let columns = json["columns"].as_array().unwrap();
    let head = columns.iter().find(|column| column["key"] == "em").unwrap();
    assert_eq!((&head["title"], &head["format"]), (&"EM".into(), &"percent".into()));
    for key in ["llm_calls", "cached_calls", "prompt_tokens", "completion_tokens", "usd"] {
        assert!(run["usage"][key].is_number(), "{key}");
    }
    assert!(run["values"]["p50"].is_f64() && run["values"]["p95"].is_f64());
    assert_eq!((&run["abstained"], &run["failed"]), (&1.into(), &0.into()));
}

#[tokio::test]
async fn the_table_is_aligned() {
    let mut report = run(None, "", says(["Oldbridge", "yes", "none"])).await;
    report.runs[0].values.set("p50", Some(1.25));
    report.runs[0].values.set("p95", Some(310.4));
    let mut second = report.runs[0].clone();
    second.label = "clerk-slow".into();
    second.taken_over = 3;
    report.runs.push(second);
    insta::assert_snapshot!(report.table(true));
}
