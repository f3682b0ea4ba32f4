//! Golden transcripts of level 1, and its settings.
use std::sync::Arc;

use halma_core::{Budget, Edge, Meter, Models, Outcome, Prompts, Setup};
use halma_testkit::{Script, Toy};

use super::*;
use crate::golden::{Run, golden};

const ARCHITECT: &str = "Who was the architect of the Varn lighthouse?";
const THORN: &str = r#"{"rationale": "Passage 1 says so.", "answer": "Ilse Thorn"}"#;

/// A base with something on every layer.
fn layered() -> Toy {
    Toy::of(&[
        (
            "varn",
            "Varn lighthouse",
            "The Varn lighthouse stands on a reef. Its architect was Ilse Thorn.",
            &["Who was the architect of the Varn lighthouse?"],
        ),
        ("thorn", "Ilse Thorn", "She drew plans for towers and harbours.", &["What did she draw?"]),
        ("list", "Towers", "Varn, 1911. Holm, 1920.", &[]),
        ("annals", "Annals", "In 1911 the lighthouse on the reef was lit.", &[]),
    ])
    .with_section("chronicle", "Chronicle", &["annals"])
    .with_tags(&[("lighthouse", &["varn", "annals"]), ("beacon light", &["annals"])])
    .with_entities(&[(("Ilse Thorn", "architect of the Varn lighthouse"), &["varn", "thorn"])])
    .with_node(
        Layer::Fact,
        "fact:1",
        ("Ilse Thorn", "Ilse Thorn was the architect of the Varn lighthouse."),
        "varn",
    )
    .with_node(Layer::Row, "row:1", ("Towers", "lighthouse: Varn; architect: Thorn"), "list")
    .with_node(
        Layer::Summary,
        "summary:1",
        ("Chronicle", "How the Varn lighthouse got an architect and was lit."),
        "chronicle",
    )
}

#[tokio::test]
async fn every_layer_leads_to_chunks_that_a_reranker_puts_in_order() {
    let model = Script::new([("pike_l1/answer", THORN)]);
    let run = Run { question: ARCHITECT, knowledge: Arc::new(layered()), ..Run::new(model) };
    let pike = PikeL1 { min_score: Some(0.3), ..PikeL1::default() };
    golden("pike_l1/every_layer", &pike, run).await;
}

#[tokio::test]
async fn a_tag_of_the_question_maps_to_the_words_of_the_corpus() {
    let knowledge = Toy::of(&[
        ("myocard", "Infarction", "Myocardial infarction is treated with aspirin at once.", &[]),
        ("skin", "Skin", "A rash is treated with ointment.", &[]),
    ])
    .with_tags(&[("heart attack", &[]), ("myocardial infarction", &["myocard"])])
    .with_edges(&[("tag:heart attack", Edge::MapsTo, "tag:myocardial infarction")]);
    let model =
        Script::new([("pike_l1/answer", r#"{"rationale": "Passage 1.", "answer": "aspirin"}"#)]);
    // Only the word "treated" is shared, which is too little for a search without tags.
    let pike = PikeL1 { min_score: Some(0.2), chunks: 1, ..PikeL1::default() };
    let question = "How is a heart attack treated?";
    let run = Run { question, knowledge: Arc::new(knowledge), ..Run::new(model) };
    golden("pike_l1/mapped_tag", &pike, run).await;
}

#[tokio::test]
async fn a_base_of_chunks_and_atoms_says_what_it_lacks() {
    let model = Script::new([("pike_l1/answer", THORN)]);
    let run = Run { question: ARCHITECT, ..Run::new(model) };
    golden("pike_l1/chunks_and_atoms", &PikeL1::default(), run).await;
}

#[tokio::test]
async fn passages_that_contradict_each_other_are_both_cited() {
    let knowledge = Toy::new(&[
        ("guide", "Guide", "The Varn lighthouse opened in 1911.", &[]),
        ("letter", "Letter", "The Varn lighthouse opened in 1912.", &[]),
    ]);
    let both = r#"{"rationale": "Passage 1 says 1911, passage 2 says 1912.", "answer": "1911"}"#;
    let model = Script::new([("pike_l1/answer", both)]);
    let question = "When did the Varn lighthouse open?";
    let run = Run { question, knowledge, ..Run::new(model) };
    golden("pike_l1/contradiction", &PikeL1::default(), run).await;
}

#[tokio::test]
async fn nothing_found_abstains_without_a_call() {
    let run = Run { knowledge: Toy::empty(), ..Run::new(Script::new([])) };
    golden("pike_l1/empty_search", &PikeL1::default(), run).await;
}

#[tokio::test]
async fn the_last_call_of_the_budget_pays_the_reading_and_none_is_an_error() {
    let last = Budget { calls: Some(1), ..Budget::default() };
    let model = Script::new([("pike_l1/answer", THORN)]);
    let run = Run { question: ARCHITECT, budget: last, ..Run::new(model) };
    golden("pike_l1/last_call", &PikeL1::default(), run).await;

    let budget = Budget { calls: Some(0), ..Budget::default() };
    let run = Run { question: ARCHITECT, budget, ..Run::new(Script::new([])) };
    golden("pike_l1/spent_budget", &PikeL1::default(), run).await;
}

#[tokio::test]
async fn a_malformed_reply_is_asked_for_again_and_then_plainly() {
    let model = Script::new([("pike_l1/answer", "Ilse?"), ("pike_l1/answer", THORN)]);
    let run = Run { question: ARCHITECT, ..Run::new(model) };
    golden("pike_l1/malformed_then_repaired", &PikeL1::default(), run).await;

    let bad = ("pike_l1/answer", "?");
    let model = Script::new([bad, bad, bad, ("closing/plain", r#"{"answer": "Ilse Thorn"}"#)]);
    let run = Run { question: ARCHITECT, ..Run::new(model) };
    golden("pike_l1/always_malformed", &PikeL1::default(), run).await;
}

#[tokio::test]
async fn without_a_reranker_the_order_is_kept_and_that_is_told() {
    let model = Script::new([("pike_l1/answer", THORN)]);
    let prompts = Arc::new(Prompts::shipped(&[crate::PROMPTS]).unwrap());
    let setup = Setup::new(Models::new(model), Arc::new(layered()), prompts);
    let cx = Cx::new(Arc::new(setup), Arc::new(Meter::unlimited()), None);
    let outcome = Outcome::run(&PikeL1::default(), &Question::new(ARCHITECT), &cx).await;
    assert_eq!(outcome.answer.unwrap().text, "Ilse Thorn");
    let outline = halma_testkit::outline(&outcome.trace);
    assert!(outline.contains("note: no reranker is configured: the order is kept"), "{outline}");
}

#[test]
fn wrong_settings_are_named() {
    let built = |text: &str| (ENTRY.build)(text.parse().unwrap()).map(|built| built.settings());
    assert_eq!(built("weights.atom = 0").unwrap()["weights"]["atom"], 0.0);
    for (table, key) in [
        ("chunks = 0", "`chunks`"),
        ("weights.row = -1", "`weights.row`"),
        ("weights.row = nan", "`weights.row`"),
        ("weights.column = 1", "column"),
        ("tag_score = 2", "`tag_score`"),
    ] {
        let error = built(table).unwrap_err();
        assert!(error.contains(key), "{table}: {error}");
    }
}
