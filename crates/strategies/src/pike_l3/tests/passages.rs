//! Rows that stand in passages.
use super::*;

const PLAN: (&str, &str) = (
    "pike_l3/plan",
    r#"{"target": "towers", "measure": "count", "granularity": "year", "things": "towers",
     "queries": ["tower opened"], "question": "When did {thing} open?"}"#,
);

fn notes() -> Toy {
    Toy::of(&[
        ("a", "Varn", "Towers to expect: the Varn tower opened in 1911, Holm in 1912.", &[]),
        ("b", "Ness", "The Ness tower opened in 1913, says a plaque on the tower.", &[]),
        ("c", "Skarv", "The Skarv tower opened in 1914.", &[]),
    ])
}

const ROWS: (&str, &str) = (
    "pike_l3/rows",
    r#"{"rows": [{"thing": "Varn tower", "date": "1911", "passage": 1},
     {"thing": "Holm", "date": "1912", "passage": 1}, {"thing": "varn tower", "date": "", "passage": 2},
     {"thing": "Ness tower", "date": "1913", "passage": 2}, {"thing": "Skarv tower", "passage": 9},
     {"thing": "Skarv tower", "date": "", "passage": 3}]}"#,
);

fn run_on(model: Arc<Script>) -> Run {
    let question = "How many towers should we expect to open next year?";
    Run { question, ..run(notes(), model) }
}

#[tokio::test]
async fn rows_are_collected_joined_and_dated() {
    let l3 = PikeL3 {
        cells: Comparative { min_score: Some(0.2), hops: 0, ..Comparative::default() },
        ..PikeL3::default()
    };
    let model = Script::new([
        PLAN,
        ROWS,
        ("pike_l2/cell", r#"{"rationale": "Passage 1.", "answer": "1914"}"#),
        ("pike_l3/answer", r#"{"rationale": "One a year.", "answer": "1 (0 to 2)"}"#),
    ]);
    golden("pike_l3/passages", &l3, run_on(model)).await;
}

#[tokio::test]
async fn passages_without_rows_are_summarized() {
    let model = Script::new([
        PLAN,
        ("pike_l3/rows", r#"{"rows": []}"#),
        ("pike_l2/summarise", r#"{"points": [{"point": "Towers opened.", "passages": [1]}]}"#),
        ("pike_l2/combine", r#"{"rationale": "", "answer": "Towers opened from 1911 on."}"#),
    ]);
    golden("pike_l3/no_rows", &PikeL3::default(), run_on(model)).await;
}
