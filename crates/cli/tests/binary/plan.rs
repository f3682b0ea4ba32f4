//! `halma plan`: checking files of plans, drawing one.
use crate::program::Program;

const PLANS: &str = r#"{"question": "Where was the architect of Varn born?", "reasoning_tree": {"Where was the architect of Varn born?": ["1. Who is the architect of Varn?", "2. Where was [1] born?"], "1. Who is the architect of Varn?": "Relate(\"Varn\", \"architect\")", "2. Where was [1] born?": "Relate([1], \"place of birth\")"}}

{"question": "Which albums?", "reasoning_tree": "{\"Which albums?\": \"Filter(Relate('X', 'albums'), 'before 2000')\"}"}
{"question": "Who?", "reasoning_tree": "TREE_PARSING_ERROR"}
{"question": "Who?", "tree": {}}
not json
{"question": "Who?", "reasoning_tree": {"Who?": ["1. A?"], "1. A?": "Search(\"A\")", "2. B?": "Search(\"Varn\")"}}
"#;

#[test]
fn a_file_is_checked_line_by_line() {
    let program = Program::new();
    program.write("plans.jsonl", PLANS);
    let checked = program.run(&["plan", "check", "plans.jsonl", "--json"]).json();
    let counts = ["total", "parsed", "refused"].map(|key| checked[key].as_u64().unwrap());
    assert_eq!(counts, [6, 3, 3], "{checked}");
    assert_eq!(checked["repairs"]["nested_call"], 1);
    assert_eq!(checked["repairs"]["parent_left_out"], 1, "{checked}");
    let refusals = checked["refusals"].as_array().unwrap();
    let reasons: Vec<(u64, &str)> = refusals
        .iter()
        .map(|one| (one["line"].as_u64().unwrap(), one["reason"].as_str().unwrap()))
        .collect();
    for ((line, reason), (at, word)) in
        reasons.iter().zip([(4, "JSON object"), (5, "reasoning_tree"), (6, "not a JSON object")])
    {
        assert!(*line == at && reason.contains(word), "{reasons:?}");
    }
    let table = program.run(&["plan", "check", "plans.jsonl"]);
    for word in ["6 plans: 3 read, 3 refused", "nested_call", "refused because"] {
        assert!(table.out.contains(word), "{}", table.out);
    }
}

#[test]
fn replies_of_models_are_plans_too() {
    let program = Program::new();
    let reply = r#"{"thinking": "one step", "plan": {"Who?": "Search(\"Varn\")"}}"#;
    program.write("replies.jsonl", format!("{reply}\n{{\"thinking\": \"none\"}}\n"));
    let checked = program.run(&["plan", "check", "replies.jsonl", "--json"]).json();
    assert_eq!((&checked["parsed"], &checked["refused"]), (&1.into(), &1.into()), "{checked}");
    let reason = checked["refusals"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("`reasoning_tree`") && reason.contains("`plan`"), "{reason}");
    let drawn = program.run(&["plan", "show", "replies.jsonl:1"]);
    assert_eq!(drawn.out, "Who?  → Search(\"Varn\")\n");
}

#[test]
fn one_plan_is_drawn() {
    let program = Program::new();
    program.write("plans.jsonl", PLANS);
    let tree = "Where was the architect of Varn born?\n\
                ├─ 1. Who is the architect of Varn?  → Relate(\"Varn\", \"architect\")\n\
                └─ 2. Where was [1] born?  → Relate([1], \"place of birth\")\n";
    assert_eq!(program.run(&["plan", "show", "plans.jsonl:1"]).out, tree);
    assert_eq!(program.run(&["plan", "show", "plans.jsonl", "--line", "1"]).out, tree);
    let bare = br#"{"Who?": "Search(\"Varn\")"}"#;
    let drawn = program.run_with_stdin(&["plan", "show", "-"], bare);
    assert_eq!(drawn.out, "Who?  → Search(\"Varn\")\n");
    let repaired = program.run(&["plan", "show", "plans.jsonl:3"]).out;
    assert!(repaired.contains("repaired: nested_call"), "{repaired}");
    let json = program.run(&["plan", "show", "plans.jsonl:1", "--json"]).json();
    assert_eq!(json["nodes"][1]["step"]["call"]["operator"], "relate", "{json}");
}

#[test]
fn what_cannot_be_shown_or_checked_is_named() {
    let program = Program::new();
    program.write("plans.jsonl", PLANS);
    program.run(&["plan", "check", "nowhere.jsonl"]).fails(2, &["nowhere.jsonl", "hint:"]);
    program.run(&["plan", "show", "nowhere.jsonl:3"]).fails(2, &["nowhere.jsonl", "hint:"]);
    program.run(&["plan", "show", "plans.jsonl:99"]).fails(2, &["plans.jsonl", "line 99", "7"]);
    program.run(&["plan", "show", "plans.jsonl:4"]).fails(2, &["plans.jsonl:4", "JSON object"]);
    program.write("two.jsonl", "{\"a\": 1}\n{\"b\": 2}\n");
    program.run(&["plan", "show", "two.jsonl"]).fails(2, &["2 plans", "two.jsonl:1"]);
    program.run(&["plan", "show", "plans.jsonl:0"]).fails(2, &["line 0"]);
    program.run_with_stdin(&["plan", "show", "-"], b"no plan").fails(2, &["standard input"]);
}
