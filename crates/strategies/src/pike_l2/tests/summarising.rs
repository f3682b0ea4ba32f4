//! Summarising questions.
use super::*;

const QUESTION: &str = "What is known about the Varn lighthouse?";
const COMBINED: (&str, &str) = (
    "pike_l2/combine",
    r#"{"rationale": "Both notes.", "answer": "A tower on a reef, by Thorn."}"#,
);
const REEF: (&str, &str) = (
    "pike_l2/summarise",
    r#"{"points": [{"point": "The Varn lighthouse stands on a reef.", "passages": [1]}]}"#,
);
const NONE: (&str, &str) = ("pike_l2/summarise", r#"{"points": []}"#);

fn report() -> std::sync::Arc<Toy> {
    let toy = Toy::of(&[
        ("one", "Report", "The Varn lighthouse stands on a reef.", &[]),
        ("two", "Report", "Its lamp was lit in 1911.", &[]),
        ("three", "Report", "The Varn lighthouse was drawn by Ilse Thorn.", &[]),
        ("four", "Letter", "The Varn lighthouse was lit in 1912, not before.", &[]),
        ("five", "Fish", "Cod are caught near the coast.", &[]),
    ]);
    std::sync::Arc::new(toy.with_section("report", "Varn", &["one", "two", "three"]))
}

fn pairs() -> PikeL2 {
    let summarising = Summarising { group: 2, ..Summarising::default() };
    PikeL2 { summarising, ..of(Reasoning::Summarising) }
}

#[tokio::test]
async fn whole_sections_are_read_in_groups_and_the_points_carry_the_citations() {
    let both = (
        "pike_l2/summarise",
        r#"{"points": [{"point": "It was lit in 1911, or in 1912.", "passages": [1, 2]}]}"#,
    );
    let model = Script::new([REEF, both, COMBINED]);
    let run = Run { question: QUESTION, knowledge: report(), ..Run::new(model) };
    golden("pike_l2/summarising", &pairs(), run).await;
}

#[tokio::test]
async fn a_group_that_holds_nothing_is_told() {
    let model = Script::new([REEF, NONE, COMBINED]);
    let run = Run { question: QUESTION, knowledge: report(), ..Run::new(model) };
    golden("pike_l2/summarising_an_idle_group", &pairs(), run).await;

    let model = Script::new([NONE, NONE]);
    let run = Run { question: QUESTION, knowledge: report(), ..Run::new(model) };
    golden("pike_l2/summarising_no_points", &pairs(), run).await;
}

#[tokio::test]
async fn a_point_of_a_passage_that_was_never_shown_is_asked_for_again() {
    let third = ("pike_l2/summarise", r#"{"points": [{"point": "A point.", "passages": [3]}]}"#);
    let unfounded = ("pike_l2/summarise", r#"{"points": [{"point": "A point.", "passages": []}]}"#);
    // The two groups run concurrently: each reply goes to the group whose turn it is.
    let model = Script::new([third, unfounded, REEF, COMBINED]);
    let run = Run { question: QUESTION, knowledge: report(), ..Run::new(model) };
    golden("pike_l2/summarising_malformed_then_repaired", &pairs(), run).await;
}

#[tokio::test]
async fn more_than_can_be_read_is_told() {
    let summarising = Summarising { max_chunks: 2, ..Summarising::default() };
    let pike = PikeL2 { summarising, ..of(Reasoning::Summarising) };
    let run =
        Run { question: QUESTION, knowledge: report(), ..Run::new(Script::new([REEF, COMBINED])) };
    golden("pike_l2/summarising_too_much", &pike, run).await;
}

#[tokio::test]
async fn nothing_found_abstains_without_a_call() {
    let run = Run { question: QUESTION, knowledge: Toy::empty(), ..Run::new(Script::new([])) };
    golden("pike_l2/summarising_empty_search", &pairs(), run).await;
}

#[tokio::test]
async fn a_spent_budget_combines_what_was_read() {
    let budget = Budget { calls: Some(2), ..Budget::default() };
    let model = Script::new([REEF, COMBINED]);
    let run = Run { question: QUESTION, knowledge: report(), budget, ..Run::new(model) };
    golden("pike_l2/summarising_spent_budget", &pairs(), run).await;

    let budget = Budget { calls: Some(1), ..Budget::default() };
    let run = Run {
        question: QUESTION,
        knowledge: report(),
        budget,
        ..Run::new(Script::new([COMBINED]))
    };
    golden("pike_l2/summarising_last_call", &pairs(), run).await;
}
