//! `halma eval` and `halma data` from outside: every set, a report, a comparison, slips of the pen.
mod before_asking;

use std::path::{Path, PathBuf};

use std::time::Duration;

use halma_testkit::double::{Behaviour, ChatCall, Double};
use serde_json::{Value, json};

use crate::program::{Program, is_file, write_library};

/// Each set's fixture.
const FIXTURES: [(&str, &str); 32] = [
    ("hotpotqa", "hotpotqa.json"),
    ("2wiki", "2wiki.json"),
    ("musique", "musique.jsonl"),
    ("musique-full", "musique_full.jsonl"),
    ("strategyqa", "strategyqa.json"),
    ("medqa", "medqa.jsonl"),
    ("medmcqa", "medmcqa.jsonl"),
    ("medmcqa-from-0", "medmcqa_from_0.jsonl"),
    ("scifact", "scifact/claims.jsonl"),
    ("scifact-pairs", "scifact_pairs.tsv"),
    ("fever", "fever.jsonl"),
    ("logiqa", "logiqa.txt"),
    ("logiqa2", "logiqa2.jsonl"),
    ("folio", "folio.jsonl"),
    ("gsm8k", "gsm8k.jsonl"),
    ("mawps", "mawps.json"),
    ("mawps-calcx", "mawps_calcx.jsonl"),
    ("lawbench-1-1", "lawbench_1-1.json"),
    ("lawbench-1-2", "lawbench_1-2.json"),
    ("lawbench-3-1", "lawbench_3-1.json"),
    ("lawbench-3-2", "lawbench_3-2.json"),
    ("lawbench-3-6", "lawbench_3-6.json"),
    ("lawbench-3-8", "lawbench_3-8.json"),
    ("open-australian-legal-qa", "open_australian_legal_qa.jsonl"),
    ("crag", "crag.jsonl"),
    ("blendqa", "blendqa.jsonl"),
    ("multihop-rag", "multihop_rag.json"),
    ("frames", "frames.tsv"),
    ("browsecomp-plus", "browsecomp_plus.jsonl"),
    ("enterpriserag-bench", "enterpriserag_bench.jsonl"),
    ("longmemeval", "longmemeval.json"),
    ("own", "own.jsonl"),
];

pub(crate) fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../eval/tests/fixtures");
    folder.join(name).display().to_string()
}

/// Questions on the small library, as the guide has them.
pub(crate) fn questions(program: &Program) -> PathBuf {
    let line = |question: &str, answers: Value, kind: &str| {
        json!({ "question": question, "answers": answers, "kind": kind }).to_string()
    };
    let lines = [
        line("Where was Maud Tarrant born?", json!(["Velby"]), "factual"),
        line("Who designed Orrin Light?", json!(["Maud Tarrant"]), "factual"),
        line("When was Orrin Light first lit?", json!("1871"), "factual"),
        line("How many lighthouses did Maud Tarrant build?", json!(["nine", 9]), "factual"),
        line("Where was the designer of Orrin Light born?", json!(["Velby"]), "bridging"),
        line("What colour is the sea around Sken?", json!("grey"), "factual"),
        json!({ "question": "Who owns Orrin Light?", "answerable": false }).to_string(),
    ];
    program.write("questions.jsonl", lines.join("\n"))
}

#[test]
fn every_set_is_evaluated_from_its_official_format() {
    let program = Program::new();
    write_library(&program);
    assert_eq!(program.run(&["index", "library", "--kb", "base"]).code, 0);
    let listed = program.run(&["data", "list", "--json"]).json();
    let listed: Vec<&str> =
        listed.as_array().unwrap().iter().map(|set| set["name"].as_str().unwrap()).collect();
    assert_eq!(listed.len(), FIXTURES.len(), "a set without a fixture: {listed:?}");
    for (name, file) in FIXTURES {
        assert!(listed.contains(&name), "{name}");
        let (file, out) = (fixture(file), format!("out/{name}"));
        let checked = program.run(&["data", "check", &file, "--format", name, "--json"]).json();
        let usable = checked["usable"].as_u64().unwrap();
        let mut args = vec!["eval", &file, "--format", name, "--strategy", "naive", "--json"];
        args.extend(["--out", &out]);
        if checked["passages"] == 0 {
            args.extend(["--kb", "base"]);
        }
        let report = program.run(&args).json();
        let run = &report["runs"][0];
        assert_eq!(
            (report["n"].as_u64(), run["failed"].as_u64()),
            (Some(usable), Some(0)),
            "{name}"
        );
        assert!(is_file(&program.path(&format!("{out}/report.html"))), "{name}");
    }
}

/// Strategies whose prompts the offline model answers.
const OFFLINE: [&str; 17] = [
    "kar3",
    "auto",
    "pike_l1",
    "pike_l2",
    "pike_l3",
    "pike_l4",
    "dec",
    "unirag",
    "atomr",
    "ircot",
    "iter_retgen",
    "self_ask",
    "graph_local",
    "graph_global",
    "naive",
    "cot",
    "direct",
];

/// Offline: those that ask for what the offline model cannot do fail, and are counted as failed.
#[test]
fn every_strategy_is_run_by_the_harness() {
    let program = Program::new();
    let listed = program.run(&["strategies", "--json"]).json();
    let listed = listed.as_array().unwrap();
    let name = |entry: &Value| entry["name"].as_str().unwrap().to_owned();
    let able = |entry: &&Value| entry["needs"].as_array().unwrap().is_empty();
    let names: Vec<String> = listed.iter().filter(able).map(name).collect();
    assert!(names.len() > 15, "{names:?}");
    let (file, all) = (fixture("2wiki.json"), names.join(","));
    let args = ["eval", &file, "--strategy", &all, "--out", "out", "--json"];
    let report = program.run(&args).json();
    for (run, name) in report["runs"].as_array().unwrap().iter().zip(&names) {
        let entry = listed.iter().find(|entry| entry["name"] == **name).unwrap();
        let failed = run["failed"].as_u64().unwrap();
        assert_eq!(run["label"], **name);
        assert!(entry["calls"].as_str().is_some_and(|calls| !calls.is_empty()), "{name}");
        if OFFLINE.contains(&name.as_str()) {
            assert_eq!(failed, 0, "{name}: {}", run["failures"]);
        } else {
            let of_model = run["failed_by_kind"]["llm"].as_u64().unwrap_or(0);
            assert_eq!(of_model, failed, "{name}: {run}");
        }
    }
    // One that needs what is not configured is refused before it is run.
    let refused = ["eval", &file, "--strategy", "prob_tree"];
    program.run(&refused).fails(2, &["prob_tree", "log-probabilities", "logprobs = true"]);
}

#[test]
fn questions_that_must_not_see_each_others_passages_do_not() {
    let program = Program::new();
    let file = fixture("musique_full.jsonl");
    let args = ["eval", &file, "--format", "musique-full", "--strategy", "naive", "--out", "out"];
    assert_eq!(program.run(&args).code, 0);
    let records = std::fs::read_to_string(&file).unwrap();
    for record in records.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let Some(id) = record["id"].as_str() else { continue };
        // Both questions of a pair bear one id.
        let mark = if record["answerable"] == true { "" } else { "#unanswerable" };
        let id = format!("{id}{mark}");
        let paragraphs: Vec<&str> = record["paragraphs"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|paragraph| paragraph["paragraph_text"].as_str())
            .collect();
        for answer in kept(&program, "out/naive.jsonl").iter().filter(|a| a["question"] == id) {
            let cited = answer["outcome"]["answered"]["citations"].as_array();
            for citation in cited.into_iter().flatten() {
                let quote = citation["quote"].as_str().unwrap();
                assert!(paragraphs.iter().any(|text| text.contains(quote)), "{id}: {quote}");
            }
        }
    }
}

fn kept(program: &Program, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(program.path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn ones_own_questions_are_estimated_asked_gone_on_with_and_compared() {
    let program = Program::new();
    write_library(&program);
    assert_eq!(program.run(&["index", "library", "--kb", ".halma"]).code, 0);
    questions(&program);
    let base = ["eval", "questions.jsonl", "--strategy", "naive,kar3", "--out", "out"];
    let with = |more: &[&'static str]| program.run(&[&base[..], more].concat());

    let forecast = with(&["--estimate", "--probe", "2", "--json"]).json();
    assert_eq!((&forecast[0]["left"], &forecast[0]["label"]), (&json!(5), &json!("naive")));
    let shown = with(&["--estimate", "--probe", "2"]);
    assert!(shown.out.contains("naive") && shown.out.contains("kar3"), "{}", shown.out);
    assert_eq!(kept(&program, "out/naive.jsonl").len(), 2, "the probes are kept, and once");

    let report = with(&["--json"]).json();
    assert_eq!(report["runs"][0]["taken_over"], 2);
    assert_eq!(report["n"], 7);
    let table = with(&[]);
    assert!(table.out.contains("report.html"), "{}", table.out);
    let page = std::fs::read_to_string(program.path("out/report.html")).unwrap();
    assert!(page.contains("Where was Maud Tarrant born?") && page.contains("default-src 'none'"));

    let compared = program.run(&["eval", "compare", "out#naive", "#kar3", "--json"]).json();
    assert_eq!(compared[0]["paired"], 7);
    let compared = program.run(&["eval", "compare", "out#naive", "#kar3"]);
    assert!(compared.out.contains("McNemar"), "{}", compared.out);
}

#[test]
fn a_grid_is_run_point_by_point_and_a_sample_is_drawn_by_its_seed() {
    let program = Program::new();
    write_library(&program);
    assert_eq!(program.run(&["index", "library", "--kb", ".halma"]).code, 0);
    questions(&program);
    let grid = ["eval", "questions.jsonl", "--strategy", "kar3,naive", "--grid", "n=1..3"];
    let more = ["--sample", "3", "--seed", "5", "--out", "grid", "--json"];
    let report = program.run(&[&grid[..], &more].concat()).json();
    let labels: Vec<&str> = report["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["kar3@n=1", "kar3@n=2", "kar3@n=3", "naive"]);
    assert_eq!(report["sample"], json!({ "seed": 5, "size": 3, "of": 7 }));
}

#[test]
fn slips_are_told_before_anything_is_asked() {
    let program = Program::new();
    write_library(&program);
    questions(&program);
    let eval = |more: &[&str]| program.run(&[&["eval", "questions.jsonl"], more].concat());
    // No base yet, and the questions bring no passages.
    eval(&[]).fails(2, &["--kb DIR", "--no-kb"]);
    assert_eq!(program.run(&["index", "library"]).code, 0);
    eval(&["--format", "hotpot"]).fails(2, &["`hotpot`", "hotpotqa"]);
    eval(&["--strategy", "kar4"]).fails(2, &["kar4", "use one of"]);
    eval(&["--grid", "depth=1..3"]).fails(2, &["no strategy", "`depth`"]);
    eval(&["--grid", "n=3..1"]).fails(2, &["n=3..1", "upwards"]);
    eval(&["--sample", "2", "--limit", "1"]).fails(2, &["--limit"]);
    program.run(&["eval"]).fails(2, &["FILE"]);
    program.run(&["eval", "nowhere.jsonl"]).fails(2, &["nowhere.jsonl"]);
    program.run(&["eval", "compare", "nowhere", "out"]).fails(2, &["nowhere", "report.json in it"]);
    program.run(&["eval", "compare", "#naive", "#kar3"]).fails(2, &["#naive", "before `#`"]);
    let broken = program.write("bad.jsonl", "{\"question\": \"Who?\"\n").display().to_string();
    program.run(&["eval", &broken]).fails(2, &["bad.jsonl:1: ", "not valid JSON at column"]);
    program.run(&["data", "show", "squad"]).fails(2, &["`squad`", "musique"]);
    assert!(!program.path(".halma/eval/questions/naive.jsonl").exists());
    // A base of another file's passages.
    let (two, hotpot) = (fixture("2wiki.json"), fixture("hotpotqa.json"));
    let on = |file: &str, more: &[&str]| {
        program.run(&[&["eval", file, "--strategy", "naive", "--kb", "made"], more].concat())
    };
    assert_eq!(on(&two, &[]).code, 0);
    on(&hotpot, &[]).fails(2, &["built from `2wiki.json`", "--force"]);
    let forced = on(&hotpot, &["--force"]);
    assert!(forced.code == 0 && forced.err.contains("nothing is added"), "{}", forced.err);
}

/// The cache is emptied in between, so that only what the evaluation kept can spare a call.
#[test]
fn a_run_that_is_killed_and_started_again_asks_nothing_again_that_had_ended() {
    let reply = |_: &_| r#"{"answer": "yes", "rationale": "r"}"#.to_owned();
    let slow = Behaviour::replying(reply).latency(Duration::from_millis(20));
    let double = Double::start(slow);
    let program = Program::with_model(&double.url());
    let line = |i: usize| json!({ "id": i.to_string(), "question": format!("Is {i}x odd?"), "answers": ["yes"] });
    let lines: Vec<String> = (0..40).map(|i| line(i).to_string()).collect();
    program.write("many.jsonl", lines.join("\n"));
    let args = ["eval", "many.jsonl", "--no-kb", "--strategy", "direct", "--out", "out", "--json"];
    let journal = program.path("out/direct.jsonl");
    let ended = || {
        let text = std::fs::read_to_string(&journal).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines = whole.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.map(|line| line["question"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mut started = 0;
    loop {
        let mut child = program.start(&args);
        started += 1;
        let before = ended().len();
        while ended().len() < before + 7 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(3));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let (kept, count) = (ended(), double.requests().len());
        std::fs::remove_dir_all(program.path("out/base/cache")).unwrap();
        if kept.len() >= 30 {
            let report = program.run(&args).json();
            assert_eq!(report["runs"][0]["taken_over"], kept.len());
            let again = &double.requests()[count..];
            for id in kept {
                let words = format!("Is {id}x odd?");
                assert!(!again.iter().any(|r| r.body.to_string().contains(&words)), "{words}");
            }
            break;
        }
        assert!(started < 40, "the run never gets on");
    }
    assert_eq!(ended().len(), 40);
}

/// The judge can be read but on how creative an answer is.
fn judging(call: &ChatCall) -> String {
    let reply = match call.prompt.as_str() {
        "judge/statements" => r#"{"statements": ["It is so.", "It was never so."]}"#,
        "judge/support" => r#"{"supported": [2]}"#,
        "judge/asked" => r#"{"questions": ["Where was Maud Tarrant born?"], "evasive": false}"#,
        "judge/useful" => r#"{"useful": [1]}"#,
        "judge/needed" => r#"{"needed": []}"#,
        "judge/forecast" => r#"{"direction": null, "value": 9, "low": 8, "high": 10}"#,
        _ => "I would rather not say.",
    };
    reply.to_owned()
}

#[test]
fn answers_are_assessed_by_criteria_and_each_only_once() {
    let double = Double::start(Behaviour::replying(judging));
    let program = Program::with_model(&double.url());
    let config = std::fs::read_to_string(program.path("halma.toml")).unwrap();
    let roles = "[roles]\ndefault = \"extractive\"\njudge = \"main\"\n";
    program.write("halma.toml", config + roles);
    write_library(&program);
    assert_eq!(program.run(&["index", "library", "--kb", ".halma"]).code, 0);
    questions(&program);
    let base = ["eval", "questions.jsonl", "--strategy", "naive", "--out", "out"];
    let with = |more: &[&'static str]| program.run(&[&base[..], more].concat());
    let chat_calls = || double.requests().iter().filter(|r| r.body["messages"].is_array()).count();

    let estimate = with(&["--estimate", "--probe", "1", "--assess", "ragas,forecast"]);
    assert!(estimate.err.contains("up to 8 calls for each answer"), "{}", estimate.err);
    assert_eq!((estimate.code, chat_calls()), (0, 0), "an estimate assesses nothing");

    let report = with(&["--assess", "ragas,creative", "--assess", "forecast,ragas", "--json"]);
    let report = report.json();
    let assessed = report["runs"][0]["assessed"].as_array().unwrap();
    let schemes: Vec<&str> = assessed.iter().map(|one| one["scheme"].as_str().unwrap()).collect();
    assert_eq!(schemes, ["ragas", "creative", "forecast"]);
    for (scheme, criteria) in assessed.iter().map(|one| (one, one["criteria"].as_array().unwrap()))
    {
        assert_eq!((&scheme["answers"], &scheme["failed"]), (&json!(7), &json!({})));
        for criterion in criteria {
            let left_out = criterion["left_out"].as_object().unwrap().values();
            let left_out: u64 = left_out.map(|count| count.as_u64().unwrap()).sum();
            let [n, unreadable] = ["n", "unreadable"].map(|key| criterion[key].as_u64().unwrap());
            assert_eq!(n + unreadable + left_out, 7, "{criterion}");
            assert_eq!(n == 0, criterion["mean"].is_null(), "{criterion}");
        }
    }
    let means: Vec<Option<f64>> = assessed[0]["criteria"]
        .as_array()
        .unwrap()
        .iter()
        .map(|criterion| criterion["mean"].as_f64())
        .collect();
    // Each first passage helped; the second statement stands in the passages, and no sentence is
    // needed.
    assert!(means[1].is_some_and(|mean| (0.0..=1.0).contains(&mean)), "{means:?}");
    assert_eq!([means[0], means[2], means[3], means[4]], [0.5, 1.0, 0.5, 0.0].map(Some));
    assert!(assessed[1]["criteria"][0]["unreadable"].as_u64() > Some(0));
    assert!(assessed[2]["criteria"][1]["n"].as_u64() > Some(0));

    // Nothing is asked again, also without the cache.
    let before = chat_calls();
    std::fs::remove_dir_all(program.path(".halma/cache")).unwrap();
    let table = with(&["--assess", "ragas,creative,forecast"]);
    assert!(table.out.contains("interval coverage"), "{}", table.out);
    assert_eq!(chat_calls(), before);
    assert!(kept(&program, "out/naive.assessed.jsonl").len() > 15);
    for file in ["out/report.md", "out/report.html"] {
        let text = std::fs::read_to_string(program.path(file)).unwrap();
        assert!(text.contains("faithfulness") && text.contains("no gold answer"), "{file}");
    }
}

#[test]
fn the_offline_model_assesses_nothing_and_says_so_first() {
    let program = Program::new();
    write_library(&program);
    assert_eq!(program.run(&["index", "library", "--kb", ".halma"]).code, 0);
    questions(&program);
    let eval = |more: &[&str]| program.run(&[&["eval", "questions.jsonl"], more].concat());
    let said = ["--assess: `ragas,creative`", "offline model", "[models]", "`judge`"];
    eval(&["--assess", "ragas,creative", "--out", "out"]).fails(2, &said);
    eval(&["--assess", "rubrics"]).fails(2, &["rubrics", "ragas, creative, forecast"]);
    assert!(!program.path("out").exists());
}
