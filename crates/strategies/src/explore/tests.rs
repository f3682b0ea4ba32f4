//! Golden transcripts of exploring: its tools, replies that are not one call, its bounds.
use halma_core::{Budget, Edge, Layer};
use halma_testkit::{Script, Toy};
use serde_json::json;

use super::*;
use crate::golden::{Run, golden};

const STEP: &str = "explore/step";
const ANSWER: &str = "explore/answer";

const NORWAY: &str = r#"{"rationale": "Passage 1.", "answer": "Norway"}"#;
const VARN: &str = r#"{"plan": "Find the architect.", "notes": "", "tool": "search", "argument": "Varn lighthouse", "from": 0, "passages": []}"#;
const THORN: &str = r#"{"plan": "Find the country.", "notes": "Ilse Thorn built it [1].", "tool": "grep", "argument": "Ilse Thorn", "from": 0, "passages": []}"#;
const FINISH: &str = r#"{"plan": "", "notes": "She was born in Norway [2].", "tool": "answer", "argument": "Norway", "from": 0, "passages": [1, 2]}"#;

/// A call with nothing but its argument.
fn call(tool: &str, argument: &str) -> String {
    json!({ "tool": tool, "argument": argument, "from": 0 }).to_string()
}

fn strategy() -> Explore {
    Explore { hits: 2, ..Explore::default() }
}

/// A model that makes these calls.
fn model(replies: &[&str]) -> Arc<Script> {
    Script::with_failures(replies.iter().map(|reply| (STEP, Ok(*reply))).collect())
}

#[tokio::test]
async fn it_searches_matches_and_answers() {
    let model = model(&[VARN, THORN, FINISH]);
    golden("explore/answers", &strategy(), Run::new(Arc::<Script>::clone(&model))).await;
    let shown = model.shown(STEP);
    assert!(shown[2].contains("Turn 2: grep [Ilse Thorn]\n[1] Varn"), "{}", shown[2]);
    assert!(shown[2].contains("Notes: Ilse Thorn built it [1]."), "{}", shown[2]);
}

#[tokio::test]
async fn every_tool_shows_something() {
    let open = r#"{"tool": "open", "argument": "history.md", "from": 1}"#;
    let replies = [
        call("search", "Varn lighthouse"),
        call("open", "history.md"),
        open.to_owned(),
        call("open", "[1]"),
        call("around", "[1]"),
        call("neighbours", "1"),
        call("neighbours", "e-thorn"),
        call("sql", "SELECT * FROM towers LIMIT 5"),
        call("answer", "Norway"),
    ];
    let replies: Vec<&str> = replies.iter().map(String::as_str).collect();
    let model = model(&replies);
    let knowledge = Toy::of(&[
        (
            "varn",
            "Varn lighthouse",
            "The Varn lighthouse stands on a reef. It opened in 1911.",
            &[],
        ),
        ("thorn", "Varn lighthouse", "Its architect was Ilse Thorn, born in Norway.", &[]),
    ])
    .with_section("history", "History", &["varn", "thorn"])
    .with_node(Layer::Entity, "e-thorn", ("Ilse Thorn", "An architect."), "")
    .with_edges(&[("thorn", Edge::Mentions, "e-thorn"), ("varn", Edge::Next, "thorn")])
    .with_table(
        "towers",
        &[("name", "text"), ("height", "integer")],
        vec![vec![json!("Varn"), json!(31)]],
    );
    let run = Run { knowledge: Arc::new(knowledge), ..Run::new(Arc::<Script>::clone(&model)) };
    let strategy = Explore { characters: 60, ..strategy() };
    golden("explore/tools", &strategy, run).await;
    let shown = model.shown(STEP);
    assert!(shown[0].contains("- towers (name text, height integer)"), "{}", shown[0]);
    assert!(shown[2].contains("(0 to 1 of 2 passages)"), "{}", shown[2]);
    assert!(shown[8].contains("name, height\n[\"Varn\",31]\n(1 rows)"), "{}", shown[8]);
}

#[tokio::test]
async fn a_reply_that_is_not_one_call_costs_a_turn_and_is_shown_what_is_wrong() {
    let two = format!("{}\n{}", call("search", "Varn"), call("grep", "Thorn"));
    let (unknown, expression) = (call("dance", "Varn"), call("grep", "(Thorn"));
    let (table, number) = (call("sql", "DROP TABLE x"), call("around", "[9]"));
    let (empty, document) = (call("search", " "), call("open", "nothing.md"));
    let replies = [
        "I will now search for the Varn lighthouse.",
        &two,
        r#"{"plan": "Find it", "tool": "sea"#,
        &unknown,
        FINISH,
        &expression,
        &table,
        &number,
        &empty,
        &document,
        VARN,
        FINISH,
    ];
    let model = model(&replies);
    golden("explore/bad_replies", &strategy(), Run::new(Arc::<Script>::clone(&model))).await;
    let shown = model.shown(STEP);
    for (turn, complaint) in [
        (1, "the reply is not a call: "),
        (2, "the reply has several calls"),
        (3, "the reply is not a call: "),
        (4, "refused: there is no tool `dance`"),
        (5, "nothing has been looked up yet"),
        (6, "unclosed group"),
        (7, "refused: "),
        (8, "holds no `[9]`"),
        (9, "`argument` is empty"),
        (10, "holds no `nothing.md`"),
    ] {
        assert!(shown[turn].contains(complaint), "{turn}: {}", shown[turn]);
    }
}

#[tokio::test]
async fn the_same_call_is_answered_by_where_it_was_made() {
    let model = model(&[VARN, VARN, VARN, THORN, FINISH]);
    golden("explore/repeats", &strategy(), Run::new(Arc::<Script>::clone(&model))).await;
    assert!(model.shown(STEP)[2].contains("already done in turn 1"));
}

#[tokio::test]
async fn a_model_that_never_answers_is_stopped_after_the_turns_however_often_it_calls() {
    let replies: Vec<String> = (0..999).map(|i| call("search", &format!("Varn {i}"))).collect();
    let mut steps: Vec<(&str, std::result::Result<&str, _>)> =
        replies.iter().take(30).map(|reply| (STEP, Ok(reply.as_str()))).collect();
    steps.push((ANSWER, Ok(NORWAY)));
    let model = Script::with_failures(steps);
    let explore = Explore { n: 30, ..strategy() };
    golden("explore/never_answers", &explore, Run::new(Arc::<Script>::clone(&model))).await;
    let longest = model.shown(STEP).iter().map(String::len).max().unwrap();
    assert!(longest < 5_000, "{longest}");
}

#[tokio::test]
async fn a_spent_budget_closes_with_what_was_collected() {
    let budget = Budget { calls: Some(3), ..Budget::default() };
    let model = Script::new([(STEP, VARN), (STEP, THORN), (ANSWER, NORWAY)]);
    golden("explore/spent_budget", &strategy(), Run { budget, ..Run::new(model) }).await;
}

#[tokio::test]
async fn prose_in_every_turn_reads_the_passages_near_the_question() {
    let prose = (STEP, "Let me think.");
    let model = Script::new([prose, prose, (ANSWER, NORWAY)]);
    golden("explore/prose", &Explore { n: 2, ..strategy() }, Run::new(model)).await;
}

#[tokio::test]
async fn empty_replies_are_asked_for_again_and_end_no_question() {
    let empty = (STEP, "");
    let model = Script::new([empty, empty, empty, (STEP, VARN), (STEP, FINISH)]);
    golden("explore/empty_replies", &strategy(), Run::new(model)).await;
}

#[tokio::test]
async fn an_empty_base_abstains_without_reading() {
    let grep = call("grep", "Thorn");
    let model = Script::new([(STEP, VARN), (STEP, grep.as_str())]);
    let run = Run { knowledge: Toy::empty(), ..Run::new(model) };
    golden("explore/empty_base", &Explore { n: 2, ..strategy() }, run).await;
}

#[tokio::test]
async fn a_long_document_never_fills_a_prompt() {
    let text = "All work and no play. ".repeat(100_000);
    let knowledge = Toy::of(&[("long", "Long", &text, &[])]);
    let (open, grep) = (call("open", "long.md"), call("grep", "no play"));
    let model = Script::new([
        (STEP, open.as_str()),
        (STEP, grep.as_str()),
        (STEP, r#"{"tool": "answer", "argument": "play", "passages": [1]}"#),
    ]);
    let run = Run { knowledge: Arc::new(knowledge), ..Run::new(Arc::<Script>::clone(&model)) };
    let (question, against) =
        (run.question, halma_testkit::Check::new(crate::PROMPTS, run.model, run.knowledge));
    halma_testkit::check(&strategy(), question, against).await;
    let longest = model.shown(STEP).iter().map(String::len).max().unwrap();
    assert!(longest < 10_000, "{longest}");
}

#[test]
fn results_of_any_length_are_cut_between_characters() {
    for text in ["", "é", "ééé", "éééé"] {
        assert!(super::work::cut(text, 3).chars().count() <= 4);
    }
    assert_eq!(super::work::cut("éééé", 3), "ééé…");
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |table: &str| (ENTRY.build)(table.parse().unwrap()).err().unwrap();
    for key in ["n", "hits", "characters"] {
        assert!(refused(&format!("{key} = 0")).contains(&format!("`{key}`")));
    }
    assert!(refused("min_score = 2.0").contains("`min_score`"));
    assert!(refused("steps = 3").contains("`steps`"));
}
