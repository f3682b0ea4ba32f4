//! Bad input as users give it: each gets a clear error, and nothing is lost.

use std::time::Duration;

use crate::program::{Program, write_library};
use halma_testkit::double::{Behaviour, Double, Failure, atomizer, fixed};

fn indexed() -> Program {
    let program = Program::new();
    write_library(&program);
    assert_eq!(program.run(&["index", "library"]).code, 0);
    program
}

#[test]
fn files_that_cannot_be_read_are_named_and_the_others_indexed() {
    let program = Program::new();
    write_library(&program);
    program.write("library/empty.txt", "");
    program.write("library/binary.bin", b"a\0b\0c".repeat(50));
    program.write("library/latin1.txt", b"caf\xe9 au lait");
    program.write("library/broken.jsonl", "{\"text\": \"fine one\"}\n{\"text\": \nnot json\n");
    program.write(
        "library/half.json",
        "[{\"_id\": \"1\", \"question\": \"x\", \"context\": [[\"T\", [\"S",
    );
    program.write("library/copy.md", std::fs::read(program.path("library/orrin.md")).unwrap());
    // Sparse: 200 MB long and no bytes on the disk.
    let huge = std::fs::File::create(program.path("library/huge.txt")).unwrap();
    huge.set_len(200 * 1024 * 1024).unwrap();
    let report = program.run(&["index", "library", "--json"]).json();
    assert_eq!(report["documents_new"], 6, "{report}");
    assert_eq!(report["duplicates"], 1);
    let refused = report["refused"].to_string();
    for word in ["empty.txt", "binary.bin", "broken.jsonl", "half.json", "huge.txt"] {
        assert!(refused.contains(word), "`{word}` is not in {refused}");
    }
    let lines: Vec<u64> = report["refused"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|r| r["file"].as_str().unwrap().ends_with("broken.jsonl"))
        .filter_map(|r| r["line"].as_u64())
        .collect();
    assert_eq!(lines, [2, 3]);
}

#[test]
fn a_missing_path_or_base_says_what_to_do() {
    let program = Program::new();
    program.run(&["index", "nowhere"]).fails(2, &["nowhere", "hint:"]);
    assert!(!program.path(".halma").exists(), "a misspelt path makes no base");
    program.run(&["ask", "Who?"]).fails(2, &[".halma", "halma index"]);
    program.run(&["search", "Who?", "--kb", "other"]).fails(2, &["other", "halma index"]);
}

#[test]
fn only_commands_that_ask_a_model_need_its_key() {
    let program = indexed();
    program.write(
        "keyed.toml",
        "[embedder]\nkind = \"none\"\n[models.main]\nurl = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\n\
         key_env = \"HALMA_TEST_UNSET_KEY\"\n[roles]\ndefault = \"main\"\n",
    );
    let run = |args: &[&str]| program.run(&[&["--config", "keyed.toml"], args].concat());
    for args in [
        &["kb", "list"][..],
        &["kb", "stats"],
        &["kb", "delete", "orrin.md"],
        &["search", "lighthouse"],
        &["feedback", "list"],
        &["index", "library", "--estimate"],
    ] {
        run(args).succeeds();
    }
    for args in [&["ask", "Who?"][..], &["index", "library"]] {
        run(args).fails(2, &["HALMA_TEST_UNSET_KEY", "models.main.key_env"]);
    }
}

#[test]
fn doctor_finds_a_wrong_strategy_and_a_wrong_address() {
    let program = Program::configured(
        "[embedder]\nkind = \"none\"\n[ask]\nstrategy = \"kar33\"\n[serve]\naddr = \"nowhere\"\n",
    );
    let ran = program.run(&["doctor"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    for words in ["there is no strategy `kar33`", "`nowhere` is not an address with a port"] {
        assert!(ran.out.contains(words), "{}", ran.out);
    }
}

#[test]
fn wrong_configuration_is_named_with_its_line() {
    let program = Program::configured("[embedder]\nkind = \"none\"\nmodle = \"x\"\n");
    program.run(&["config", "show"]).fails(2, &["halma.toml:3", "modle", "hint:"]);
    let program = Program::configured("[strategy.kar3]\nhops = 3\n");
    program
        .run(&["config", "show"])
        .fails(2, &["strategy.kar3", "hops", "config show strategy.kar3"]);
    let program = indexed();
    program.run(&["ask", "Who?", "--strategy", "kar4"]).fails(2, &["kar4", "kar3"]);
    program.write("other.toml", "[embedder]\nkind = \"none\"\n[ask]\nstrategy = \"kar33\"\n");
    program
        .run(&["ask", "Who?", "--config", "other.toml"])
        .fails(2, &["other.toml: `ask.strategy`: there is no strategy `kar33`", "kar3"]);
    program.run(&["ask", "Who?", "--set", "kar3.n"]).fails(2, &["kar3.n", "--set kar3.n=3"]);
    program
        .run(&["ask", "Who?", "--set", "kar3.n=many"])
        .fails(2, &["strategy.kar3", "`n` must be a whole number"]);
    program.run(&["ask", "Who?", "--set", "kra3.n=2"]).fails(2, &["kra3"]);
    let program = Program::configured(
        "[models.m]\nurl = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\nkey_env = \"HALMA_NO_SUCH\"\n",
    );
    write_library(&program);
    program.run(&["index", "library"]).fails(2, &["models.m.key_env", "HALMA_NO_SUCH", "export"]);
}

#[test]
fn dates_and_limits_that_are_none_are_refused() {
    let program = Program::new();
    let search = |option: &str| program.run(&["search", "tower", option]);
    search("--since=2023-13").fails(2, &["--since", "`2023-13` is not a date", "2023-01-31"]);
    search("--until=yesterday").fails(2, &["--until", "`yesterday` is not a date"]);
    for limit in ["--max-usd=-1", "--max-usd=nan", "--max-seconds=-5", "--max-seconds=1e12"] {
        let flag = limit.split('=').next().unwrap();
        program.run(&["ask", "Who?", limit]).fails(2, &[flag, "is not a number from 0"]);
    }
    program
        .run(&["keys", "create", "--name", "a", "--scope", "ask", "--usd-per-day=-1"])
        .fails(2, &["--usd-per-day", "is not a number from 0"]);
    assert!(!program.path(".halma").exists());
}

#[test]
fn names_that_the_base_does_not_hold_are_wrong_use_with_names_that_are_near() {
    let program = indexed();
    for command in ["show", "meta", "delete"] {
        program
            .run(&["kb", command, "orin.md"])
            .fails(2, &["no document `orin.md`", "did you mean `orrin.md`?", "halma kb list"]);
    }
    program.run(&["kb", "show", "c-0000000000000000"]).fails(2, &["may have been replaced"]);
    program.run(&["kb", "timeline", "Nobody"]).fails(2, &["no entity `Nobody`"]);
}

#[test]
fn a_failure_says_what_to_do() {
    let program = indexed();
    program.write("empty/picture.bin", b"a\0b\0c".repeat(50));
    let nothing = program.run(&["index", "empty"]);
    assert_eq!(nothing.code, 1, "{}", nothing.err);
    for said in ["`empty` has no document", "docs/reference/formats.md"] {
        assert!(nothing.err.contains(said), "{}", nothing.err);
    }
    program
        .run(&["ask", "Who built Orrin Light?", "--strategy", "naive", "--max-calls", "0"])
        .fails(1, &["the budget is spent: calls", "hint:", "`--max-calls`", "[budget.ask]"]);
    // A file where the folder of keys or of the base is looked for.
    program.write("file", "");
    program
        .run(&["keys", "create", "--kb", "file", "--name", "a", "--scope", "ask"])
        .fails(1, &["file/state.db", "check the path and its permissions"]);
}

#[test]
fn a_damaged_state_is_named_and_questions_are_answered() {
    let program = indexed();
    program.write(".halma/state.db", "hello");
    let told = ["state.db", "file is not a database", "restore a backup"];
    let answer = program.run(&["ask", "Who built Orrin Light?", "--strategy", "naive"]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    program.run(&["keys", "list"]).fails(1, &told);
    program.run(&["serve", "--port", "0"]).fails(1, &told);
    let verified = program.run(&["kb", "verify"]);
    assert!(told.iter().all(|part| verified.out.contains(part)), "{}", verified.out);
    assert!(verified.code == 1 && verified.err.contains("1 problem found"), "{}", verified.err);
}

#[test]
fn the_configuration_is_not_indexed() {
    let program = Program::new();
    program.write("notes.md", "# Orrin Light\n\nOrrin Light was lit in 1871.\n");
    let report = program.run(&["index", ".", "--json"]).json();
    assert_eq!(report["documents_new"], 1, "{report}");
    assert!(!program.run(&["kb", "list"]).out.contains("halma.toml"));
    let named = program.run(&["index", "halma.toml"]);
    assert_eq!(named.code, 1, "{}", named.err);
    assert!(named.out.contains("configuration file in use"), "{}", named.out);
}

#[test]
fn a_base_is_not_copied_to_itself() {
    let program = indexed();
    for to in [".halma", "./.halma", "library/../.halma"] {
        program
            .run(&["kb", "copy", ".halma", to])
            .fails(2, &["FROM and TO are the same base", "hint:"]);
    }
}

#[test]
fn odd_questions() {
    let program = indexed();
    program.run(&["ask", "  "]).fails(2, &["`question`: it has no word or number", "hint:"]);
    program.run(&["search", "?!"]).fails(2, &["`query`: it has no word or number", "hint:"]);
    let long = "why ".repeat(262_144);
    program.run_with_stdin(&["ask", "-"], long.as_bytes()).fails(2, &["1,048,575", "20,000"]);
    let chinese = program.run(&["ask", "灯塔是谁设计的？", "--json"]).json();
    assert_eq!(chinese["abstained"], true);
}

#[test]
fn a_prompt_override_with_a_misspelt_variable_names_file_line_and_variable() {
    let program = indexed();
    program.write("mine/kar3/answer.md", "## user\n{{ question.text }}\n{{ contxt }}\n");
    program
        .run(&["ask", "Who?", "--prompts", "mine"])
        .fails(2, &["mine/kar3/answer.md:3", "contxt", "`context`"]);
    program.write("mine/kar3/answer.md", "## user\n{{ question.txet }}\n");
    program
        .run(&["ask", "Who built Orrin Light?", "--prompts", "mine", "--strategy", "kar3"])
        .fails(2, &["mine/kar3/answer.md:2", "kar3/answer"]);
    program.run(&["ask", "Who?", "--prompts", "none"]).fails(2, &["--prompts", "none"]);
    program.write("mine/kar3/answers.md", "x");
    program.run(&["ask", "Who?", "--prompts", "mine"]).fails(2, &["kar3/answers"]);
}

#[test]
fn an_endpoint_that_misbehaves_is_told_apart() {
    // Nothing listens on the port of a double that has stopped.
    let gone = Double::start(Behaviour::with(fixed("x"))).url();
    let weather = "I would rather talk about the weather. ".repeat(10);
    let double = Double::start(Behaviour::with(fixed(&weather)));
    let program = Program::configured(&format!(
        "[embedder]\nkind = \"none\"\n[kb]\natoms = \"sentences\"\n\
         [models.m]\nurl = \"{}\"\nmodel = \"m\"\nretries = 1\n",
        double.url()
    ));
    write_library(&program);
    assert_eq!(program.run(&["index", "library"]).code, 0);
    let ask = ["ask", "Who built Orrin Light?", "--strategy", "naive", "--set"];
    let ask = [&ask[..], &["naive.mode=\"bm25\"", "--json"]].concat();

    // Long prose instead of JSON: asked again twice with the complaint, then as often with a plainer
    // prompt; then it abstains and says why.
    let prose = program.run(&ask);
    assert_eq!(prose.code, 0, "{}{}", prose.out, prose.err);
    for said in ["\"abstained\": true", "no reply that could be read"] {
        assert!(prose.out.contains(said), "{}", prose.out);
    }
    assert_eq!(double.chat_calls(), 6);

    // A wrong address answers every call with a page.
    double.fail(std::array::from_fn::<_, 8, _>(|_| Failure::Html));
    let html = program.run(&["ask", "Who lit Orrin Light?", "--strategy", "naive"]);
    html.fails(1, &["url", "/v1"]);

    let config = |url: &str| {
        format!("[embedder]\nkind = \"none\"\n[models.m]\nurl = \"{url}\"\nmodel = \"m\"\n")
    };
    program.write("down.toml", config(&gone));
    let down = ["ask", "Who?", "--config", "down.toml", "--max-seconds", "2", "--strategy"];
    let down = program.run(&[&down[..], &["direct"]].concat());
    assert_eq!(down.code, 1, "{}{}", down.out, down.err);
    assert!(down.err.contains("seconds") || down.err.contains("127.0.0.1"), "{}", down.err);
}

#[test]
fn a_killed_index_is_resumed_with_nothing_lost_and_nothing_twice() {
    let double = Double::start(Behaviour::with(atomizer()).latency(Duration::from_millis(40)));
    let record = |i: usize| {
        format!("{{\"id\": \"{i}\", \"title\": \"T{i}\", \"text\": \"Text {i} says so.\"}}")
    };
    let lines = (0..300).map(record).collect::<Vec<_>>().join("\n");
    let whole = Program::with_model(&double.url());
    whole.write("all.jsonl", &lines);
    assert_eq!(whole.run(&["index", "all.jsonl"]).code, 0);

    let killed = Program::with_model(&double.url());
    killed.write("all.jsonl", &lines);
    for wait in [250, 400] {
        let mut child = killed.start(&["index", "all.jsonl"]);
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(killed.run(&["index", "all.jsonl"]).code, 0);
    let (one, two) = (whole.stats(), killed.stats());
    for key in ["documents", "chunks", "atoms", "fingerprint", "failed_units"] {
        assert_eq!(one[key], two[key], "{key}");
    }
}

#[test]
fn two_indexes_at_once_on_one_base_both_succeed() {
    let program = Program::new();
    write_library(&program);
    program.write("more/extra.md", "# Extra\n\nAnother note about nothing much.\n");
    let one = program.start(&["index", "library"]);
    let two = program.start(&["index", "more"]);
    for child in [one, two] {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(program.stats()["documents"], 5);
}

#[test]
fn a_spent_budget_leaves_a_base_that_can_go_on() {
    let double = Double::start(Behaviour::with(atomizer()));
    let program = Program::with_model(&double.url());
    write_library(&program);
    let report = program.run(&["index", "library", "--max-calls", "2", "--json"]);
    assert!(report.out.contains("\"spent\": \"calls\""), "{}{}", report.out, report.err);
    let report = program.run(&["index", "library", "--json"]).json();
    assert_eq!(report["failed_units"], 0);
    assert_eq!(program.stats()["documents"], 4);
}

#[test]
fn an_index_without_paths_resumes_a_base_and_makes_none() {
    let program = Program::new();
    write_library(&program);
    let none = program.run(&["index", "--kb", "fresh"]);
    none.fails(2, &["no knowledge base yet", "name the files or folders"]);
    assert!(!program.path("fresh").exists());
    program.run(&["index", "library", "--kb", "made"]).succeeds();
    let documents = program.run(&["kb", "stats", "--kb", "made", "--json"]).json();
    program.run(&["index", "--kb", "made"]).succeeds();
    program.run(&["index", "--kb", "made", "--rebuild", "chunks"]).fails(2, &["files or folders"]);
    program.run(&["index", "--kb", "made", "--prune"]).fails(2, &["--prune"]);
    let after = program.run(&["kb", "stats", "--kb", "made", "--json"]).json();
    assert_eq!(documents["layers"], after["layers"]);
}

#[test]
fn a_base_that_a_failed_index_has_made_is_removed_and_no_other_folder() {
    let program = Program::new();
    write_library(&program);
    program.write("nothing/image.bin", [0_u8, 1, 2]);
    assert_eq!(program.run(&["index", "nothing", "--kb", "new"]).code, 1);
    assert!(!program.path("new").exists());
    program.write("there/notes.txt", "mine");
    program.run(&["index", "nothing", "--kb", "there"]);
    assert!(program.path("there/notes.txt").exists());
    program.run(&["index", "library", "--kb", "new"]).succeeds();
    assert_eq!(program.run(&["index", "nothing", "--kb", "new"]).code, 1);
    program.run(&["kb", "verify", "--kb", "new"]).succeeds();
}

#[test]
fn an_empty_folder_is_skipped_by_prune_and_the_rest_is_indexed() {
    let program = Program::new();
    program.write("full/a.txt", "Otters swim.");
    program.write("disk/b.txt", "Voles dig.");
    program.run(&["index", "full", "disk"]).succeeds();
    std::fs::remove_file(program.path("disk/b.txt")).unwrap();
    program.write("full/c.txt", "Badgers dig.");
    let ran = program.run(&["index", "full", "disk", "--prune"]);
    ran.succeeds();
    assert!(ran.out.contains("skipped disk: there is no file in it"), "{}", ran.out);
    assert!(ran.out.contains("1 new document"), "{}", ran.out);
    assert_eq!(program.stats()["documents"], 3);
    let ran = program.run(&["index", "disk", "--prune"]);
    assert_eq!(ran.code, 1, "nothing at all was indexed: {}", ran.err);
    assert_eq!(program.stats()["documents"], 3);
}
