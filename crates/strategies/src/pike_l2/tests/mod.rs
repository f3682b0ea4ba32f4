//! Golden transcripts of level 2, kind by kind, and its settings.
mod comparative;
mod quantitative;
mod summarising;

use halma_core::{Budget, LlmError};
use halma_testkit::{Script, Toy};

use super::*;
use crate::golden::{Run, golden};

const WHO: &str = r#"{"sub_questions": ["Who was the architect of the Varn lighthouse?"]}"#;
const WHERE: &str = r#"{"sub_questions": ["Where was Ilse Thorn born?"]}"#;
const ENOUGH: &str = r#"{"sub_questions": []}"#;
const FIRST: &str = r#"{"candidate": 1}"#;
const NORWAY: &str = r#"{"rationale": "Ilse Thorn was born in Norway.", "answer": "Norway"}"#;
const NOTHING: &str = r#"{"rationale": "Nothing was found.", "answer": ""}"#;

fn of(kind: Reasoning) -> PikeL2 {
    PikeL2 { kind, ..PikeL2::default() }
}

/// Choose none of the atoms, or of the chunks, that are near the question.
const NO_ATOM: (&str, &str) = ("kar3/select", r#"{"thinking": "", "candidate": 0}"#);
const NO_CHUNK: (&str, &str) = ("kar3/select_chunk", NO_ATOM.1);

#[tokio::test]
async fn a_bridging_question_goes_hop_by_hop() {
    let model = Script::new([
        ("auto/classify", r#"{"kind": "bridging", "reason": "The architect comes first."}"#),
        ("kar3/propose", WHO),
        ("kar3/select", FIRST),
        ("kar3/propose", WHERE),
        ("kar3/select", FIRST),
        ("kar3/propose", ENOUGH),
        ("kar3/answer", NORWAY),
    ]);
    golden("pike_l2/bridging", &PikeL2::default(), Run::new(model)).await;
}

#[tokio::test]
async fn a_model_that_does_not_classify_or_talks_nonsense_gets_bridging() {
    let refused = LlmError::refused("the offline model does not do `classify`");
    let model = Script::with_failures(vec![
        ("auto/classify", Err(refused)),
        ("kar3/propose", Ok(ENOUGH)),
        (NO_ATOM.0, Ok(NO_ATOM.1)),
        ("kar3/answer", Ok(NOTHING)),
    ]);
    golden("pike_l2/refused_classifier", &PikeL2::default(), Run::new(model)).await;

    let nonsense = r#"{"kind": "tricky"}"#;
    let model = Script::new([
        ("auto/classify", nonsense),
        ("auto/classify", nonsense),
        ("auto/classify", nonsense),
        ("kar3/propose", ENOUGH),
        NO_ATOM,
        ("kar3/answer", NOTHING),
    ]);
    golden("pike_l2/nonsense_classifier", &PikeL2::default(), Run::new(model)).await;
}

#[tokio::test]
async fn a_budget_spent_before_the_kind_is_known_still_closes() {
    let model = Script::new([("naive/answer", r#"{"rationale": "1", "answer": "Ilse Thorn"}"#)]);
    let budget = Budget { calls: Some(1), ..Budget::default() };
    let question = "Who was the architect of the Varn lighthouse?";
    let run = Run { question, budget, ..Run::new(model) };
    golden("pike_l2/spent_budget", &PikeL2::default(), run).await;
}

#[tokio::test]
async fn an_empty_base_abstains() {
    let model = Script::new([
        ("auto/classify", r#"{"kind": "factual", "reason": "One fact."}"#),
        ("kar3/propose", WHO),
        ("kar3/answer", NOTHING),
    ]);
    let run = Run { knowledge: Toy::empty(), ..Run::new(model) };
    golden("pike_l2/empty_base", &PikeL2::default(), run).await;
}

#[tokio::test]
async fn levels_that_are_not_there_are_named() {
    let model = Script::new([
        ("auto/classify", r#"{"kind": "predictive", "reason": "It asks about next year."}"#),
        ("pike_l2/summarise", r#"{"points": [{"point": "It opened in 1911.", "passages": [1]}]}"#),
        ("pike_l2/combine", r#"{"rationale": "", "answer": "It has been open since 1911."}"#),
    ]);
    let question = "Will the Varn lighthouse be open next year?";
    let run = Run { question, ..Run::new(model) };
    let pike = PikeL2 {
        summarising: Summarising { min_score: Some(0.3), ..Summarising::default() },
        ..PikeL2::default()
    };
    golden("pike_l2/predictive", &pike, run).await;
}

#[test]
fn wrong_settings_are_named_with_their_table() {
    let built = |text: &str| (ENTRY.build)(text.parse().unwrap()).map(|built| built.settings());
    assert_eq!(built("kind = \"comparative\"").unwrap()["kind"], "comparative");
    for (table, key) in [
        ("kind = \"hard\"", "kind"),
        ("bridging.n = 0", "`bridging.n`"),
        ("comparative.things = 1", "`comparative.things`"),
        ("quantitative.rows = 0", "`quantitative.rows`"),
        ("summarising.min_score = 3.0", "`summarising.min_score`"),
        ("hops = 3", "hops"),
    ] {
        let error = built(table).unwrap_err();
        assert!(error.contains(key), "{table}: {error}");
    }
}
