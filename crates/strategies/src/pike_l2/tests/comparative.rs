//! Comparative questions.
use super::*;

const QUESTION: &str = "Which opened first, the Varn lighthouse or the Holm lighthouse?";
const PLAN: &str = r#"{"cells": [
 {"thing": "Varn lighthouse", "attribute": "opening", "question": "When did the Varn lighthouse open?"},
 {"thing": "Holm lighthouse", "attribute": "opening", "question": "When did the Holm lighthouse open?"}]}"#;
const VARN: &str = r#"{"rationale": "1", "answer": "Varn lighthouse"}"#;

fn towers() -> std::sync::Arc<Toy> {
    Toy::new(&[
        ("varn", "Varn lighthouse", "The Varn lighthouse opened in 1911. Gulls nest on it.", &[]),
        (
            "holm",
            "Holm lighthouse",
            "The Holm lighthouse opened in 1920. It has two galleries.",
            &[],
        ),
        ("letter", "A letter", "The Holm lighthouse opened in 1909, I am told.", &[]),
    ])
}

fn year(year: &'static str) -> (&'static str, &'static str) {
    let reply = match year {
        "1911" => r#"{"rationale": "1", "answer": "1911"}"#,
        "1920" => r#"{"rationale": "1", "answer": "1920"}"#,
        "both" => r#"{"rationale": "1 and 2 differ.", "answer": "1909 [1] or 1920 [2]"}"#,
        _ => r#"{"rationale": "none says", "answer": ""}"#,
    };
    ("pike_l2/cell", reply)
}

#[tokio::test]
async fn every_cell_is_looked_up_and_cited() {
    let model = Script::new([
        ("pike_l2/compare", PLAN),
        year("1911"),
        year("1920"),
        ("pike_l2/compared", VARN),
    ]);
    let pike = PikeL2 {
        comparative: Comparative { chunks: 1, ..Comparative::default() },
        ..of(Reasoning::Comparative)
    };
    let run = Run { question: QUESTION, knowledge: towers(), ..Run::new(model) };
    golden("pike_l2/comparative", &pike, run).await;
}

#[tokio::test]
async fn passages_that_contradict_each_other_are_both_cited() {
    let undecided = r#"{"rationale": "The Holm lighthouse opened in 1909 or 1920.", "answer": ""}"#;
    let model = Script::new([
        ("pike_l2/compare", PLAN),
        year("1911"),
        year("both"),
        ("pike_l2/compared", undecided),
        ("kar3/propose", ENOUGH),
        NO_CHUNK,
        ("kar3/answer", undecided),
    ]);
    let run = Run { question: QUESTION, knowledge: towers(), ..Run::new(model) };
    golden("pike_l2/comparative_contradiction", &of(Reasoning::Comparative), run).await;
}

#[tokio::test]
async fn a_cell_that_no_passage_states_is_looked_up_in_hops() {
    let plan = r#"{"cells": [
     {"thing": "Varn lighthouse", "attribute": "birth", "question": "In which country was the architect of the Varn lighthouse born?"},
     {"thing": "Reefs", "attribute": "kind", "question": "What is a reef?"}]}"#;
    let model = Script::new([
        ("pike_l2/compare", plan),
        year("none"),
        ("pike_l2/cell", r#"{"rationale": "1", "answer": "a ridge"}"#),
        ("kar3/propose", WHO),
        ("kar3/select", FIRST),
        ("kar3/propose", WHERE),
        ("kar3/select", FIRST),
        ("pike_l2/cell", NORWAY),
        ("pike_l2/compared", VARN),
    ]);
    let pike = PikeL2 {
        comparative: Comparative { min_score: Some(0.4), ..Comparative::default() },
        ..of(Reasoning::Comparative)
    };
    golden("pike_l2/comparative_hops", &pike, Run::new(model)).await;
}

#[tokio::test]
async fn a_table_that_does_not_answer_is_bridged() {
    let model = Script::new([
        ("pike_l2/compare", PLAN),
        year("1911"),
        year("none"),
        ("kar3/propose", ENOUGH),
        NO_CHUNK,
        ("pike_l2/compared", NOTHING),
        ("kar3/propose", ENOUGH),
        NO_CHUNK,
        ("kar3/answer", VARN),
    ]);
    let run = Run { question: QUESTION, knowledge: towers(), ..Run::new(model) };
    golden("pike_l2/comparative_bridged", &of(Reasoning::Comparative), run).await;
}

#[tokio::test]
async fn one_thing_is_bridged() {
    let one =
        r#"{"cells": [{"thing": "Varn lighthouse", "attribute": "opening", "question": "?"}]}"#;
    let model = Script::new([
        ("pike_l2/compare", one),
        ("kar3/propose", ENOUGH),
        NO_CHUNK,
        ("kar3/answer", NOTHING),
    ]);
    let run = Run { question: QUESTION, knowledge: towers(), ..Run::new(model) };
    golden("pike_l2/comparative_one_thing", &of(Reasoning::Comparative), run).await;
}

#[tokio::test]
async fn of_forty_things_some_are_compared_and_that_is_told() {
    let cell = |i: usize| {
        format!(
            r#"{{"thing": "Tower {i}", "attribute": "opening", "question": "When did tower {i} open?"}}"#
        )
    };
    let cells: Vec<String> = (1..=40).map(cell).collect();
    let plan = format!(r#"{{"cells": [{}]}}"#, cells.join(", "));
    let model = Script::with_failures(vec![
        ("pike_l2/compare", Ok(plan.as_str())),
        ("kar3/propose", Ok(ENOUGH)),
        (NO_CHUNK.0, Ok(NO_CHUNK.1)),
        ("kar3/answer", Ok(NOTHING)),
    ]);
    let pike = PikeL2 {
        comparative: Comparative { things: 3, hops: 0, ..Comparative::default() },
        ..of(Reasoning::Comparative)
    };
    let run = Run { question: QUESTION, knowledge: towers(), ..Run::new(model) };
    golden("pike_l2/comparative_forty_things", &pike, run).await;
}

#[tokio::test]
async fn a_cell_that_asks_the_whole_question_asks_for_its_own_part() {
    let whole = format!(
        r#"{{"cells": [
         {{"thing": "Varn lighthouse", "attribute": "opening", "question": "{QUESTION}"}},
         {{"thing": "Holm lighthouse", "attribute": "opening"}},
         {{"thing": "Holm lighthouse", "attribute": "opening", "question": "Again?"}}]}}"#
    );
    let model = Script::with_failures(vec![
        ("pike_l2/compare", Ok(whole.as_str())),
        ("pike_l2/cell", Ok(year("1911").1)),
        ("pike_l2/cell", Ok(year("1920").1)),
        ("pike_l2/compared", Ok(VARN)),
    ]);
    let run = Run { question: QUESTION, knowledge: towers(), ..Run::new(model) };
    golden("pike_l2/comparative_whole_question", &of(Reasoning::Comparative), run).await;
}

#[tokio::test]
async fn a_plan_that_never_fits_is_bridged() {
    let unnamed = r#"{"cells": [{"thing": " ", "attribute": "x", "question": "x of A?"}]}"#;
    let model = Script::new([
        ("pike_l2/compare", "I would compare both."),
        ("pike_l2/compare", r#"{"things": ["A", "B"]}"#),
        ("pike_l2/compare", unnamed),
        ("kar3/propose", ENOUGH),
        NO_CHUNK,
        ("kar3/answer", NOTHING),
    ]);
    let run = Run { question: QUESTION, knowledge: towers(), ..Run::new(model) };
    golden("pike_l2/comparative_always_malformed", &of(Reasoning::Comparative), run).await;
}

#[tokio::test]
async fn a_spent_budget_compares_the_cells_that_are_there() {
    let model =
        Script::new([("pike_l2/compare", PLAN), year("1911"), ("pike_l2/compared", NOTHING)]);
    let budget = Budget { calls: Some(3), ..Budget::default() };
    let run = Run { question: QUESTION, knowledge: towers(), budget, ..Run::new(model) };
    golden("pike_l2/comparative_spent_budget", &of(Reasoning::Comparative), run).await;
}
