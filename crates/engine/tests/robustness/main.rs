//! Every strategy against every kind of bad reply, on questions over the sample library: a run
//! ends with an answer or an abstention, and no draft and no "Unknown" becomes an answer or a
//! part of a query. `make robustness` writes the whole table into `docs/robustness.md`.
#![expect(clippy::unwrap_used, reason = "tests may stop")]
mod actor;
mod run;
mod table;

use std::fs;

use halma_strategies::ALL;
use halma_testkit::{Mischief, Remedy};

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

/// Where nothing at all could be done: the only prompt is never answered, or the method rests on
/// what the model does not give.
fn may_fail(kind: Mischief, strategy: &str) -> bool {
    kind == Mischief::DeafPrompt || (kind == Mischief::NoLogprobs && strategy == "prob_tree")
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
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/robustness.md");
    fs::write(page, table.page()).unwrap();
    let answered = table.answered_share(|kind| kind.remedy() == Remedy::Reading);
    assert!(answered >= 0.95, "{answered}");
}
