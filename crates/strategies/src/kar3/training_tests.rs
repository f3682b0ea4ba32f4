//! Golden transcripts of KAR³ with a trained proposer, and of what is recorded for training one.
use halma_core::{Budget, DecompositionHop};
use halma_testkit::{Script, Toy};

use super::*;
use crate::golden::{Run, golden};

const ASK_WHO: &str = "<decompose>True</decompose>\n<sub-question>Who was the architect of the Varn \
                       lighthouse?</sub-question>";
const ASK_WHERE: &str =
    "<decompose>True</decompose>\n<sub-question>Where was Ilse Thorn born?</sub-question>";
const STOP: &str = "<decompose>False</decompose>";
const THORN: &str = r#"{"rationale": "The passage says so.", "answer": "Ilse Thorn"}"#;
const BORN: &str = r#"{"rationale": "The passage says so.", "answer": "Norway"}"#;
const NORWAY: &str = r#"{"rationale": "Ilse Thorn was born in Norway.", "answer": "Norway"}"#;
const NOTHING: &str = r#"{"rationale": "The passage does not say.", "answer": ""}"#;

fn trained() -> Kar3 {
    Kar3 { proposer: Proposer::Trained, ..Kar3::default() }
}

#[tokio::test]
async fn a_trained_proposer_takes_one_call_a_hop_and_sees_the_sub_answers() {
    let model = Script::new([
        ("kar3/decompose", ASK_WHO),
        ("kar3/answer_one", THORN),
        ("kar3/decompose", ASK_WHERE),
        ("kar3/answer_one", BORN),
        ("kar3/decompose", STOP),
        ("kar3/answer", NORWAY),
    ]);
    golden("kar3/trained", &trained(), Run::new(Arc::clone(&model) as _)).await;
    let shown = &model.shown("kar3/decompose")[1];
    let history = "1. Who was the architect of the Varn lighthouse? Ilse Thorn\n";
    assert!(shown.contains(history), "{shown}");
}

#[tokio::test]
async fn malformed_tags_are_asked_for_again_and_then_cost_the_hop() {
    let chatter = ("kar3/decompose", "I would ask who built it.");
    let model = Script::new([
        ("kar3/decompose", "<decompose>True</decompose>"),
        ("kar3/decompose", ASK_WHO),
        ("kar3/answer_one", NOTHING),
        chatter,
        chatter,
        chatter,
        ("kar3/answer", NOTHING),
    ]);
    golden("kar3/trained_malformed", &trained(), Run::new(model)).await;

    let model = Script::new([
        chatter,
        chatter,
        chatter,
        ("kar3/answer_one", THORN),
        ("kar3/decompose", STOP),
        ("kar3/answer", NORWAY),
    ]);
    let question = "Who was the architect of the Varn lighthouse?";
    golden("kar3/trained_no_reply", &trained(), Run { question, ..Run::new(model) }).await;
}

#[tokio::test]
async fn a_question_that_comes_again_ends_the_loop() {
    let model = Script::new([
        ("kar3/decompose", ASK_WHO),
        ("kar3/answer_one", NOTHING),
        ("kar3/decompose", ASK_WHO),
        ("kar3/answer", NOTHING),
    ]);
    golden("kar3/trained_repeats", &trained(), Run::new(model)).await;
}

#[tokio::test]
async fn an_empty_base_and_a_spent_budget_end_a_trained_run_too() {
    let model = Script::new([
        ("kar3/decompose", ASK_WHO),
        ("kar3/decompose", STOP),
        ("kar3/answer", NOTHING),
    ]);
    let run = Run { knowledge: Toy::empty(), ..Run::new(model) };
    golden("kar3/trained_empty", &trained(), run).await;

    let model = Script::new([
        ("kar3/decompose", ASK_WHO),
        ("kar3/answer_one", THORN),
        ("kar3/answer", NORWAY),
    ]);
    let budget = Budget { calls: Some(3), ..Budget::default() };
    golden("kar3/trained_spent", &trained(), Run { budget, ..Run::new(model) }).await;
}

const FIRST: &str = r#"{"thinking": "", "candidate": 1}"#;
const NONE: &str = r#"{"thinking": "", "candidate": 0}"#;

/// Of the second chunk only one of the proposal's four words is there: below δ, above δ'.
fn reefs() -> Arc<Toy> {
    Toy::new(&[
        (
            "varn",
            "Varn lighthouse",
            "The Varn lighthouse was built by Ilse Thorn.",
            &["Who built the Varn lighthouse?"],
        ),
        ("reef", "Reefs", "A reef is a ridge. Varn is one.", &["Which ridge is Varn?"]),
    ])
}

#[tokio::test]
async fn what_is_not_near_enough_is_shown_to_the_proposer_and_not_to_the_selector() {
    let kar3 = Kar3 { sample: true, sample_below: 0.4, stop_on_none: false, ..Kar3::default() };
    let who = r#"{"sub_questions": ["Who built the Varn lighthouse?"]}"#;
    let reef = r#"{"sub_questions": ["Which ridge is Varn?"]}"#;
    let model = Script::new([
        ("kar3/propose", who),
        ("kar3/select", FIRST),
        ("kar3/answer_one", THORN),
        ("kar3/propose", reef),
        ("kar3/select", NONE),
        ("kar3/propose", r#"{"sub_questions": []}"#),
        ("kar3/propose", r#"{"sub_questions": []}"#),
        ("kar3/answer", NOTHING),
    ]);
    let run = Run { knowledge: reefs(), ..Run::new(Arc::clone(&model) as _) };
    golden("kar3/sampled", &kar3, run).await;
    let shown = model.shown("kar3/propose");
    assert!(!shown[0].contains("A reef is a ridge"), "{}", shown[0]);
    assert!(shown[1].contains("A reef is a ridge"), "{}", shown[1]);
    assert!(!shown[3].contains("A reef is a ridge"), "{}", shown[3]);
    let chosen_from = &model.shown("kar3/select")[1];
    assert!(!chosen_from.contains("A reef is a ridge"), "{chosen_from}");
}

#[tokio::test]
async fn hops_are_recorded_with_the_answers_to_their_sub_questions() {
    let kar3 = Kar3 { sub_answers: true, n: 1, ..Kar3::default() };
    let who = r#"{"sub_questions": ["Who was the architect of the Varn lighthouse?"]}"#;
    let model = Script::new([
        ("kar3/propose", who),
        ("kar3/select", FIRST),
        ("kar3/answer_one", THORN),
        ("kar3/answer", NOTHING),
    ]);
    let transcript = golden("kar3/recorded", &kar3, Run::new(model)).await;
    let note = transcript.lines().find_map(|line| line.split_once("decomposition hop "));
    let hop: DecompositionHop = serde_json::from_str(note.unwrap().1).unwrap();
    let chosen = hop.chosen.unwrap();
    assert_eq!(chosen.sub_question, "Who was the architect of the Varn lighthouse?");
    assert_eq!((chosen.answer.as_str(), chosen.chunk.0.as_str()), ("Ilse Thorn", "varn"));
}

#[test]
fn wrong_settings_of_sampling_are_named() {
    let built = |text: &str| (ENTRY.build)(text.parse().unwrap()).map(|built| built.settings());
    assert_eq!(built("proposer = \"trained\"").unwrap()["proposer"], "trained");
    for (table, key) in [
        ("sample = true\nsample_k = 4", "`sample_k`"),
        ("sample_alpha = -1.0", "`sample_alpha`"),
        ("sample_noise = nan", "`sample_noise`"),
        ("sample = true\nproposer = \"trained\"", "`sample`"),
        ("proposer = \"learned\"", "`proposer`"),
    ] {
        let error = built(table).unwrap_err();
        assert!(error.contains(key), "{table}: {error}");
    }
}
