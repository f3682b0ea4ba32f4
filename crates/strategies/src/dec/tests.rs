use std::sync::Arc;

use halma_core::Budget;
use halma_testkit::{Script, Timed, Toy};

use super::settings::Keywords;
use super::*;
use crate::golden::{Run, golden, timed};

const DECOMPOSE: &str = "dec/decompose";
const REWRITE: &str = "dec/rewrite";
const KEYWORDS: &str = "dec/keywords";
const ANSWER_ONE: &str = "dec/answer_one";
const ANSWER: &str = "dec/answer";
const READ: &str = "dec/read";

const PLAN: &str =
    r#"{"sub_questions": ["Who was the architect of the Varn lighthouse?", "Where was #1 born?"]}"#;
const VARN: &str = r#"{"keywords": ["Varn"]}"#;
const THORN: &str = r#"{"rationale": "Passage 1.", "answer": "Ilse Thorn"}"#;
const WHERE: &str =
    r##"{"dependency": "#1 is Ilse Thorn", "question": "Where was Ilse Thorn born?"}"##;
const NOTHING: &str = r#"{"rationale": "It is not told.", "answer": ""}"#;
const NORWAY: &str = r#"{"rationale": "Her birthplace.", "answer": "Norway"}"#;

/// Five lighthouses, of which the question means one, and two architects.
fn coast() -> Arc<Toy> {
    let lighthouse = "The lighthouse stands on a reef. Its architect was Per Moe.";
    Toy::new(&[
        ("alt", "Alt lighthouse", lighthouse, &[]),
        ("dorn", "Dorn lighthouse", lighthouse, &[]),
        ("keel", "Keel lighthouse", lighthouse, &[]),
        ("rund", "Rund lighthouse", lighthouse, &[]),
        ("varn", "Várn lighthouse", "The architect of this lighthouse was Ilse Thorn.", &[]),
        ("thorn", "Ilse Thorn", "Ilse Thorn was born in Norway in 1870.", &[]),
        ("moe", "Per Moe", "Per Moe was born in Denmark. He died in 1901.", &[]),
    ])
}

fn on_the_coast(model: Arc<Script>) -> Run {
    Run { knowledge: coast(), ..Run::new(model) }
}

fn dec() -> Dec {
    Dec::default()
}

#[tokio::test]
async fn the_chunk_with_the_keyword_is_kept_though_others_are_nearer() {
    let model = Script::new([
        (DECOMPOSE, PLAN),
        (KEYWORDS, VARN),
        (ANSWER_ONE, THORN),
        (REWRITE, WHERE),
        (ANSWER_ONE, NORWAY),
        (ANSWER, NORWAY),
    ]);
    golden("dec/two_hops", &dec(), on_the_coast(model)).await;
}

#[tokio::test]
async fn the_example_of_the_paper() {
    let knowledge = Toy::new(&[
        ("craigslist", "Craigslist", "Craigslist was founded by Craig Newmark in 1995.", &[]),
        ("newmark", "Craig Newmark", "Craig Newmark was born on December 6, 1952.", &[]),
    ]);
    let plan = r#"{"sub_questions": ["Who was the founder of craigslist?", "When was him born?"]}"#;
    let newmark = r#"{"rationale": "1", "answer": "Craig Newmark"}"#;
    let when = r#"{"dependency": "him", "question": "When was Craig Newmark born?"}"#;
    let born = r#"{"rationale": "1", "answer": "December 6, 1952"}"#;
    let model = Script::new([
        (DECOMPOSE, plan),
        (ANSWER_ONE, newmark),
        (REWRITE, when),
        (ANSWER_ONE, born),
        (ANSWER, born),
    ]);
    let question = "When was the founder of craigslist born?";
    golden("dec/paper", &dec(), Run { question, knowledge, ..Run::new(model) }).await;
}

#[tokio::test]
async fn keywords_that_the_question_does_not_hold_are_dropped() {
    let made_up = r#"{"keywords": ["Norway", "light", ""]}"#;
    let model =
        Script::new([(DECOMPOSE, r#"{"sub_questions": []}"#), (KEYWORDS, made_up), (READ, NORWAY)]);
    let question = "Who was the architect of the Varn lighthouse?";
    golden("dec/invented_keywords", &dec(), Run { question, ..on_the_coast(model) }).await;
}

#[tokio::test]
async fn without_keywords_the_three_nearest_are_read() {
    let model = Script::new([
        (DECOMPOSE, PLAN),
        (ANSWER_ONE, NOTHING),
        (REWRITE, WHERE),
        (ANSWER_ONE, NORWAY),
        (ANSWER, NORWAY),
    ]);
    let dec = Dec { keywords: Keywords::Off, ..dec() };
    golden("dec/without_keywords", &dec, on_the_coast(model)).await;
}

#[tokio::test]
async fn without_rewriting_references_stay_open() {
    let model = Script::new([
        (DECOMPOSE, PLAN),
        (KEYWORDS, VARN),
        (KEYWORDS, r#"{"keywords": ["born"]}"#),
        (ANSWER_ONE, THORN),
        (ANSWER_ONE, NOTHING),
        (ANSWER, NOTHING),
    ]);
    let dec = Dec { rewrite: false, backup: 1, ..dec() };
    golden("dec/without_rewriting", &dec, on_the_coast(model)).await;
}

const BORN: &str = r#"{"dependency": "Ilse Thorn", "question": "Where was Ilse Thorn born?"}"#;

#[tokio::test]
async fn without_a_plan_the_question_is_rewritten_by_the_answers() {
    let same =
        r#"{"dependency": null, "question": "Where was the architect of the lighthouse born?"}"#;
    let model = Script::new([
        (ANSWER_ONE, THORN),
        (REWRITE, BORN),
        (ANSWER_ONE, NORWAY),
        (REWRITE, same),
        (ANSWER, NORWAY),
    ]);
    let dec = Dec { decompose: false, keywords: Keywords::Off, ..dec() };
    let question = "Where was the architect of the lighthouse born?";
    golden("dec/without_a_plan", &dec, Run { question, ..on_the_coast(model) }).await;
}

#[tokio::test]
async fn without_a_plan_a_repeated_question_ends_the_search() {
    let again = r#"{"dependency": null, "question": "where was Ilse Thorn born"}"#;
    let model = Script::new([
        (ANSWER_ONE, NOTHING),
        (REWRITE, BORN),
        (ANSWER_ONE, NORWAY),
        (REWRITE, again),
        (ANSWER, NORWAY),
    ]);
    let dec = Dec { decompose: false, keywords: Keywords::Off, ..dec() };
    let question = "Where was the architect of the lighthouse born?";
    golden("dec/asked_again", &dec, Run { question, ..on_the_coast(model) }).await;
}

#[tokio::test]
async fn without_a_plan_the_question_is_rewritten_four_times_at_most() {
    let wording = |i| format!(r#"{{"dependency": null, "question": "Who was born in {i}?"}}"#);
    let wordings: Vec<String> = (1..=4).map(wording).collect();
    let mut steps = vec![(ANSWER_ONE, Ok(NORWAY))];
    for wording in &wordings {
        steps.extend([(REWRITE, Ok(wording.as_str())), (ANSWER_ONE, Ok(NOTHING))]);
    }
    steps.push((ANSWER, Ok(NORWAY)));
    let model = Script::with_failures(steps);
    let off = Keywords::Off;
    let dec = Dec { decompose: false, keywords: off, chunks_without_keywords: 1, ..dec() };
    let question = "Where was Ilse Thorn born?";
    golden("dec/never_stops", &dec, Run { question, ..on_the_coast(model) }).await;
}

#[tokio::test]
async fn keywords_alone_keep_only_what_holds_them() {
    let model =
        Script::new([(DECOMPOSE, r#"{"sub_questions": []}"#), (KEYWORDS, VARN), (READ, THORN)]);
    let dec = Dec { keywords: Keywords::Only, ..dec() };
    let question = "Who was the architect of the Varn lighthouse?";
    golden("dec/keywords_only", &dec, Run { question, ..on_the_coast(model) }).await;
}

#[tokio::test]
async fn replies_that_stay_malformed_cost_their_part_only() {
    let chatter = "I think so.";
    let model = Script::new([
        (DECOMPOSE, PLAN),
        (KEYWORDS, chatter),
        (KEYWORDS, chatter),
        (KEYWORDS, chatter),
        (ANSWER_ONE, THORN),
        (REWRITE, chatter),
        (REWRITE, chatter),
        (REWRITE, chatter),
        (ANSWER_ONE, NORWAY),
        (ANSWER, chatter),
        (ANSWER, chatter),
        (ANSWER, chatter),
    ]);
    golden("dec/parts_malformed", &dec(), on_the_coast(model)).await;
}

#[tokio::test]
async fn without_plan_and_rewriting_the_question_is_answered_from_its_passages() {
    let model = Script::new([(KEYWORDS, VARN), (READ, THORN)]);
    let dec = Dec { decompose: false, rewrite: false, ..dec() };
    let question = "Who was the architect of the Varn lighthouse?";
    golden("dec/whole_question", &dec, Run { question, ..on_the_coast(model) }).await;
}

#[tokio::test]
async fn references_that_lead_forward_nowhere_and_in_a_circle_are_repaired() {
    let plan = r#"{"sub_questions": ["Where was #2 born?", "Who was the architect of the lighthouse?", "Is #3 or #9 on a reef?"]}"#;
    let reef = r#"{"dependency": null, "question": "Is #9 of #1 on a reef?"}"#;
    let model = Script::new([
        (DECOMPOSE, plan),
        (ANSWER_ONE, THORN),
        (REWRITE, WHERE),
        (ANSWER_ONE, NORWAY),
        (REWRITE, reef),
        (ANSWER_ONE, NOTHING),
        (ANSWER, NORWAY),
    ]);
    let dec = Dec { keywords: Keywords::Off, ..dec() };
    golden("dec/bad_references", &dec, on_the_coast(model)).await;
}

#[tokio::test]
async fn forty_sub_questions_are_cut() {
    let forty: Vec<String> =
        (1..=40).map(|i| format!("\"Where was Ilse Thorn of number {i} born?\"")).collect();
    let plan = format!("{{\"sub_questions\": [{}]}}", forty.join(", "));
    let same = r#"{"dependency": null, "question": "Where was Ilse Thorn of number 1 born?"}"#;
    let model = Script::with_failures(vec![
        (DECOMPOSE, Ok(plan.as_str())),
        (ANSWER_ONE, Ok(NORWAY)),
        (REWRITE, Ok(same)),
        (ANSWER, Ok(NORWAY)),
    ]);
    let dec = Dec { max_sub_questions: 2, keywords: Keywords::Off, ..dec() };
    golden("dec/forty", &dec, on_the_coast(model)).await;
}

#[tokio::test]
async fn a_plan_of_the_question_alone_is_no_plan() {
    let question = "Where was Ilse Thorn born?";
    let plan = r#"{"sub_questions": ["Where was Ilse Thorn born?", "where was ilse thorn born"]}"#;
    let model = Script::new([(DECOMPOSE, plan), (READ, NORWAY)]);
    let dec = Dec { keywords: Keywords::Off, ..dec() };
    golden("dec/the_same_question", &dec, Run { question, ..on_the_coast(model) }).await;
}

#[tokio::test]
async fn where_no_step_has_an_answer_it_abstains() {
    let model = Script::new([
        (DECOMPOSE, PLAN),
        (ANSWER_ONE, NOTHING),
        (REWRITE, WHERE),
        (ANSWER_ONE, NOTHING),
    ]);
    let dec = Dec { keywords: Keywords::Off, ..dec() };
    golden("dec/never_enough", &dec, on_the_coast(model)).await;
}

#[tokio::test]
async fn an_empty_base_abstains_without_reading() {
    let model = Script::new([(DECOMPOSE, PLAN), (REWRITE, WHERE)]);
    let run = Run { knowledge: Toy::empty(), ..Run::new(model) };
    golden("dec/empty_base", &dec(), run).await;
}

#[tokio::test]
async fn a_spent_budget_closes_with_the_history() {
    let budget = Budget { calls: Some(4), ..Budget::default() };
    let model =
        Script::new([(DECOMPOSE, PLAN), (KEYWORDS, VARN), (ANSWER_ONE, THORN), (ANSWER, NOTHING)]);
    golden("dec/spent_budget", &dec(), Run { budget, ..on_the_coast(model) }).await;
}

#[tokio::test]
async fn the_last_call_of_the_budget_reads_the_whole_question() {
    for (calls, name) in [(1, "dec/last_call"), (2, "dec/last_two_calls")] {
        let budget = Budget { calls: Some(calls), ..Budget::default() };
        let model = match calls {
            1 => Script::new([(READ, NORWAY)]),
            _ => Script::new([(DECOMPOSE, PLAN), (READ, NORWAY)]),
        };
        let question = "Where was the architect Ilse Thorn born?";
        golden(name, &dec(), Run { question, budget, ..on_the_coast(model) }).await;
    }
}

#[tokio::test]
async fn a_plan_that_stays_malformed_leaves_the_question_whole() {
    let blank = (DECOMPOSE, r#"{"sub_questions": [" "]}"#);
    let model = Script::new([blank, blank, blank, (READ, NORWAY)]);
    golden("dec/always_malformed", &dec(), on_the_coast(model)).await;
}

#[tokio::test(start_paused = true)]
async fn without_rewriting_no_step_waits_for_another() {
    for (rewrite, wanted) in [(false, 3), (true, 5)] {
        let model = Timed::new(&[
            (DECOMPOSE, &[PLAN]),
            (ANSWER_ONE, &[THORN, NORWAY]),
            (REWRITE, &[WHERE]),
            (ANSWER, &[NORWAY]),
        ]);
        let dec = Dec { rewrite, keywords: Keywords::Off, ..dec() };
        let run = Run { knowledge: coast(), ..Run::new(model) };
        let (transcript, trips) = timed(&dec, run).await;
        assert_eq!(trips, wanted, "{transcript}");
    }
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |table: &str| (ENTRY.build)(table.parse().unwrap()).err().unwrap();
    assert!(refused("backup = 0").contains("`backup`"));
    assert!(refused("min_score = 2.0").contains("`min_score`"));
    assert!(refused("keyword = true").contains("`keyword`"));
    assert!(refused("keywords = \"some\"").contains("`keywords`"));
    let built = |table: &str| (ENTRY.build)(table.parse().unwrap()).unwrap().settings();
    assert_eq!(built("keywords = false")["keywords"], "off");
    assert_eq!(built("keywords = \"only\"")["keywords"], "only");
}
