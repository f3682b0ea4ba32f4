//! `halma train` from outside: collecting, continuing, pairs, and a trained proposer in use.
use halma_testkit::double::{Behaviour, ChatCall, Double};
use serde_json::Value;

use crate::evaluation::questions;
use crate::program::{Program, write_library};

const COLLECT: [&str; 6] = ["train", "collect", "questions.jsonl", "--out", "runs.jsonl", "--kb"];

fn library() -> Program {
    let program = Program::new();
    write_library(&program);
    assert_eq!(program.run(&["index", "library", "--kb", ".halma"]).code, 0);
    questions(&program);
    program
}

fn collect(program: &Program, more: &[&str]) -> crate::program::Ran {
    program.run(&[&COLLECT[..], &[".halma", "--rounds", "2"], more].concat())
}

fn lines(program: &Program, file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(program.path(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn questions_become_rounds_and_rounds_become_pairs() {
    let program = library();
    let estimate = collect(&program, &["--estimate", "--probe", "1", "--json"]).json();
    assert_eq!(
        (estimate[0]["basis"]["questions"].as_u64(), estimate[0]["left"].as_u64()),
        (Some(1), Some(5))
    );
    let summary = collect(&program, &["--json"]).json();
    assert_eq!(summary["begun"], 6);
    assert_eq!(summary["left_out"]["questions that cannot be answered"], 1);
    let solved = summary["solved"].as_u64().unwrap();
    assert!(solved >= 3, "{summary}");
    let before = lines(&program, "runs.jsonl").len();
    assert_eq!(collect(&program, &["--json"]).json()["solved"], solved);
    assert_eq!(lines(&program, "runs.jsonl").len(), before, "nothing is asked twice");
    collect(&program, &["--set", "kar3.k=2"]).fails(2, &["k was 4 and is 2", "--out"]);
    collect(&program, &["--right", "0"]).fails(2, &["--right", "above 0"]);

    let pairs = |more: &[&str]| {
        program.run(&[&["train", "pairs", "runs.jsonl", "--share", "0"], more].concat())
    };
    let made = pairs(&["--out", "pairs", "--json"]).json();
    assert_eq!(made["trajectories"], solved);
    let written = lines(&program, "pairs/train.jsonl");
    assert_eq!(made["train"], written.len());
    for pair in &written {
        let reply = pair["completion"][0]["content"].as_str().unwrap();
        assert!(reply.starts_with("<decompose>"), "{reply}");
    }
    let leaked = pairs(&["--out", "others", "--held-out", "questions.jsonl"]);
    leaked.fails(1, &["nothing to train on"]);
    pairs(&["--out", "pairs", "--format", "openai"]).fails(2, &["--force"]);
    assert_eq!(pairs(&["--out", "pairs", "--format", "openai", "--force"]).code, 0);
    program.run(&["train", "pairs", "questions.jsonl", "--out", "x"]).fails(2, &["not a file of"]);
}

#[test]
fn feedback_becomes_questions_where_people_agreed() {
    let program = Program::new();
    write_library(&program);
    program.run(&["index", "library"]).succeeds();
    let collect = |more: &[&str]| {
        let args = ["train", "collect", "--from-feedback", "--out", "runs.jsonl", "--rounds", "1"];
        program.run(&[&args[..], more].concat())
    };
    collect(&[]).fails(2, &["--consent"]);
    collect(&["--consent"]).fails(2, &["no question with a right answer", "halma feedback add"]);
    let mark = |question: &str, verdict: &[&str]| {
        program.run(&["ask", question, "--answer-style", "short"]).succeeds();
        program.run(&[&["feedback", "add", "last", "--verdict"], verdict].concat()).succeeds();
    };
    mark("In which year was Orrin Light first lit?", &["right"]);
    mark("Where was Maud Tarrant born?", &["wrong", "--correction", "Velby"]);
    mark("What colour is the sea around Sken?", &["wrong"]);
    let ran = collect(&["--consent"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("2 questions from feedback"), "{}", ran.err);
    assert!(ran.err.contains("1 without a correction of the answer"), "{}", ran.err);
    let questions = lines(&program, "runs.jsonl.questions.jsonl");
    assert_eq!(questions[0]["answers"][0], "1871");
    assert_eq!(questions[1]["answers"][0], "Velby");
    let rounds = lines(&program, "runs.jsonl");
    assert!(rounds.iter().any(|line| line.to_string().contains("Maud Tarrant born")), "{rounds:?}");
    let file = ["train", "collect", "questions.jsonl", "--from-feedback", "--consent"];
    program.run(&[&file[..], &["--out", "x"]].concat()).fails(2, &["--from-feedback"]);
}

#[test]
fn a_base_that_changed_and_a_server_that_is_gone_are_reported() {
    let program = library();
    assert_eq!(collect(&program, &["--limit", "2"]).code, 0);
    program.write("library/more.md", "# More\n\nThere is more to read.\n");
    assert_eq!(program.run(&["index", "library", "--kb", ".halma"]).code, 0);
    collect(&program, &["--limit", "2"]).fails(2, &["the base has changed", "--out"]);

    let config = "[embedder]\nkind = \"none\"\n[models.gone]\nkind = \"openai\"\nretries = 0\n\
                  url = \"http://127.0.0.1:1/v1\"\nmodel = \"gone\"\n\
                  [roles]\nproposer = \"gone\"\ndefault = \"extractive\"\n";
    program.write("gone.toml", config);
    let args = ["--config", "gone.toml", "--out", "gone.jsonl", "--concurrency", "1"];
    let mut command = vec!["train", "collect", "questions.jsonl", "--kb", ".halma"];
    command.extend(args);
    let ran = program.run(&command);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("no round succeeds"), "{}", ran.err);
    assert!(ran.err.contains("run the same command to continue"), "{}", ran.err);
    assert_eq!(lines(&program, "gone.jsonl").len(), 1, "no such round is kept");
}

#[test]
fn a_served_proposer_decides_what_is_looked_up() {
    let reply = |call: &ChatCall| {
        let text = call.body["messages"].to_string();
        let next = if text.contains("1. Who designed Orrin Light? Maud Tarrant") {
            "<decompose>False</decompose>"
        } else {
            "Sure!\n<decompose> true </decompose><sub-question>Who designed Orrin Light?"
        };
        next.to_owned()
    };
    let double = Double::start(Behaviour::replying(reply));
    let program = library();
    program.write(
        "trained.toml",
        format!(
            "[embedder]\nkind = \"none\"\n[models.trained]\nkind = \"openai\"\nurl = \"{}\"\n\
             model = \"proposer\"\n[roles]\ndefault = \"extractive\"\nproposer = \"trained\"\n\
             [strategy.kar3]\nproposer = \"trained\"\n",
            double.url()
        ),
    );
    let ask = ["ask", "Who designed Orrin Light?", "--config", "trained.toml", "--json"];
    let ask = [&ask[..], &["--strategy", "kar3"]].concat();
    let answer = program.run(&[&ask[..], &["--answer-style", "short"]].concat()).json();
    assert_eq!(answer["answer"], "Maud Tarrant", "{answer}");
    assert_eq!(double.requests().len(), 2);
}

#[test]
fn keywords_get_labels_from_the_passages_of_the_questions() {
    let program = Program::new();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../eval/tests/fixtures/hotpotqa.json");
    let args =
        ["train", "keywords", fixture, "--kb", "passages", "--out", "keywords", "--share", "0"];
    // Stopped by a budget, the same command continues.
    let stopped = program.run(&[&args[..], &["--json", "--max-calls", "2"]].concat()).json();
    assert_eq!(stopped["collected"]["stopped"]["why"], "spent", "{stopped}");
    assert!(stopped["labels"].is_null() && !program.path("keywords/train.jsonl").exists());
    let made = program.run(&[&args[..], &["--json"]].concat()).json();
    let pairs = lines(&program, "keywords/train.jsonl");
    assert_eq!(made["labels"]["train"], pairs.len());
    assert!(made["labels"]["precision"].as_f64().unwrap() > 0.5, "{made}");
    let reply = pairs[0]["completion"][0]["content"].as_str().unwrap();
    assert!(reply.starts_with("{\"keywords\":[\""), "{reply}");
    let bytes = std::fs::read(program.path("keywords/train.jsonl")).unwrap();
    assert_eq!(program.run(&args).code, 0);
    assert_eq!(std::fs::read(program.path("keywords/train.jsonl")).unwrap(), bytes);
}
