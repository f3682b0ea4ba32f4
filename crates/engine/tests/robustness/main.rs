//! Every strategy against every kind of bad reply, on questions over the sample library: a run
//! ends with an answer or an abstention, and no draft and no "Unknown" becomes an answer or a
//! part of a query. `make robustness` writes the whole table into `docs/robustness.md` and what
//! a question costs into `docs/reference/calls-and-tokens.md`.
#![expect(clippy::unwrap_used, reason = "tests may stop")]
mod actor;
mod cost;
mod real;
mod run;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use halma_core::Llm;
use halma_net::JsonMode;
use halma_strategies::ALL;
use halma_testkit::{Mischief, Remedy};

use self::real::{RealReply, Replayed, WithReal, read_trace, with_section};
use self::run::{Bench, End};
use self::table::Table;

/// Questions for each strategy and kind in the fast test; which ones differs from cell to cell.
const FEW: usize = 1;

#[tokio::test]
async fn no_bad_reply_ends_a_question_or_becomes_an_answer() {
    let bench = Bench::open().await;
    let mut faults = vec![];
    for (row, kind) in Mischief::ALL.iter().copied().enumerate() {
        for (column, entry) in ALL.iter().enumerate() {
            for i in 0..FEW {
                let question = &bench.questions[(row + column + i) % bench.questions.len()];
                match bench.run(entry, Some(kind), question).await {
                    End { error: Some(_), .. } if may_fail(kind, entry.name) => {}
                    End { error: Some(error), .. } => {
                        faults.push(format!("{kind:?} × {}: {error}", entry.name));
                    }
                    End { leak: Some(leak), .. } => {
                        faults.push(format!("{kind:?} × {}: {leak}", entry.name));
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Where nothing at all could be done: the method rests on what the model does not give.
fn may_fail(kind: Mischief, strategy: &str) -> bool {
    kind == Mischief::NoLogprobs && strategy == "prob_tree"
}

#[tokio::test]
#[ignore = "takes minutes and writes docs/robustness.md: make robustness"]
async fn the_table_is_written() {
    let bench = Bench::open().await;
    let mut table = Table::default();
    for kind in std::iter::once(None).chain(Mischief::ALL.iter().copied().map(Some)) {
        for entry in ALL {
            for question in &bench.questions {
                let end = bench.run(entry, kind, question).await;
                table.add(kind, entry.name, &end);
            }
        }
        if kind.is_none() {
            fs::write(docs("reference/calls-and-tokens.md"), table.cost_page()).unwrap();
        }
    }
    fs::write(docs("robustness.md"), table.page()).unwrap();
    let answered = table.answered_share(|kind| kind.remedy() == Remedy::Reading);
    assert!(answered >= 0.95, "{answered}");
}

#[tokio::test]
async fn recorded_replies_of_small_models_end_no_question_and_become_no_answer() {
    let bench = Bench::open().await;
    let replayed = Arc::new(Replayed::new(Arc::clone(&bench.actor), &recorded()));
    let mut faults = vec![];
    for (column, entry) in ALL.iter().enumerate() {
        for i in 0..3 {
            let question = &bench.questions[(3 * column + i) % bench.questions.len()];
            let model = Arc::clone(&replayed) as Arc<dyn Llm>;
            let (End { answer, error, leak, .. }, _) = bench.run_with(entry, model, question).await;
            let copied = ["Reply with one", "one short sentence", "<string>"];
            let copied = copied.iter().find(|text| answer.contains(*text));
            // A report of ideas has a line `Unknown`.
            let leak = leak.filter(|_| entry.name != "pike_l4");
            if error.is_some() || leak.is_some() || copied.is_some() {
                faults.push(format!("{}: {error:?} {leak:?} {copied:?}", entry.name));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test]
#[ignore = "asks a model for an hour and writes docs/real-models.md: make real-model"]
async fn a_real_model_is_asked() {
    let get = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let (url, name) = (get("HALMA_MODEL").unwrap(), get("HALMA_MODEL_NAME").unwrap());
    let calls = get("HALMA_CALLS").and_then(|calls| calls.parse().ok()).unwrap_or(3);
    let bench = Bench::open().await;
    let (mut formats, mut replies) = (vec![], recorded());
    replies.retain(|one| one.model != name);
    for (format, json) in [("with a schema", JsonMode::Auto), ("without", JsonMode::Off)] {
        let actor = Arc::clone(&bench.actor);
        let model = Arc::new(WithReal::new(actor, (&url, &name), json, calls));
        formats.push((format, BTreeMap::new()));
        for (question, answers) in bench.questions.iter().zip(&bench.answers) {
            for entry in ALL {
                let model = Arc::clone(&model) as Arc<dyn Llm>;
                let (_, trace) = bench.run_with(entry, model, question).await;
                let (_, readings) = formats.last_mut().unwrap();
                read_trace(&trace, answers, readings);
            }
            // An hour of replies is written as it goes.
            replies.append(&mut model.replies.lock());
            let lines = replies.iter().map(|one| serde_json::to_string(one).unwrap() + "\n");
            fs::write(replies_file(), lines.collect::<String>()).unwrap();
            let page = fs::read_to_string(docs("real-models.md")).unwrap();
            fs::write(docs("real-models.md"), with_section(&page, &name, &formats)).unwrap();
        }
    }
}

/// Replies of real models, recorded by `make real-model`.
fn recorded() -> Vec<RealReply> {
    let lines = fs::read_to_string(replies_file()).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn replies_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/robustness/replies.jsonl")
}

fn docs(page: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page)
}
