//! Golden transcripts of level 4, and its settings.
use std::sync::Arc;

use halma_core::{Budget, Llm};
use halma_testkit::{Script, Timed};

use super::*;
use crate::golden::{Run, golden, timed};

const QUESTION: &str = "How could more ships find the Varn lighthouse?";
const NO_QUESTIONS: (&str, &str) = ("pike_l4/ask", r#"{"sub_questions": []}"#);
const TWO: (&str, &str) = (
    "pike_l4/perspectives",
    r#"{"perspectives": [{"name": "Pilots", "concern": "seeing the light"},
     {"name": "Engineers", "concern": "keeping the lamp running"}]}"#,
);
const ENOUGH: (&str, &str) = ("pike_l4/look_up", r#"{"query": ""}"#);
const LAMP: (&str, &str) = (
    "pike_l4/propose",
    r#"{"proposals": [{"idea": "Install a brighter lamp.", "mechanism": "It is seen further.",
     "rests_on": [1, 2, 9], "risks": "Cost.", "unknowns": "Range."}, {"idea": " "}]}"#,
);
const HORN: (&str, &str) = (
    "pike_l4/propose",
    r#"{"proposals": [{"idea": "Install a much brighter lamp.", "rests_on": []},
     {"idea": "Sound a horn in fog.", "mechanism": "It is heard.", "rests_on": []}]}"#,
);
const SYNTHESIS: (&str, &str) = (
    "pike_l4/synthesise",
    r#"{"summary": "Light or sound.", "factors": ["Range"], "groups": [{"title": "Sound",
     "proposals": [1, 5]}], "open": ["Cost"], "next": ["Measure the range."]}"#,
);

fn l4() -> PikeL4 {
    PikeL4 { agents: 2, look_ups: 2, ..PikeL4::default() }
}

fn run(model: Arc<Script>) -> Run {
    Run { question: QUESTION, ..Run::new(model) }
}

/// The replies of two agents, by prompt.
fn model() -> Arc<Timed> {
    let summarising = r#"{"kind": "summarising", "reason": ""}"#;
    Timed::new(&[
        (
            "pike_l4/ask",
            &[
                r#"{"sub_questions": ["When did the Varn lighthouse open?", " ", "What is a reef?"]}"#,
            ],
        ),
        ("auto/classify", &[summarising, summarising]),
        (
            "pike_l2/summarise",
            &[
                r#"{"points": [{"point": "It opened in 1911.", "passages": [1]}]}"#,
                r#"{"points": [{"point": "A ridge.", "passages": [1]}]}"#,
            ],
        ),
        (
            "pike_l2/combine",
            &[
                r#"{"rationale": "", "answer": "It opened in 1911."}"#,
                r#"{"rationale": "", "answer": ""}"#,
            ],
        ),
        (TWO.0, &[TWO.1]),
        (
            "pike_l4/look_up",
            &[
                r#"{"query": "What is a reef?"}"#,
                r#"{"query": "Ilse Thorn harbours"}"#,
                ENOUGH.1,
                ENOUGH.1,
            ],
        ),
        (LAMP.0, &[LAMP.1, HORN.1]),
        (
            "pike_l4/criticise",
            &[
                r#"{"reviews": [{"proposal": 1, "feasibility": 2, "evidence": 1, "novelty": 1, "objection": "Too much."},
                 {"proposal": 2, "feasibility": 5, "evidence": 2, "novelty": 9, "objection": "Loud."}]}"#,
                r#"{"reviews": [{"proposal": 1, "feasibility": 4, "evidence": 4, "novelty": 2, "objection": "Costly."},
                 {"proposal": 7, "feasibility": 1, "evidence": 1, "novelty": 1}]}"#,
            ],
        ),
        (SYNTHESIS.0, &[SYNTHESIS.1]),
    ])
}

#[tokio::test(start_paused = true)]
async fn agents_work_side_by_side_and_criticise_each_other() {
    let model = model();
    let run = Run { question: QUESTION, ..Run::new(Arc::clone(&model) as Arc<dyn Llm>) };
    let (transcript, round_trips) = timed(&l4(), run).await;
    // Questions, three of the board, perspectives, two look-ups, proposals, criticism, synthesis:
    // as many as stages, however many agents there are.
    assert_eq!(round_trips, 10, "{transcript}");
    assert_eq!(model.left(), 0, "{transcript}");
    assert!(model.max_at_once() >= 2);
    assert!(transcript.contains("1 sub-questions are answered, 1 are open"), "{transcript}");
    // The two lamps are one idea of both agents.
    assert!(transcript.contains("3 proposals, 2 of them different"), "{transcript}");
    for part in
        ["(Pilots, Engineers", "Evidence: none", "Too much.", "Open points", "Further ideas"]
    {
        assert!(transcript.contains(part), "{part}: {transcript}");
    }
}

#[tokio::test]
async fn perspectives_that_are_the_same_are_asked_for_again() {
    let same = (
        "pike_l4/perspectives",
        r#"{"perspectives": [{"name": "Pilots", "concern": "light"}, {"name": "pilots", "concern": "fog"}]}"#,
    );
    let only = ("pike_l4/propose", r#"{"proposals": [{"idea": "A bell.", "rests_on": []}]}"#);
    let model = Script::new([NO_QUESTIONS, same, same, same, ENOUGH, only, SYNTHESIS]);
    golden("pike_l4/same_perspectives", &l4(), run(model)).await;
}

#[tokio::test]
async fn without_a_synthesis_the_proposals_are_the_answer() {
    let bad = ("pike_l4/synthesise", "I cannot.");
    let l4 = PikeL4 {
        perspectives: vec!["Pilots".into(), "Engineers".into()],
        rounds: 0,
        look_ups: 0,
        ..PikeL4::default()
    };
    let model = Script::new([NO_QUESTIONS, LAMP, HORN, bad, bad, bad]);
    golden("pike_l4/plain", &l4, run(model)).await;
}

#[tokio::test]
async fn without_perspectives_none_are_asked_for() {
    let settings = PikeL4 { own_perspectives: false, look_ups: 0, rounds: 0, ..l4() };
    let model = Script::new([NO_QUESTIONS, LAMP, HORN, SYNTHESIS]);
    golden("pike_l4/no_perspectives", &settings, run(Arc::clone(&model))).await;
    assert!(model.shown("pike_l4/propose")[0].contains("Perspective: agent 1"));
}

#[tokio::test]
async fn agents_that_propose_nothing_leave_a_summary() {
    let nothing = ("pike_l4/propose", r#"{"proposals": []}"#);
    let model = Script::new([
        NO_QUESTIONS,
        TWO,
        ENOUGH,
        ENOUGH,
        nothing,
        nothing,
        ("pike_l2/summarise", r#"{"points": [{"point": "It is on a reef.", "passages": [1]}]}"#),
        ("pike_l2/combine", r#"{"rationale": "", "answer": "It is on a reef."}"#),
    ]);
    golden("pike_l4/no_proposals", &l4(), run(model)).await;
}

#[tokio::test]
async fn a_spent_budget_closes_with_what_is_there() {
    let budget = Budget { calls: Some(6), ..Budget::default() };
    let model = Script::new([NO_QUESTIONS, TWO, ENOUGH, ENOUGH, LAMP, SYNTHESIS]);
    golden("pike_l4/spent", &l4(), Run { budget, ..run(model) }).await;
}

#[test]
fn wrong_settings_are_named() {
    let built = |text: &str| (ENTRY.build)(text.parse().unwrap()).map(|built| built.settings());
    assert_eq!(built("agents = 3").unwrap()["agents"], 3);
    for (table, key) in [
        ("agents = 0", "`agents`"),
        ("alike = 2.0", "`alike`"),
        ("chunks = 0", "`chunks`"),
        ("n = 3", "n"),
    ] {
        let error = built(table).unwrap_err();
        assert!(error.contains(key), "{table}: {error}");
    }
}
