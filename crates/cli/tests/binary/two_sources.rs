//! The world of the demo: notes, a graph and web results, asked by `atomr` with no model at all.
use std::path::PathBuf;

use halma_testkit::web::WebDouble;
use serde_json::Value;

use crate::program::Program;

fn world() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../demo/world")
}

/// The world's notes and graph, and its web results at a search engine on loopback. Read by rules
/// alone, so that answers do not depend on whether the heads' weights are on this machine.
fn program(web: &WebDouble) -> Program {
    let program = Program::configured(&format!(
        "[embedder]\nkind = \"none\"\n[offline]\nheads = false\n[kb]\natoms = \"sentences\"\n\
         [sources.web]\nkind = \"serpapi\"\nurl = \"{}\"\nretries = 0\n",
        web.url()
    ));
    let documents = world().join("documents");
    assert_eq!(program.run(&["index", documents.to_str().unwrap()]).code, 0);
    let graph = world().join("graph.ttl");
    assert_eq!(program.run(&["kg", "load", graph.to_str().unwrap()]).code, 0);
    program
}

fn events<'a>(answer: &'a Value, kind: &str) -> Vec<&'a Value> {
    let all = answer["trace"].as_array().unwrap().iter();
    all.filter(|event| event["event"] == kind).collect()
}

#[test]
fn a_question_of_graph_and_text_shows_its_tree_operators_sources_and_evidence() {
    let web = WebDouble::serving(&world().join("web"));
    let program = program(&web);
    let question = "In which church did the discoverer of Iapetus lay out a meridian line?";
    let answer = program.run(&["ask", question, "--strategy", "atomr", "--json"]).json();
    // The rules find it, and without a trained reader they are not sure of it.
    assert_eq!(answer["kind"], "passages", "{answer}");

    let notes = events(&answer, "note");
    let said =
        |words: &str| notes.iter().any(|note| note["note"].as_str().unwrap().contains(words));
    for words in ["Search(\"Iapetus\")", "Relate(", "sources: ", "San Petronio"] {
        assert!(said(words), "{words}: {notes:?}");
    }
    let looked = events(&answer, "source_queried");
    assert!(looked.iter().any(|one| one["source"] == "kg" && one["hits"][0]["title"] == "Iapetus"));
    assert!(!events(&answer, "searched").is_empty());
    let passage = &answer["passages"][0]["source"];
    assert_eq!(passage["document"], "giovanni-domenico-cassini.md", "{answer}");
}

#[test]
fn the_questions_of_two_sources_are_evaluated_with_the_share_of_each_source() {
    let web = WebDouble::serving(&world().join("web"));
    let program = program(&web);
    let questions = world().join("questions.jsonl");
    let questions = questions.to_str().unwrap();
    let run = ["eval", questions, "--kb", ".halma", "--strategy", "atomr", "--out", "out"];
    let ran = program.run(&run);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let report: Value =
        serde_json::from_slice(&std::fs::read(program.path("out/report.json")).unwrap()).unwrap();
    let sources = report["runs"][0]["sources"].as_array().unwrap();
    for source in ["text", "kg", "web"] {
        let times = |one: &Value| one["source"] == source && one["times"].as_u64() > Some(0);
        assert!(sources.iter().any(times), "{source}: {sources:?}");
    }
    assert!(ran.out.contains("sources queried"), "{}", ran.out);
}
