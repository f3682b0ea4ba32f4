//! Quantitative questions.
use std::sync::Arc;

use serde_json::json;

use super::*;

const QUESTION: &str = "How many towers opened before 1920?";
const COUNT: &str = "SELECT COUNT(*) AS towers FROM towers WHERE opened < 1920";
const WRITTEN: (&str, &str) = (
    "pike_l2/sql",
    r#"{"sql": "SELECT COUNT(*) AS towers FROM towers WHERE opened < 1920", "reason": "opening years"}"#,
);
const TWO: (&str, &str) = ("pike_l2/computed", r#"{"rationale": "Counted.", "answer": "2"}"#);
const BRIDGED: [(&str, &str); 4] =
    [NO_LIST, ("kar3/propose", ENOUGH), NO_CHUNK, ("kar3/answer", NOTHING)];

fn towers() -> Toy {
    Toy::of(&[("note", "Note", "Some towers opened before others.", &[])])
        .with_table(
            "towers",
            &[("name", "text"), ("opened", "integer")],
            vec![
                vec![json!("Varn"), json!(1911)],
                vec![json!("Holm"), json!(1920)],
                vec![json!("Skarv"), json!(1890)],
                vec![json!("Ness"), json!(1931)],
            ],
        )
        .with_table("ships", &[("name", "text")], vec![vec![json!("Orca")]])
        .with_result(COUNT, &["towers"], vec![(vec![json!(2)], &["towers:1", "towers:3"])])
}

async fn run(name: &str, toy: Toy, model: Arc<Script>) {
    let run = Run { question: QUESTION, knowledge: Arc::new(toy), ..Run::new(model) };
    golden(name, &of(Reasoning::Quantitative), run).await;
}

#[tokio::test]
async fn a_query_counts_and_its_rows_are_cited() {
    run("pike_l2/quantitative", towers(), Script::new([WRITTEN, TWO])).await;
}

#[tokio::test]
async fn a_query_that_errs_is_given_back() {
    let wrong = ("pike_l2/sql", r#"{"sql": "SELECT COUNT(*) FROM tower", "reason": ""}"#);
    run("pike_l2/quantitative_repaired", towers(), Script::new([wrong, WRITTEN, TWO])).await;
}

#[tokio::test]
async fn a_query_that_errs_three_times_is_bridged() {
    let wrong = ("pike_l2/sql", r#"{"sql": "SELECT FROM", "reason": ""}"#);
    let model = Script::new([wrong, wrong, wrong, BRIDGED[0], BRIDGED[1], BRIDGED[2], BRIDGED[3]]);
    run("pike_l2/quantitative_always_errs", towers(), model).await;
}

#[tokio::test]
async fn no_table_that_answers_is_told_and_bridged() {
    let none = ("pike_l2/sql", r#"{"sql": "", "reason": "No table has heights."}"#);
    let model = Script::new([none, BRIDGED[0], BRIDGED[1], BRIDGED[2], BRIDGED[3]]);
    run("pike_l2/quantitative_no_table_answers", towers(), model).await;
}

#[tokio::test]
async fn a_base_without_tables_is_bridged() {
    let toy = Toy::of(&[("note", "Note", "Some towers opened early.", &[])]);
    run("pike_l2/quantitative_no_tables", toy, Script::new(BRIDGED)).await;
}

#[tokio::test]
async fn a_table_without_rows_gives_nothing_to_answer_from() {
    let sum = "SELECT SUM(opened) AS years FROM towers";
    let toy = Toy::default()
        .with_table("towers", &[("name", "text"), ("opened", "integer")], vec![])
        .with_result(sum, &["years"], vec![(vec![json!(null)], &[])]);
    let summed =
        ("pike_l2/sql", r#"{"sql": "SELECT SUM(opened) AS years FROM towers", "reason": ""}"#);
    let none = ("pike_l2/sql", r#"{"sql": "", "reason": "The table is empty."}"#);
    let model = Script::new([summed, none, BRIDGED[0], BRIDGED[1], BRIDGED[3]]);
    run("pike_l2/quantitative_no_rows", toy, model).await;
}

#[tokio::test]
async fn a_long_result_is_said_to_be_cut() {
    let all = "SELECT name FROM towers";
    let rows = ["Varn", "Holm", "Skarv", "Ness"];
    let sources: [&[&str]; 4] = [&["towers:1"], &["towers:2"], &["towers:3"], &["towers:4"]];
    let rows = rows.iter().zip(sources).map(|(name, source)| (vec![json!(name)], source));
    let toy = towers().with_result(all, &["name"], rows.collect()).cut(all);
    let model = Script::new([
        ("pike_l2/sql", r#"{"sql": "SELECT name FROM towers", "reason": ""}"#),
        ("pike_l2/computed", r#"{"rationale": "", "answer": "Varn, Holm"}"#),
    ]);
    let pike = PikeL2 {
        quantitative: Quantitative { rows: 2, tables: 1, ..Quantitative::default() },
        ..of(Reasoning::Quantitative)
    };
    let run = Run { question: QUESTION, knowledge: Arc::new(toy), ..Run::new(model) };
    golden("pike_l2/quantitative_cut", &pike, run).await;
}

#[tokio::test]
async fn a_result_that_answers_something_else_is_bridged() {
    let model = Script::new([
        WRITTEN,
        ("pike_l2/computed", NOTHING),
        BRIDGED[0],
        BRIDGED[1],
        BRIDGED[2],
        BRIDGED[3],
    ]);
    run("pike_l2/quantitative_irrelevant", towers(), model).await;
}

#[tokio::test]
async fn a_spent_budget_reads_the_result_with_what_is_kept_back() {
    let model = Script::new([WRITTEN, TWO]);
    let budget = Budget { calls: Some(2), ..Budget::default() };
    let run = Run { question: QUESTION, knowledge: Arc::new(towers()), budget, ..Run::new(model) };
    golden("pike_l2/quantitative_spent_budget", &of(Reasoning::Quantitative), run).await;
}

const LIST_PLAN: (&str, &str) = (
    "pike_l2/plan_count",
    r#"{"thinking": "", "things": "towers", "queries": ["towers that opened", " "],
     "question": "Did the {thing} open before 1920?", "operation": "count"}"#,
);
const NO_LIST: (&str, &str) = ("pike_l2/plan_count", r#"{"things": "", "operation": "count"}"#);

fn harbour() -> Toy {
    Toy::of(&[
        ("varn", "Varn tower", "The Varn tower opened in 1911, before others.", &[]),
        ("holm", "Holm tower", "The Holm tower opened in 1920.", &[]),
        ("both", "Towers", "Towers opened before 1920: the Varn tower.", &[]),
    ])
}

fn cell(answer: &'static str) -> (&'static str, &'static str) {
    let yes = r#"{"rationale": "1", "answer": "yes"}"#;
    let no = r#"{"rationale": "1", "answer": "no"}"#;
    ("pike_l2/cell", if answer == "yes" { yes } else { no })
}

#[tokio::test]
async fn without_a_table_the_things_are_listed_looked_up_and_counted() {
    let things =
        r#"{"thinking": "", "things": ["Varn tower", "The Holm Tower", "varn tower", ""]}"#;
    let model = Script::new([
        LIST_PLAN,
        ("pike_l2/list", things),
        cell("yes"),
        cell("no"),
        ("pike_l2/counted", r#"{"rationale": "One of two.", "answer": "1"}"#),
    ]);
    run("pike_l2/quantitative_listed", harbour(), Arc::clone(&model)).await;
    let shown = &model.shown("pike_l2/counted")[0];
    assert!(shown.contains("Varn tower | yes\nThe Holm Tower | no\n"), "{shown}");
    assert!(shown.contains("Result (count of yes): 1\nCoverage: 2 towers listed from 3 of 3"));
}

#[tokio::test]
async fn every_listed_thing_counts_where_no_question_is_asked_of_it() {
    let every = r#"{"things": "towers", "queries": [], "question": "", "operation": "count"}"#;
    let (things, chatter) = (r#"{"things": ["Varn tower", "Holm tower"]}"#, "Two, I think.");
    let model = Script::new([
        (
            "pike_l2/plan_count",
            r#"{"things": "towers", "question": "Is it open?", "operation": "count"}"#,
        ),
        ("pike_l2/plan_count", every),
        ("pike_l2/list", things),
        ("pike_l2/counted", chatter),
        ("pike_l2/counted", chatter),
        ("pike_l2/counted", chatter),
    ]);
    run("pike_l2/quantitative_listed_all", harbour(), model).await;
}

#[tokio::test]
async fn nothing_to_list_is_bridged_and_said_to_be_read_from_a_few_passages() {
    let two = r#"{"rationale": "Both are named.", "answer": "2"}"#;
    let model = Script::new([
        LIST_PLAN,
        ("pike_l2/list", r#"{"things": []}"#),
        ("kar3/propose", r#"{"sub_questions": ["towers opened before 1920"]}"#),
        ("kar3/select_chunk", FIRST),
        ("kar3/propose", ENOUGH),
        ("kar3/answer", two),
    ]);
    run("pike_l2/quantitative_by_eye", harbour(), model).await;
}

#[tokio::test]
async fn a_how_many_question_that_is_answered_with_a_name_has_no_answer() {
    let bridged = |answer: &'static str| {
        Script::new([
            NO_LIST,
            ("kar3/propose", r#"{"sub_questions": ["towers opened before 1920"]}"#),
            ("kar3/select_chunk", FIRST),
            ("kar3/propose", ENOUGH),
            ("kar3/answer", answer),
        ])
    };
    let name = bridged(r#"{"rationale": "It is named.", "answer": "Varn tower"}"#);
    run("pike_l2/quantitative_not_a_number", harbour(), name).await;
    let number = bridged(r#"{"rationale": "It is named.", "answer": "one of them"}"#);
    run("pike_l2/quantitative_a_number_in_words", harbour(), number).await;
}

#[tokio::test]
async fn a_count_that_is_read_as_no_number_is_given_as_it_was_computed() {
    let model = Script::new([
        LIST_PLAN,
        ("pike_l2/list", r#"{"things": ["Varn tower", "Holm tower"]}"#),
        cell("yes"),
        cell("no"),
        ("pike_l2/counted", r#"{"rationale": "There are some.", "answer": "Several"}"#),
    ]);
    run("pike_l2/quantitative_several", harbour(), model).await;
}

#[tokio::test]
async fn listing_goes_on_until_two_rounds_add_nothing() {
    let towers: Vec<String> = (1..=6).map(|n| format!("Tower {n} opened early.")).collect();
    let ids = ["a", "b", "c", "d", "e", "f"];
    let documents: Vec<(&str, &str, &str, &[&str])> =
        ids.iter().zip(&towers).map(|(id, text)| (*id, "Towers", text.as_str(), &[][..])).collect();
    let every = r#"{"things": "towers", "queries": [], "question": "", "operation": "count"}"#;
    let listed = |things: &'static str| ("pike_l2/list", things);
    let model = Script::new([
        ("pike_l2/plan_count", every),
        listed(r#"{"things": ["Tower 1"]}"#),
        listed(r#"{"things": []}"#),
        listed(r#"{"things": ["tower 1", "Tower 3"]}"#),
        listed(r#"{"things": []}"#),
        listed(r#"{"things": ["Tower 3"]}"#),
        ("pike_l2/counted", r#"{"rationale": "Two.", "answer": "2"}"#),
    ]);
    let quantitative = Quantitative { chunks: 1, group: 1, ..Quantitative::default() };
    let strategy = PikeL2 { quantitative, ..of(Reasoning::Quantitative) };
    let question = "How many towers opened early?";
    let run = Run { question, knowledge: Arc::new(Toy::of(&documents)), ..Run::new(model) };
    golden("pike_l2/quantitative_rounds", &strategy, run).await;
}

const ZERO: &str = "SELECT COUNT(*) AS n FROM towers WHERE name = 'varne'";

#[tokio::test]
async fn a_count_of_nothing_under_a_text_filter_is_written_again_once_and_enforced() {
    let values = "SELECT DISTINCT \"name\" FROM \"towers\" LIMIT 500";
    let one = "SELECT COUNT(*) AS n FROM towers WHERE name = 'Varn'";
    let toy = || {
        let names = ["Ness", "Varn", "Holm"].map(|name| (vec![json!(name)], &[][..])).to_vec();
        towers()
            .with_result(ZERO, &["n"], vec![(vec![json!(0)], &[])])
            .with_result(values, &["name"], names)
            .with_result(one, &["n"], vec![(vec![json!(1)], &["towers:1"])])
    };
    let zero = (
        "pike_l2/sql",
        r#"{"reason": "", "sql": "SELECT COUNT(*) AS n FROM towers WHERE name = 'varne'"}"#,
    );
    let right = (
        "pike_l2/sql",
        r#"{"reason": "", "sql": "SELECT COUNT(*) AS n FROM towers WHERE name = 'Varn'"}"#,
    );
    run("pike_l2/quantitative_counted_again", toy(), Script::new([zero, right, TWO])).await;
    run("pike_l2/quantitative_zero_stands", toy(), Script::new([zero, zero, TWO])).await;
    let none = ("pike_l2/sql", r#"{"reason": "It is right.", "sql": ""}"#);
    run("pike_l2/quantitative_zero_unchanged", toy(), Script::new([zero, none, TWO])).await;
}
