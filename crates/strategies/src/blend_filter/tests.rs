use halma_core::Budget;
use halma_testkit::{Script, Timed, Toy};

use super::*;
use crate::golden::{Run, golden, timed};

const RECALL: &str = "blend_filter/recall";
const DRAFT: &str = "blend_filter/draft";
const FILTER: &str = "blend_filter/filter";
const ANSWER: &str = "blend_filter/answer";

const MEMORY: &str = r#"{"rationale": "A reef is a ridge below the water.", "answer": "reef"}"#;
const THORN: &str = r#"{"rationale": "Where Ilse Thorn was born is open.", "answer": ""}"#;
const FIRST: &str = r#"{"thinking": "the first", "passages": [1]}"#;
const NONE: &str = r#"{"thinking": "none", "passages": []}"#;
const NORWAY: &str = r#"{"rationale": "Her birthplace.", "answer": "Norway"}"#;

/// With a threshold that long queries can reach.
fn blend() -> BlendFilter {
    BlendFilter { min_score: Some(0.2), chunks: 2, ..BlendFilter::default() }
}

fn short(model: Arc<Script>) -> Run {
    Run { question: "Where was the architect of Varn born?", ..Run::new(model) }
}

#[tokio::test]
async fn three_queries_are_blended_and_filtered() {
    let model = Script::new([
        (RECALL, MEMORY),
        (DRAFT, THORN),
        (FILTER, FIRST),
        (FILTER, FIRST),
        (ANSWER, NORWAY),
    ]);
    golden("blend_filter/three_queries", &blend(), short(model)).await;
}

#[tokio::test]
async fn each_part_can_be_left_out() {
    let bare = BlendFilter { internal: false, external: false, filter: false, ..blend() };
    let model = Script::new([(ANSWER, NORWAY)]);
    golden("blend_filter/bare", &bare, short(model)).await;
    let outside = BlendFilter { external: true, ..bare.clone() };
    let model = Script::new([(DRAFT, THORN), (ANSWER, NORWAY)]);
    golden("blend_filter/external", &outside, short(model)).await;
    let inside = BlendFilter { internal: true, ..bare };
    let model = Script::new([(RECALL, MEMORY), (ANSWER, NORWAY)]);
    golden("blend_filter/internal", &inside, short(model)).await;
}

#[tokio::test]
async fn a_filter_that_keeps_nothing_is_overruled() {
    let model = Script::new([
        (RECALL, MEMORY),
        (DRAFT, THORN),
        (FILTER, NONE),
        (FILTER, NONE),
        (ANSWER, NORWAY),
    ]);
    golden("blend_filter/keeps_nothing", &blend(), short(model)).await;
}

#[tokio::test]
async fn a_passage_that_was_not_offered_is_ignored_and_without_a_choice_all_are_read() {
    let beyond = (FILTER, r#"{"thinking": "", "passages": [1, 9]}"#);
    let read = (ANSWER, r#"{"rationale": "Passage 1.", "answer": "Norway"}"#);
    let bare = BlendFilter { internal: false, external: false, ..blend() };
    golden("blend_filter/not_offered", &bare, short(Script::new([beyond, read]))).await;
    let bad = (FILTER, "the first");
    let model = Script::new([bad, bad, bad, read]);
    golden("blend_filter/always_malformed", &bare, short(model)).await;
}

#[tokio::test]
async fn an_empty_base_abstains_without_reading() {
    let run = Run { knowledge: Toy::empty(), ..short(Script::new([(RECALL, MEMORY)])) };
    golden("blend_filter/empty_base", &blend(), run).await;
}

#[tokio::test]
async fn a_spent_budget_reads_what_was_found() {
    for (calls, name) in [(1, "blend_filter/last_call"), (4, "blend_filter/spent_budget")] {
        let budget = Budget { calls: Some(calls), ..Budget::default() };
        let model = match calls {
            1 => Script::new([(ANSWER, NORWAY)]),
            _ => Script::new([(RECALL, MEMORY), (DRAFT, THORN), (FILTER, FIRST), (ANSWER, NORWAY)]),
        };
        golden(name, &blend(), Run { budget, ..short(model) }).await;
    }
}

#[tokio::test]
async fn an_empty_answer_abstains() {
    let model = Script::new([(ANSWER, THORN)]);
    let bare = BlendFilter { internal: false, external: false, filter: false, ..blend() };
    golden("blend_filter/abstains", &bare, short(model)).await;
}

#[tokio::test(start_paused = true)]
async fn first_answers_and_filters_run_side_by_side() {
    let model = Timed::new(&[
        (RECALL, &[MEMORY]),
        (DRAFT, &[THORN]),
        (FILTER, &[FIRST, FIRST]),
        (ANSWER, &[NORWAY]),
    ]);
    let at_once = Arc::clone(&model);
    let question = "Where was the architect of Varn born?";
    let (transcript, trips) = timed(&blend(), Run { question, ..Run::new(model) }).await;
    assert_eq!((trips, at_once.max_at_once(), at_once.left()), (3, 2, 0), "{transcript}");
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |table: &str| (ENTRY.build)(table.parse().unwrap()).err().unwrap();
    assert!(refused("chunks = 0").contains("`chunks`"));
    assert!(refused("k = 5").contains("`k`"));
}
