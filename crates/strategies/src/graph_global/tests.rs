//! Golden transcripts of the global graph search, and its settings.
use halma_core::{Budget, Edge};
use halma_testkit::{Script, Toy};

use super::*;
use crate::golden::{Run, golden};

const QUESTION: &str = "What do lighthouse builders share?";
const TWO: (&str, &str) = (
    "graph_global/rate",
    r#"{"points": [
 {"point": "Builders of harbours train in Norway.", "helpfulness": 0.4, "passages": [1]},
 {"point": "Reefs are dangerous.", "helpfulness": 0, "passages": [1]}]}"#,
);
const ONE: (&str, &str) = (
    "graph_global/rate",
    r#"{"points": [{"point": "Lighthouse builders know the reef.", "helpfulness": 0.9, "passages": [1]}]}"#,
);
const IDLE: (&str, &str) = ("graph_global/rate", r#"{"points": []}"#);
const COMBINED: (&str, &str) =
    ("graph_global/combine", r#"{"rationale": "Both.", "answer": "They know the sea."}"#);

fn communities() -> Arc<Toy> {
    let toy = Toy::of(&[
        ("varn", "Varn lighthouse", "The Varn lighthouse builders knew the reef.", &[]),
        ("thorn", "Ilse Thorn", "Builders such as Ilse Thorn trained in Norway.", &[]),
        ("cod", "Cod", "Cod are caught off Norway.", &[]),
    ])
    .with_entities(&[
        (("Varn lighthouse", ""), &["varn"]),
        (("Ilse Thorn", ""), &["thorn", "varn"]),
        (("Norway", ""), &["thorn", "cod"]),
    ])
    .with_communities(&[
        (("Builders", "Builders share a school in Norway."), &["Ilse Thorn", "Norway"]),
        (("Towers", "What lighthouse builders share is the reef."), &["Varn lighthouse"]),
        (("Sea", "All that lighthouse builders share."), &[]),
        (("Food", "Cod is eaten."), &["Norway"]),
    ])
    .with_edges(&[("community:Towers", Edge::MemberOf, "community:Sea")]);
    Arc::new(toy)
}

fn one_by_one() -> GraphGlobal {
    GraphGlobal { group: 1, cited: 1, ..GraphGlobal::default() }
}

fn run(model: Arc<Script>) -> Run {
    Run { question: QUESTION, knowledge: communities(), ..Run::new(model) }
}

#[tokio::test]
async fn the_most_helpful_points_come_first_and_lead_to_passages() {
    let model = Script::new([ONE, ONE, TWO, COMBINED]);
    golden("graph_global/map_reduce", &one_by_one(), run(model)).await;
}

#[tokio::test]
async fn reports_that_do_not_help_are_told() {
    let model = Script::new([IDLE, ONE, IDLE, COMBINED]);
    golden("graph_global/an_idle_group", &one_by_one(), run(model)).await;
    golden("graph_global/no_points", &one_by_one(), run(Script::new([IDLE, IDLE, IDLE]))).await;
}

#[tokio::test]
async fn a_report_that_was_never_shown_is_an_error_in_the_end() {
    let second = ("graph_global/rate", r#"{"points": [{"point": "So.", "passages": [9]}]}"#);
    let model = Script::new([second, second, second]);
    golden("graph_global/always_malformed", &GraphGlobal::default(), run(model)).await;
}

#[tokio::test]
async fn without_communities_it_reads_the_chunks_near_the_question() {
    let model = Script::new([("naive/answer", r#"{"rationale": "", "answer": "Ilse Thorn"}"#)]);
    let question = "Who was the architect of the Varn lighthouse?";
    golden("graph_global/no_communities", &one_by_one(), Run { question, ..Run::new(model) }).await;

    let run = Run { knowledge: Toy::empty(), ..Run::new(Script::new([])) };
    golden("graph_global/empty_base", &one_by_one(), run).await;
}

#[tokio::test]
async fn a_spent_budget_combines_what_was_read() {
    let budget = Budget { calls: Some(2), ..Budget::default() };
    let spent = Run { budget, ..run(Script::new([ONE, COMBINED])) };
    golden("graph_global/spent_budget", &one_by_one(), spent).await;

    let budget = Budget { calls: Some(1), ..Budget::default() };
    let last = Run { budget, ..run(Script::new([COMBINED])) };
    golden("graph_global/last_call", &one_by_one(), last).await;
}
