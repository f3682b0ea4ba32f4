//! Assessing answers: once each, after they were stored, inside the budget of the whole evaluation.
use halma_core::Error;

use super::*;
use crate::judge::{Mark, Marks, Scheme};

fn quiet() -> Progress {
    Arc::new(|_| {})
}

fn creative(points: u32) -> String {
    let criteria = crate::judge::CREATIVE.into_iter().map(|name| (name, points));
    serde_json::json!(criteria.collect::<BTreeMap<_, _>>()).to_string()
}

async fn run(out: &std::path::Path, runner: Runner, bench: &Bench) -> Report {
    let runner = Runner { out: Some(out.to_owned()), ..runner };
    runner.run(&data(), &[clerk("")], bench, &quiet()).await.unwrap()
}

/// Marks the length of an answer, writes down what it is asked, and finds nobody for `yes` as long
/// as `down` says so.
fn assessor(answers: &Arc<Mutex<Vec<String>>>, down: bool) -> Assessor {
    let answers = Arc::clone(answers);
    let ask: AskAssessor = Arc::new(move |case, _| {
        let answer = case.answer;
        answers.lock().push(answer.text.clone());
        Box::pin(async move {
            if down && answer.text == "yes" {
                let source = LlmError::refused("the server is down");
                return Err(Error::Llm { model: "m".into(), source });
            }
            let length = u32::try_from(answer.text.len()).unwrap();
            Ok(Marks::from([("relevance".into(), Mark::Value(length.into()))]))
        })
    });
    Assessor { scheme: Scheme::Creative, ask, fingerprint: "an assessor".into() }
}

#[tokio::test]
async fn a_killed_run_has_nothing_assessed_again_that_was_kept() {
    let out = tempfile::tempdir().unwrap();
    let answers = Arc::new(Mutex::new(vec![]));
    let taken = || std::mem::take(&mut *answers.lock());
    // First without: answers are assessed later, and no question is asked again.
    let mut bench = bench(says(["Oldbridge", "yes", "monks"]));
    run(out.path(), runner(None), &bench).await;
    bench.assessors = vec![assessor(&answers, true)];
    let report = run(out.path(), runner(None), &bench).await;
    let assessed = &report.runs[0].assessed[0];
    assert_eq!(taken(), ["Oldbridge", "yes", "monks"]);
    assert_eq!((assessed.answers, assessed.failed["llm"], assessed.criteria[0].n), (3, 1, 2));
    assert_eq!(assessed.criteria[0].mean, Some(7.0));
    assert_eq!(assessed.criteria[1].mean, None, "a mark that is missing is no 0");
    let notes = report.runs[0].notes().join("\n");
    assert!(notes.contains("1 of 3 answers could not be assessed by creative (llm 1)"), "{notes}");
    // Killed while the last line was written.
    let file = out.path().join("clerk.assessed.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &text[..text.len() - 5]).unwrap();
    bench.assessors = vec![assessor(&answers, false)];
    let whole = run(out.path(), runner(None), &bench).await;
    assert_eq!(taken(), ["yes", "monks"]);
    let again = run(out.path(), runner(None), &bench).await;
    assert_eq!((taken().len(), &again.runs[0].assessed), (0, &whole.runs[0].assessed));
    // Other words or another model: other marks.
    bench.assessors[0].fingerprint = "another".into();
    run(out.path(), runner(None), &bench).await;
    assert_eq!(taken().len(), 3);
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 6);
}

#[tokio::test]
async fn the_marks_are_of_the_cited_passages_and_an_abstention_has_none() {
    let out = tempfile::tempdir().unwrap();
    let statements = r#"{"statements": ["She was born there.", "It is old."]}"#;
    let one = r#"{"thinking": "", "supported": [1]}"#;
    let script = Script::new([
        ("test/ask", "Oldbridge"),
        ("test/ask", "none"),
        ("test/ask", "none"),
        ("judge/statements", statements),
        ("judge/support", one),
        ("judge/useful", "Both."),
        ("judge/useful", "Both."),
        ("judge/useful", "Both."),
        ("judge/statements", r#"{"statements": ["She was born in Oldbridge."]}"#),
        ("judge/support", one),
        ("judge/needed", r#"{"needed": [2]}"#),
    ]);
    let mut bench = bench(Arc::clone(&script) as Arc<dyn halma_core::Llm>);
    bench.assessors = [Scheme::Ragas, Scheme::Forecast]
        .map(|scheme| Assessor::by_model(scheme, "words", None))
        .to_vec();
    let report = run(out.path(), runner(None), &bench).await;
    assert_eq!(script.left(), 0);
    let [ragas, forecast] = report.runs[0].assessed.as_slice() else { panic!("two schemes") };
    let abstained = "the answer is an abstention";
    let counts: Vec<(Option<f64>, usize, usize)> = ragas
        .criteria
        .iter()
        .map(|criterion| (criterion.mean, criterion.left_out[abstained], criterion.unreadable))
        .collect();
    let mean_of_two = |mean| (mean, 2, 0);
    let [faithful, unread, recall] = [mean_of_two(Some(0.5)), (None, 2, 1), mean_of_two(Some(1.0))];
    assert_eq!(counts[..4], [faithful, mean_of_two(None), unread, recall]);
    assert_eq!(ragas.criteria[1].left_out["there is no embedder"], 1);
    assert_eq!((ragas.usage.llm_calls, forecast.usage.llm_calls), (8, 0));
    assert!(forecast.criteria[1].left_out.contains_key("no gold answer is a number"));
    // The passages are the quotes of the answer's citations.
    let trace = std::fs::read_to_string(out.path().join("traces/clerk/h1.ragas.json")).unwrap();
    assert!(trace.contains("The Harbour Fresco is a mural by Mara Venn."), "{trace}");
    assert_eq!(run(out.path(), runner(None), &bench).await.runs[0].assessed.len(), 2);
}

#[tokio::test]
async fn answers_are_compared_with_those_of_the_first_system() {
    let out = tempfile::tempdir().unwrap();
    let first = r#"{"better": "first"}"#;
    let second = r#"{"better": "second"}"#;
    let script = Script::new([
        ("test/ask", "Oldbridge"),
        ("test/ask", "yes"),
        ("test/ask", "monks"),
        ("test/ask", "Oldbridge"),
        ("test/ask", "no"),
        ("test/ask", "monks"),
        ("judge/pair", first),
        ("judge/pair", second),
        ("judge/pair", first),
        ("judge/pair", first),
        ("judge/pair", r#"{"better": "tie"}"#),
        ("judge/pair", r#"{"better": "tie"}"#),
    ]);
    let mut bench = bench(Arc::clone(&script) as Arc<dyn halma_core::Llm>);
    bench.assessors = vec![Assessor::by_model(Scheme::Pairwise, "words", None)];
    let runner = Runner { out: Some(out.path().to_owned()), ..runner(None) };
    let systems = [clerk(""), SystemUnderTest { label: "other".into(), ..clerk("") }];
    let report = runner.run(&data(), &systems, &bench, &quiet()).await.unwrap();
    let of = |run: usize| &report.runs[run].assessed[0].criteria;
    assert_eq!(of(0)[0].left_out["there is no other answer to compare it with"], 3);
    // Preferred in both positions, by its position only, and neither.
    assert_eq!((of(1)[0].mean, of(1)[0].n), (Some(2.0 / 3.0), 3));
    assert_eq!(of(1)[1].mean, Some(2.0 / 3.0));
}

#[tokio::test]
async fn assessing_keeps_to_the_budget_of_the_whole() {
    let out = tempfile::tempdir().unwrap();
    let points = creative(4);
    let none = r#"{"ideas": []}"#;
    let script = Script::new([
        ("test/ask", "Oldbridge"),
        ("test/ask", "yes"),
        ("test/ask", "monks"),
        ("judge/creative", &points),
        ("judge/ideas", none),
        ("judge/creative", &points),
        ("judge/ideas", none),
        ("judge/creative", &points),
        ("judge/ideas", none),
    ]);
    let mut bench = bench(Arc::clone(&script) as Arc<dyn halma_core::Llm>);
    run(out.path(), runner(None), &bench).await;
    bench.assessors = vec![Assessor::by_model(Scheme::Creative, "words", None)];
    // Of three calls one is kept back for a closing answer.
    let whole = Arc::new(Meter::new(Budget { calls: Some(3), ..Budget::default() }));
    let capped = run(out.path(), Runner { budget: whole, ..runner(None) }, &bench).await;
    let assessed = &capped.runs[0].assessed[0];
    assert_eq!((assessed.criteria[0].n, assessed.failed["spent"], script.left()), (1, 2, 4));
    let rest = run(out.path(), runner(None), &bench).await;
    let assessed = &rest.runs[0].assessed[0];
    assert_eq!(
        (assessed.criteria[0].mean, assessed.criteria[0].n, script.left()),
        (Some(4.0), 3, 0)
    );
}
