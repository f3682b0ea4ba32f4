//! Golden transcripts of the local graph search, and its settings.
use halma_core::{Budget, Edge};
use halma_testkit::{Script, Toy};

use super::*;
use crate::golden::{Run, golden};

const NORWAY: &str = r#"{"rationale": "1 and 2.", "answer": "Norway"}"#;

fn graph() -> Toy {
    Toy::of(&[
        ("varn", "Varn lighthouse", "The Varn lighthouse was drawn by Ilse Thorn.", &[]),
        ("thorn", "Ilse Thorn", "She was born in Norway in 1870.", &[]),
        ("gulls", "Gulls", "Gulls nest on the Varn lighthouse.", &[]),
        ("cod", "Cod", "Cod are caught off Norway.", &[]),
    ])
    .with_entities(&[
        (("Varn lighthouse", "a tower on a reef"), &["varn", "gulls"]),
        (("Ilse Thorn", "an architect"), &["varn", "thorn"]),
        (("Norway", "a country"), &["thorn", "cod"]),
    ])
    .with_edges(&[
        ("entity:Ilse Thorn", Edge::Relates, "entity:Varn lighthouse"),
        ("entity:Ilse Thorn", Edge::Relates, "entity:Norway"),
    ])
}

fn with_facts() -> Toy {
    graph()
        .with_node(Layer::Fact, "fact:1", ("Varn", "Ilse Thorn drew the Varn lighthouse."), "varn")
        .with_node(Layer::Fact, "fact:2", ("Thorn", "Ilse Thorn was born in Norway."), "thorn")
        .with_node(Layer::Fact, "fact:3", ("Gulls", "Gulls nest on towers."), "gulls")
}

#[tokio::test]
async fn facts_and_passages_around_the_named_entities_are_read() {
    let model = Script::new([("graph_local/answer", NORWAY)]);
    let run = Run { knowledge: Arc::new(with_facts()), ..Run::new(model) };
    golden("graph_local/neighbourhood", &GraphLocal { chunks: 3, ..GraphLocal::default() }, run)
        .await;
}

#[tokio::test]
async fn reports_of_the_communities_with_most_of_the_entities_are_background() {
    let knowledge = with_facts().with_communities(&[
        (("Towers", "Towers and their architects."), &["Varn lighthouse", "Ilse Thorn"]),
        (("Countries", "Countries in the north."), &["Norway"]),
    ]);
    let model = Script::new([("graph_local/answer", NORWAY)]);
    let run = Run { knowledge: Arc::new(knowledge), ..Run::new(model) };
    let local = GraphLocal { reports: 1, ..GraphLocal::default() };
    golden("graph_local/reports", &local, run).await;
}

#[tokio::test]
async fn without_facts_the_passages_are_read() {
    let model = Script::new([("graph_local/answer", NORWAY)]);
    let run = Run { knowledge: Arc::new(graph()), ..Run::new(model) };
    golden("graph_local/no_facts", &GraphLocal::default(), run).await;
}

#[tokio::test]
async fn without_entities_or_near_ones_it_reads_the_chunks_near_the_question() {
    let model = Script::new([("naive/answer", r#"{"rationale": "", "answer": "Ilse Thorn"}"#)]);
    let question = "Who was the architect of the Varn lighthouse?";
    golden("graph_local/no_entities", &GraphLocal::default(), Run { question, ..Run::new(model) })
        .await;

    let model = Script::new([("naive/answer", r#"{"rationale": "", "answer": "cod"}"#)]);
    let run = Run {
        question: "What is caught off coasts?",
        knowledge: Arc::new(graph()),
        ..Run::new(model)
    };
    let local = GraphLocal { min_score: Some(0.3), ..GraphLocal::default() };
    golden("graph_local/no_near_entity", &local, run).await;
}

#[tokio::test]
async fn nothing_in_the_base_abstains() {
    let run = Run { knowledge: Toy::empty(), ..Run::new(Script::new([])) };
    golden("graph_local/empty_base", &GraphLocal::default(), run).await;
}

#[tokio::test]
async fn the_last_call_of_the_budget_pays_the_reading() {
    let model = Script::new([("graph_local/answer", NORWAY)]);
    let budget = Budget { calls: Some(1), ..Budget::default() };
    let run = Run { knowledge: Arc::new(with_facts()), budget, ..Run::new(model) };
    golden("graph_local/last_call", &GraphLocal::default(), run).await;
}

#[tokio::test]
async fn a_reply_that_stays_malformed_is_asked_for_plainly() {
    let bad = ("graph_local/answer", "?");
    let model = Script::new([bad, bad, bad, ("closing/plain", r#"{"answer": "Norway"}"#)]);
    let run = Run { knowledge: Arc::new(with_facts()), ..Run::new(model) };
    golden("graph_local/always_malformed", &GraphLocal::default(), run).await;
}
