//! What tools rely on: the JSON that the program prints and its exit codes.

use crate::program::{Program, write_library};
use halma_testkit::double::{Behaviour, Double};
use serde_json::{Value, json};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn has(value: &Value, wanted: &[&str]) {
    for key in wanted {
        assert!(value.get(key).is_some(), "no `{key}` among {:?}", keys(value));
    }
}

#[test]
fn index_then_ask_then_search_offline() {
    let program = Program::new();
    write_library(&program);
    let report = program.run(&["index", "library", "--json"]).json();
    assert_eq!(report["documents_new"], 4);
    assert!(report["atoms"].as_u64().unwrap() >= 6);

    let again = program.run(&["index", "library"]);
    assert!(again.out.contains("Nothing to do: 4 documents"), "{}", again.out);

    let answer = program.run(&["ask", "In which year was Orrin Light first lit?", "--json"]).json();
    has(
        &answer,
        &[
            "question",
            "answer",
            "abstained",
            "partial",
            "strategy",
            "citations",
            "hops",
            "usage",
            "elapsed_ms",
            "trace",
        ],
    );
    has(
        &answer["usage"],
        &["llm_calls", "cached_calls", "prompt_tokens", "completion_tokens", "usd"],
    );
    assert_eq!(answer["answer"], "1871", "{answer}");
    assert_eq!(answer["strategy"], "auto");
    let citation = &answer["citations"][0];
    has(citation, &["document", "title", "section", "page", "start", "end", "quote"]);
    let document = citation["document"].as_str().unwrap();
    let text = std::fs::read_to_string(program.path("library").join(document)).unwrap();
    let (start, end) = (citation["start"].as_u64().unwrap(), citation["end"].as_u64().unwrap());
    let quoted: String = text
        .chars()
        .skip(usize::try_from(start).unwrap())
        .take(usize::try_from(end - start).unwrap())
        .collect();
    assert_eq!(quoted, citation["quote"].as_str().unwrap());

    for (layer, mode) in [("chunk", "bm25"), ("atom", "hybrid"), ("chunk", "graph")] {
        let args = ["search", "Who designed the lighthouse?", "--layer", layer, "--mode", mode];
        let reply = program.run(&[&args[..], &["--top", "3", "--json"]].concat()).json();
        has(&reply, &["hits", "elapsed_ms"]);
        let hit = &reply["hits"][0];
        has(hit, &["id", "layer", "document", "title", "text", "score", "start", "end"]);
        assert_eq!(hit["layer"], layer);
    }
    let dense = ["search", "Who designed the lighthouse?", "--mode", "dense"];
    program.run(&dense).fails(2, &["--mode", "`dense`", "there is no embedder", "hint:"]);
    for date in ["yesterday", "2024-02-31"] {
        program.run(&["ask", "Who?", "--asked-at", date]).fails(2, &["--asked-at", date]);
    }
    let stats = program.stats();
    assert_eq!(stats["documents"], 4);
}

#[test]
fn a_search_by_vectors_alone_is_refused_where_the_base_has_none_and_others_warn() {
    let program = Program::new();
    write_library(&program);
    program.run(&["index", "library"]).succeeds();
    let double = Double::start(Behaviour::default());
    let base = program.path(".halma").display().to_string();
    let equipped = Program::with_model(&double.url());
    let search =
        |mode: &[&str]| equipped.run(&[&["search", "lighthouse", "--kb", &base], mode].concat());
    search(&["--mode", "dense"]).fails(2, &["`dense`", "no chunk vectors", "`halma index`"]);
    let usual = search(&[]);
    assert!(usual.out.contains("Orrin Light"), "{}", usual.out);
    assert!(usual.err.starts_with("warning: the base has no chunk vectors"), "{}", usual.err);
}

#[test]
fn a_model_endpoint_runs_kar3_and_its_replies_are_cached() {
    let double = Double::start(Behaviour::replying(|call| {
        match call.prompt.as_str() {
            "kb/atomize" => "Who designed the light?\nWhere was she born?",
            "kar3/propose" if call.last().contains("born in Velby") => {
                r#"{"thinking": "", "sub_questions": []}"#
            }
            "kar3/propose" => r#"{"thinking": "", "sub_questions": ["Where was she born?"]}"#,
            "kar3/select" => r#"{"thinking": "", "candidate": 1}"#,
            _ => r#"{"answer": "Velby", "rationale": "Tarrant was born there."}"#,
        }
        .to_owned()
    }));
    let program = Program::with_model(&double.url());
    write_library(&program);
    assert_eq!(program.run(&["index", "library"]).code, 0);
    let question = "Where was the designer of Orrin Light born?";
    let first = program.run(&["ask", question, "--strategy", "kar3", "--json"]).json();
    assert_eq!(first["answer"], "Velby");
    assert!(first["usage"]["llm_calls"].as_u64().unwrap() >= 3);
    assert!(first["usage"]["usd"].as_f64().unwrap() > 0.0);
    let calls = double.chat_calls();
    let second = program.run(&["ask", question, "--strategy", "kar3", "--json"]).json();
    assert_eq!(second["answer"], "Velby");
    assert_eq!(second["usage"]["llm_calls"], 0);
    assert_eq!(second["usage"]["cached_calls"], first["usage"]["llm_calls"]);
    assert_eq!(double.chat_calls(), calls, "a second run asks nothing again");
    let requests = double.requests();
    assert!(requests.iter().any(|request| request.prompt.as_deref() == Some("kar3/answer")));
}

#[test]
fn eval_prints_the_report_and_resumes() {
    let program = Program::new();
    let record = |id: usize, name: &str, town: &str| {
        serde_json::json!({
            "_id": id.to_string(), "question": format!("Where was {name} born?"), "answer": town,
            "type": "bridge", "level": "easy", "supporting_facts": [[name, 0]],
            "context": [
                [name, [format!("{name} was born in {town}.")]],
                ["Sken", ["Sken is an island.", " It is windy."]],
            ],
        })
    };
    let records = [record(1, "Maud Tarrant", "Velby"), record(2, "Ivo Lund", "Harrow")];
    program.write("set.json", serde_json::to_vec(&records).unwrap());
    let args = ["eval", "set.json", "--format", "hotpotqa", "--strategy", "naive,kar3"];
    let args = [&args[..], &["--set", "naive.chunks=5", "--out", "out", "--json"]].concat();
    let report = program.run(&args).json();
    has(&report, &["dataset", "n", "columns", "runs"]);
    assert_eq!(report["n"], 2);
    assert_eq!(report["runs"][0]["settings"]["chunks"], 5);
    for run in report["runs"].as_array().unwrap() {
        has(run, &["strategy", "settings", "values", "abstained", "failed", "usage", "retrieval"]);
        has(&run["values"], &["em", "f1", "precision", "recall", "support", "p50", "p95"]);
        has(&run["retrieval"], &["r2", "r5", "r10"]);
        assert_eq!(run["taken_over"], 0);
    }
    assert_eq!(report["runs"][1]["values"]["em"], 1.0, "{report}");
    let again = program.run(&args).json();
    assert_eq!(again["runs"][0]["taken_over"], 2);
    assert_eq!(again["runs"][1]["values"], report["runs"][1]["values"]);
}

#[test]
fn prompts_are_listed_replaced_and_given_the_same_variables() {
    let program = Program::new();
    let listed = program.run(&["prompts", "list", "--json"]).json();
    let propose = listed.as_array().unwrap().iter().find(|p| p["name"] == "kar3/propose").unwrap();
    has(propose, &["name", "task", "variables", "reply_schema", "overridden"]);
    assert_eq!(propose["overridden"], false);
    assert_eq!(propose["variables"], serde_json::json!(["question", "context", "proposed"]));

    program.write("mine/kar3/propose.md", "{{ question | tojson }} {{ context | tojson }}\n");
    let listed = program.run(&["prompts", "list", "--json", "--prompts", "mine"]).json();
    let propose = listed.as_array().unwrap().iter().find(|p| p["name"] == "kar3/propose").unwrap();
    assert_eq!(propose["overridden"], true);
    let diff = program.run(&["prompts", "diff", "--prompts", "mine"]);
    assert!(diff.out.contains("+{{ question | tojson }}"), "{}", diff.out);

    write_library(&program);
    program.run(&["index", "library"]);
    let ask =
        ["ask", "Who built Orrin Light?", "--strategy", "kar3", "--prompts", "mine", "--json"];
    let answer = program.run(&ask).json();
    let event = answer["trace"].as_array().unwrap().iter().find(|e| e["prompt"] == "kar3/propose");
    let message = event.unwrap()["messages"].as_array().unwrap().last().unwrap();
    let message = message["text"].as_str().unwrap();
    assert!(message.starts_with("{\"") && message.contains("Who built Orrin Light?"), "{message}");

    let exported = program.run(&["prompts", "export", "out"]);
    assert_eq!(exported.code, 0);
    assert!(crate::program::is_file(&program.path("out/kar3/select.md")));
}

#[test]
fn config_show_tells_origins_and_init_writes_a_file_that_loads() {
    let program = Program::configured("[strategy.kar3]\nn = 3\n");
    let shown = program.run(&["config", "show", "--json"]).json();
    let of = |key: &str| {
        shown.as_array().unwrap().iter().find(|value| value["key"] == key).unwrap().clone()
    };
    assert_eq!(of("strategy.kar3.n")["origin"], "halma.toml");
    assert_eq!(of("strategy.kar3.k")["origin"], "default");
    assert_eq!(program.run(&["init", "new.toml"]).code, 0);
    assert_eq!(program.run(&["config", "show", "--config", "new.toml"]).code, 0);
    program.run(&["init", "new.toml"]).fails(2, &["new.toml", "hint:"]);
}

#[test]
fn init_connects_a_model_and_keeps_the_file() {
    let reply = r#"{"answer": "Jory Varn", "sentence": "He replaced the wheel by a turbine."}"#;
    let double = Double::start(Behaviour::replying(move |_| reply.to_owned()));
    let program = Program::configured("# mine\n[embedder]\nkind = \"none\"\n");
    let model = format!("{}/double", double.url());
    let connected = program.run(&["init", "--connect", "--model", &model]);
    connected.succeeds();
    for words in ["rightly", "tokens a second", "quick", "exhaustive", "[models.main]", "Next:"] {
        assert!(connected.out.contains(words), "`{words}` is not in: {}", connected.out);
    }
    let shown = program.run(&["config", "show"]).out;
    assert!(shown.contains("models.main.url") && shown.contains(&double.url()), "{shown}");
    let text = std::fs::read_to_string(program.path("halma.toml")).unwrap();
    assert!(text.starts_with("# mine\n[embedder]"), "{text}");
    program.run(&["init", "--connect", "--model", &model]).fails(2, &["models.main", "--name"]);
    let gone = ["init", "new.toml", "--model", "http://127.0.0.1:9/v1/m"];
    program.run(&gone).fails(1, &["127.0.0.1:9", "cannot be reached"]);
    assert!(!program.path("new.toml").exists(), "nothing is written without a trial");
}

#[test]
fn a_closed_pipe_ends_the_program_quietly() {
    let program = Program::new();
    let mut child = program.start(&["config", "show"]);
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn doctor_and_stats_report_what_the_next_build_makes_again() {
    let program = Program::configured("[embedder]\nkind = \"none\"\n[kb]\ncommunities = true\n");
    write_library(&program);
    program.run(&["index", "library"]).succeeds();
    assert!(program.stats()["layers"]["community"].as_u64().unwrap() > 0, "{}", program.stats());
    // The offline model describes none of them.
    assert_eq!(program.stats()["communities_stale"], true);
    let findings = program.run(&["doctor", "--json"]).json();
    let mut findings = findings.as_array().unwrap().iter();
    let base = findings.find(|finding| finding["component"] == "base").unwrap();
    let said = base["message"].as_str().unwrap();
    assert!(said.contains("communities") && said.contains("`halma index`"), "{said}");
    assert_eq!(base["health"], "warning");
}

#[test]
fn fields_that_a_known_base_is_given_are_reported() {
    let program = Program::new();
    write_library(&program);
    program.run(&["index", "library"]).succeeds();
    let given = ["index", "library", "--meta", "team=legal"];
    let first = program.run(&given);
    assert_eq!(first.out, "Changed the fields of 4 documents in .halma.\n", "{}", first.err);
    assert!(program.run(&given).out.starts_with("Nothing to do: 4 documents are already in"));
}

#[test]
fn a_missing_embedder_is_reported_once_and_one_that_is_switched_off_never() {
    let program = Program::new();
    write_library(&program);
    program.run(&["index", "library"]).succeeds();
    for command in [&["search", "lighthouse"][..], &["ask", "Who designed Orrin Light?"]] {
        assert_eq!(program.run(command).err, "");
    }
    program.write("default.toml", "");
    let mut search = program.command(&["search", "lighthouse", "--config", "default.toml"]);
    let said = search.env("HALMA_HOME", program.path("home")).output().unwrap().stderr;
    let said = String::from_utf8(said).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("only keywords are searched; `halma doctor --fetch` gets it"), "{said}");
}

#[test]
fn a_closed_standard_error_changes_no_exit_code() {
    let program = Program::new();
    write_library(&program);
    let code = |args: &[&str]| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = program.command(args);
        command.env("HALMA_LOG", "trace").stderr(writer).status().unwrap().code()
    };
    assert_eq!(code(&["index", "library"]), Some(0), "the log");
    assert_eq!(code(&["keys", "create", "--name", "a", "--scope", "ask"]), Some(0), "a note");
    assert_eq!(code(&["ask", " "]), Some(2), "an error with a hint");
}

#[test]
fn the_configuration_names_the_base_where_no_flag_does() {
    const BASE: &str = "[embedder]\nkind = \"none\"\n[kb]\natoms = \"sentences\"\n";
    let program = Program::configured(&format!("{BASE}url = \"configured\"\n"));
    write_library(&program);
    let documents = |stats: &Value| stats["documents"].as_u64().unwrap();
    program.run(&["index", "library"]).succeeds();
    assert!(program.path("configured").is_dir() && !program.path(".halma").exists());
    let count = documents(&program.stats());
    assert!(count > 0);
    // The variable wins over the file, and the flag over both.
    let other = |args: &[&str]| program.command(args).env("HALMA_KB", "other").output().unwrap();
    let missing = other(&["kb", "stats"]);
    assert!(
        !missing.status.success() && String::from_utf8_lossy(&missing.stderr).contains("other")
    );
    let flag = other(&["kb", "stats", "--json", "--kb", "configured"]);
    assert_eq!(documents(&serde_json::from_slice(&flag.stdout).unwrap()), count);
    let shown = other(&["config", "show", "--json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let url = shown.as_array().unwrap().iter().find(|value| value["key"] == "kb.url").unwrap();
    assert_eq!((&url["value"], &url["origin"]), (&json!("other"), &json!("HALMA_KB")));

    let address = "postgres://halma:pelican@127.0.0.1:1/halma?workspace=law&keys=/keys";
    program.write("halma.toml", format!("{BASE}url = \"{address}\"\n"));
    let shown = program.run(&["config", "show"]);
    assert!(
        shown.out.contains("postgres://halma@127.0.0.1:1/halma?workspace=law"),
        "{}",
        shown.out
    );
    // Every command goes there, and none says the password.
    let commands: [&[&str]; 8] = [
        &["kb", "stats"],
        &["ask", "Who?"],
        &["search", "who"],
        &["index", "library"],
        &["serve", "--port", "0"],
        &["worker"],
        &["keys", "list"],
        &["backup", "to"],
    ];
    for args in commands {
        let ran = program.run(args);
        assert!(ran.code != 0 && !ran.err.contains("pelican"), "{args:?}: {}", ran.err);
        assert!(
            ran.err.contains("127.0.0.1:1") || ran.err.contains("kb.url"),
            "{args:?}: {}",
            ran.err
        );
    }
    assert!(!program.path(".halma").exists());
    assert!(!shown.out.contains("pelican"));
}
