//! What `halma eval` checks before it builds a base or asks a question: names, settings, search modes
//! and the folder of the report; and the estimate of a base that is not built yet.
use halma_testkit::double::{Behaviour, Double};
use serde_json::Value;

use crate::evaluation::fixture;
use crate::program::Program;

/// Of a file that brings its passages the base is built by the evaluation, with many calls.
#[test]
fn no_base_is_built_for_a_typing_error_or_an_estimate() {
    let double = Double::start(Behaviour::default());
    let program = Program::with_model(&double.url());
    let two = fixture("2wiki.json");
    let eval = |more: &[&str]| {
        program.run(&[&["eval", &two, "--limit", "1", "--out", "out"], more].concat())
    };
    eval(&["--strategy", "kra3"]).fails(2, &["kra3", "use one of"]);
    eval(&["--grid", "n=3..1"]).fails(2, &["upwards"]);
    eval(&["--grid", "depth=1..3"]).fails(2, &["`depth`"]);
    eval(&["--grid", "kar3.n=many"]).fails(2, &["kar3"]);
    eval(&["--strategy", "naive", "--set", "naive.chnks=3"]).fails(2, &["chnks"]);
    for probe in ["0", "2"] {
        let shown = eval(&["--strategy", "naive", "--estimate", "--probe", probe]);
        shown.succeeds();
        for words in ["calls", "Nothing was done", "unknown until the base is built", "--limit"] {
            assert!(shown.out.contains(words), "{words}: {}", shown.out);
        }
    }
    let estimate = eval(&["--estimate", "--json"]).json();
    assert!(estimate["base"]["calls"].as_u64() > Some(0), "{estimate}");
    assert_eq!(estimate["questions"], Value::Null);
    assert!(!program.path("out").exists());
    let chats = double.requests().into_iter().filter(|r| r.body["messages"].is_array()).count();
    assert_eq!(chats, 0, "no model was asked");
}

/// Figures of words must not be taken for those of vectors.
#[test]
fn searches_with_vectors_are_refused_without_an_embedder() {
    let program = Program::new();
    let two = fixture("2wiki.json");
    let eval = |more: &[&str]| program.run(&[&["eval", &two, "--out", "out"], more].concat());
    eval(&["--retrieval", "bm25,dense"]).fails(2, &["--retrieval", "`dense`", "no embedder"]);
    let ended = eval(&["--retrieval", "bm25", "--strategy", "kar3"]);
    ended.fails(2, &["--retrieval", "cannot be used with", "--strategy"]);
    let grid = ["--strategy", "kar3", "--grid", "mode=graph|dense"];
    eval(&grid).fails(2, &["--grid", "`dense`", "halma doctor --fetch"]);
    let hybrid = eval(&["--retrieval", "hybrid,graph"]);
    hybrid.succeeds();
    for mode in ["`hybrid` searches keywords only", "`graph` searches keywords"] {
        assert!(hybrid.err.contains(mode), "{mode}: {}", hybrid.err);
    }
    let ended = eval(&["--strategy", "self_ask", "--limit", "1"]);
    assert!(ended.code == 0 && ended.err.contains("in self_ask"), "{}", ended.err);
    // A row that does not search is run.
    let table = program.run(&["eval", "preset", "run", "kar3-table1", &two, "--limit", "1"]);
    let left_out = "Naive RAG is left out: mode: `dense`: it compares vectors";
    assert!(table.code == 0 && table.err.contains(left_out), "{}", table.err);
}

#[test]
fn the_report_of_another_data_set_is_not_replaced() {
    let program = Program::new();
    let (two, hotpot) = (fixture("2wiki.json"), fixture("hotpotqa.json"));
    let on = |file: &str, strategy: &str| {
        program.run(&["eval", file, "--no-kb", "--strategy", strategy, "--out", "out"])
    };
    on(&two, "direct").succeeds();
    on(&hotpot, "direct").fails(2, &["`2wiki`", "`hotpotqa`", "--out"]);
    // A run of another strategy has it alone in its report, and both come back at no cost.
    on(&two, "cot").succeeds();
    let compare = || program.run(&["eval", "compare", "out#direct", "out#cot"]);
    compare().fails(2, &["no run `direct`; it has cot", "stored", "-s direct,cot"]);
    on(&two, "direct,cot").succeeds();
    compare().succeeds();
}
