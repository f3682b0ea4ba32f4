//! Feedback on the command line, and the level that a base is made for.
use serde_json::json;

use crate::program::{Program, write_library};

const QUESTION: &str = "In which year was Orrin Light first lit?";

#[test]
fn an_answer_is_marked_accepted_used_and_undone() {
    let program = Program::new();
    write_library(&program);
    program.run(&["index", "library"]).succeeds();
    program.run(&["feedback", "add", "last", "--verdict", "right"]).fails(2, &["no run `last`"]);
    let first = program.run(&["ask", QUESTION, "--json"]).json();
    let run = first["id"].as_str().unwrap();
    let given = program.run(&["feedback", "add", "last", "--verdict", "right", "--json"]).json();
    assert_eq!(given["run"], run);
    assert_eq!(given["candidates"][0]["answer"], "1871", "{given}");
    let id = given["id"].as_str().unwrap();
    let verified = program.run(&["feedback", "accept", id, "--verify", "--json"]).json();
    // The passage says “It”: what it supports is left to a person.
    assert_eq!(verified["deferred"][0]["candidate"], 1, "{verified}");
    let accepted = program.run(&["feedback", "accept", id, "--json"]).json();
    let atom = accepted["candidates"][0]["atom"].as_str().unwrap();
    let shown = program.run(&["kb", "show", atom, "--json"]).json();
    assert_eq!(shown["details"]["accepted"]["feedback"], id, "{shown}");
    let search = ["search", QUESTION, "--layer", "atom", "--feedback", "true", "--json"];
    let reply = program.run(&search).json();
    assert_eq!(reply["hits"][0]["id"], atom, "{reply}");
    let calls = |reply: &serde_json::Value| reply["usage"]["llm_calls"].as_u64().unwrap();
    let again = program.run(&["ask", QUESTION, "--json"]).json();
    assert!(calls(&again) < calls(&first), "{again}");
    assert_eq!(again["answer"], first["answer"]);
    let without = program.run(&["ask", QUESTION, "--no-feedback", "--json"]).json();
    assert_eq!(calls(&without), calls(&first));
    let listed = program.run(&["feedback", "list", "--about", "orrin", "--state", "accepted"]);
    assert!(listed.out.contains(id), "{}", listed.out);
    program.run(&["feedback", "undo", id]).succeeds();
    assert_eq!(program.run(&search).json()["hits"], json!([]));
    program.run(&["feedback", "delete", id]).succeeds();
    program.run(&["feedback", "show", id]).fails(2, &["there is no feedback"]);
    program.run(&["feedback", "add", run, "--verdict", "so-so"]).fails(2, &["so-so"]);
}

#[test]
fn feedback_of_which_nothing_can_become_knowledge_says_why() {
    let program = Program::new();
    write_library(&program);
    program.run(&["index", "library"]).succeeds();
    let barrier = |verdict: &[&str]| {
        let given = program.run(&[&["feedback", "add", "last", "--verdict"], verdict].concat());
        given.succeeds();
        let told = given.out.split_once("Nothing of it can become knowledge: ");
        told.map(|(_, why)| why.lines().next().unwrap().to_owned())
    };
    program.run(&["ask", QUESTION]).succeeds();
    let why = barrier(&["wrong"]).unwrap();
    assert!(why.contains("no correction is given (`--correction`"), "{why}");
    assert_eq!(barrier(&["wrong", "--correction", "1872"]), None);
    assert_eq!(barrier(&["right"]), None);

    program.run(&["ask", "Who was the first king of Atlantis?"]).succeeds();
    assert_eq!(barrier(&["right"]).unwrap(), "the run has no answer.");
    let why = barrier(&["wrong", "--correction", "Atlas"]).unwrap();
    assert_eq!(why, "the answer cites no passage that it could rest on.");
}

#[test]
fn a_level_is_estimated_and_an_existing_base_stays_as_it_was_made() {
    let program = Program::new();
    write_library(&program);
    let calls = |level: &str| {
        let estimate = ["index", "library", "--level", level, "--estimate", "--json"];
        program.run(&estimate).json()["calls"].as_u64().unwrap()
    };
    let by_level: Vec<u64> = ["0", "1", "2", "4"].map(calls).into();
    assert_eq!(by_level[0], 0);
    assert!(by_level.windows(2).all(|pair| pair[0] < pair[1]), "{by_level:?}");
    program.run(&["index", "library", "--level", "0"]).succeeds();
    assert_eq!(program.stats()["atoms"], 0);
    let kept = program.run(&["index", "library", "--level", "1"]);
    assert!(kept.err.contains("--rebuild atoms"), "{}", kept.err);
    assert_eq!(program.stats()["atoms"], 0);
    program.run(&["index", "library", "--level", "1", "--rebuild", "atoms"]).succeeds();
    assert!(program.stats()["atoms"].as_u64() > Some(0));
    program.run(&["index", "library", "--level", "5"]).fails(2, &["--level"]);
    let taken = program.run(&["index", "library", "--level", "0", "--rebuild", "atoms"]);
    assert!(taken.out.contains("Rebuilt as configured: atoms"), "{}{}", taken.out, taken.err);
    assert_eq!(program.stats()["atoms"], 0);
}

#[test]
fn a_file_of_the_user_is_not_written_over() {
    let program = Program::new();
    write_library(&program);
    program.run(&["index", "library", "--level", "0"]).succeeds();
    program.write("notes.md", "mine");
    program.run(&["kb", "export", "notes.md"]).fails(2, &["notes.md", "exists", "--force"]);
    assert_eq!(std::fs::read_to_string(program.path("notes.md")).unwrap(), "mine");
    program.run(&["kb", "export", "notes.md", "--force"]).succeeds();
    assert_ne!(std::fs::read_to_string(program.path("notes.md")).unwrap(), "mine");
    let create = ["keys", "create", "--name", "a", "--scope", "ask", "--workspace", "nope"];
    program.run(&create).fails(2, &["nope", "has no such workspace"]);
}
