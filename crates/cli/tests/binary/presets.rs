//! The papers' tables from outside: run over a small file with a scripted model, run again, and run
//! wrongly.
use std::path::Path;

use halma_testkit::double::{Behaviour, ChatCall, Double, Recorded};
use serde_json::{Value, json};

use crate::program::{Program, is_file};

/// Two questions; the scripted answer is right for the second.
const ANSWER: &str = "1950";

fn two_wiki() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../eval/tests/fixtures");
    folder.join("2wiki.json").display().to_string()
}

/// A model that looks something up once and then answers.
fn reply(call: &ChatCall) -> String {
    let first = call.last().contains("(none yet)");
    let question = call.last().lines().find_map(|line| line.strip_prefix("Question: "));
    let question = question.unwrap_or_default().to_owned();
    let look_up = "When was the director of Glass Orchard born?";
    let planned = if first { vec![look_up] } else { vec![] };
    let reply = match call.prompt.as_str() {
        "kb/atomize" => return format!("{look_up}\n"),
        "judge/pike" => return "yes".to_owned(),
        "judge/dec" => return "Correctness: yes".to_owned(),
        "kar3/propose" => json!({ "thinking": "t", "sub_questions": planned }),
        "kar3/select" => json!({ "thinking": "t", "candidate": 1 }),
        "self_ask/follow_up" => json!({ "follow_up": planned.first() }),
        "ircot/thought" => json!({ "thought": "It was in 1950.", "concludes": !first }),
        "prob_tree/tree" => {
            json!({ "nodes": [{ "question": question, "sub_questions": [look_up] }] })
        }
        "search_chain/chain" => json!({ "rationale": "r", "nodes": [] }),
        "atomr/plan" => json!({ question: "Search(\"Glass Orchard\")" }),
        "dec/decompose" => json!({ "thinking": "t", "sub_questions": [look_up, "When was #1?"] }),
        "dec/keywords" => json!({ "keywords": ["director"] }),
        "unirag/sub_queries" => json!({ "sub_queries": [look_up] }),
        _ => json!({
            "rationale": "passage 1", "answer": ANSWER, "answers": [ANSWER], "question": look_up,
            "constraints": [], "statements": 1, "supported": 1, "useful": 1, "passages": [1],
        }),
    };
    reply.to_string()
}

/// With log-probabilities, which `prob_tree` needs.
fn program(double: &Double) -> Program {
    let program = Program::with_model(&double.url());
    let config = std::fs::read_to_string(program.path("halma.toml")).unwrap();
    program.write(
        "halma.toml",
        config.replace("model = \"double\"", "model = \"double\"\nlogprobs = true"),
    );
    program
}

fn chats(double: &Double) -> Vec<Recorded> {
    let chat = |request: &Recorded| request.body["messages"].is_array();
    double.requests().into_iter().filter(chat).collect()
}

#[test]
fn a_table_of_each_paper_is_run_and_stands_next_to_the_papers_figures() {
    let double = Double::start(Behaviour::replying(reply));
    let program = program(&double);
    let file = two_wiki();
    for (name, row, paper) in [
        ("kar3-table1", "KAR³", 75.00),
        ("pike-table5", "Self-Ask w/ H-R", 48.00),
        ("atomr-table2", "AtomR", 78.72),
        ("unirag-table5", "w/ Decomp", 42.20),
        ("dec-table2", "w/o QD", 35.68),
    ] {
        let ran = program.run(&["eval", "preset", "run", name, &file, "--limit", "2", "--json"]);
        let tables = ran.json();
        let rows = tables[0]["rows"].as_array().unwrap();
        for row in rows {
            assert_eq!(row["scored"], 2, "{name}: {row}\n{}", ran.err);
        }
        let row = rows.iter().find(|one| one["label"] == row).unwrap();
        assert_eq!(row["pairs"][0]["paper"], json!([paper]), "{name}");
        assert!(row["pairs"][0]["ours"].as_f64().is_some(), "{name}: {row}");
        let calls = row["pairs"].as_array().unwrap().iter().rev().nth(1).unwrap();
        assert!(calls["ours"].as_f64() >= Some(1.0), "{name}: {row}");
        let table = program.path(&format!(".halma/eval/preset/{name}/2wiki/table.md"));
        let table = std::fs::read_to_string(table).unwrap();
        assert!(table.contains(&format!("{paper:.2}")), "{name}: {table}");
    }
    // The scripted answer is right once, and the judge says so twice.
    let shown = program.run(&["eval", "preset", "run", "kar3-table1", &file, "--limit", "2"]);
    let kar3 = shown.out.lines().find(|line| line.starts_with("KAR³  ")).unwrap();
    let cells: Vec<&str> = kar3.split_whitespace().take(5).collect();
    assert_eq!(cells, ["KAR³", "75.00", "50.0", "82.20", "100.0"], "{}", shown.out);
    assert!(is_file(&program.path(".halma/eval/preset/kar3-table1/2wiki/report.html")));
}

/// Without the cache, so that only what the first run stored can spare a call.
#[test]
fn a_table_that_is_run_again_asks_nothing_and_demonstrations_are_in_its_prompts() {
    let double = Double::start(Behaviour::replying(reply));
    let program = program(&double);
    let file = two_wiki();
    let run = || {
        let args = ["eval", "preset", "run", "kar3-table14", &file, "--limit", "2", "--json"];
        program.run(&[&args[..], &["--out", "out"]].concat()).json()
    };
    let first = run();
    let chats_before = chats(&double);
    let follow_ups = |with: bool| {
        let long = |request: &&Recorded| {
            let messages = request.body["messages"].as_array().unwrap().len();
            request.prompt.as_deref() == Some("self_ask/follow_up") && (messages > 2) == with
        };
        chats_before.iter().filter(long).count()
    };
    assert_eq!((follow_ups(false), follow_ups(true)), (4, 4), "two questions, two steps, each way");
    for entry in std::fs::read_dir(program.path("out")).unwrap() {
        let _ = std::fs::remove_dir_all(entry.unwrap().path().join("cache"));
    }
    assert_eq!(run()[0]["rows"], first[0]["rows"]);
    assert_eq!(chats(&double).len(), chats_before.len());
}

#[test]
fn slips_are_told_with_the_command_that_was_meant() {
    let double = Double::start(Behaviour::replying(reply));
    let program = program(&double);
    let file = two_wiki();
    let preset = |args: &[&str]| program.run(&[&["eval", "preset"], args].concat());
    preset(&["kar3-table1"]).fails(2, &["halma eval preset run kar3-table1", "show kar3-table1"]);
    preset(&["kar"]).fails(2, &["`kar`", "halma eval preset list"]);
    preset(&["run", "kar3table1"]).fails(2, &["similar: `kar3-table1`"]);
    preset(&["run", "kar3-table5"]).fails(2, &["is not run: it describes what each method"]);
    let missing = ["hotpot_dev_distractor_v1.json", "https://hotpotqa.github.io", "--data DIR"];
    preset(&["run", "kar3-table1"]).fails(2, &missing);
    preset(&["run", "kar3-table1", "--data", "nowhere"]).fails(2, &["nowhere", "no such folder"]);
    preset(&["run", "kar3-table10", &file]).fails(2, &["format is 2wiki", "a file of musique"]);
    // One of two files needs a base, which is said before the first is asked.
    let claims = Path::new(&file).with_file_name("medmcqa.jsonl").display().to_string();
    let gsm8k = Path::new(&file).with_file_name("gsm8k.jsonl").display().to_string();
    let both = ["run", "unirag-table3", &gsm8k, &claims];
    preset(&both).fails(2, &["medmcqa.jsonl", "--kb DIR"]);
    assert!(chats(&double).is_empty(), "nothing was asked");

    let set = ["run", "dec-table3", &file, "--limit", "1", "--set", "dec.mode=bm25"];
    let ran = preset(&set);
    assert!(ran.err.contains("--set dec.mode=bm25 has no effect on DEC, w/o EK"), "{}", ran.err);
    assert_eq!(ran.code, 0);
}

/// A row whose sources are not configured is left out with the key that is missing.
#[test]
fn a_row_without_its_sources_is_left_out() {
    let double = Double::start(Behaviour::replying(reply));
    let program = program(&double);
    program.write("library/a.md", "# Glass Orchard\n\nGlass Orchard is a film of 1980.\n");
    assert_eq!(program.run(&["index", "library", "--kb", "base"]).code, 0);
    let file = Path::new(&two_wiki()).with_file_name("blendqa.jsonl").display().to_string();
    let args = ["eval", "preset", "run", "atomr-table3", &file, "--kb", "base", "--json"];
    let ran = program.run(&args);
    let rows = ran.json()[0]["rows"].clone();
    let scored = |label: &str| {
        let rows = rows.as_array().unwrap().iter();
        rows.clone().find(|row| row["label"] == label).unwrap()["scored"].clone()
    };
    let table4 = ["eval", "preset", "run", "atomr-table4", &file, "--kb", "base"];
    program.run(&table4).fails(1, &["no row of atomr-table4 can be run here"]);
    assert!(scored("CoT").is_u64() && scored("AtomR") == Value::Null, "{rows}");
    assert!(
        ran.err.contains("AtomR is left out") && ran.err.contains("[sources.web]"),
        "{}",
        ran.err
    );
}
