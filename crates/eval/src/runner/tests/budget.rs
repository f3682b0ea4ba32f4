//! What concerns a run as a whole: its budget, its judge, its grid, where it lost answers.
use std::sync::atomic::{AtomicUsize, Ordering};

use halma_core::{Budget, Error, Limit};

use super::*;
use crate::{AnswerOutcome, ErrorCause, Judge, REPORT_VERSION, Ruling, Selection};

fn quiet() -> Progress {
    Arc::new(|_| {})
}

#[tokio::test]
async fn the_budget_of_the_whole_stops_the_run_and_the_next_resumes() {
    let out = tempfile::tempdir().unwrap();
    let script = says(["Oldbridge", "yes", "monks"]);
    let bench = bench(Arc::clone(&script) as Arc<dyn halma_core::Llm>);
    // Of two calls one is kept back for a closing answer, which the clerk does not have.
    let budget = Budget { calls: Some(2), ..Budget::default() };
    let whole = Arc::new(Meter::new(budget));
    let capped = Runner { budget: whole, ..runner(Some(out.path())) };
    let report = capped.run(&data(), &[clerk("")], &bench, &quiet()).await.unwrap();
    assert_eq!((report.spent, script.left()), (Some(Limit::Calls), 2));
    let run = &report.runs[0];
    let outcomes: Vec<AnswerOutcome> = run.results.iter().map(|result| result.outcome).collect();
    assert_eq!(outcomes, [AnswerOutcome::Right, AnswerOutcome::Unasked, AnswerOutcome::Unasked]);
    assert_eq!((run.unasked, run.failed, run.values.get("em")), (2, 0, Some(1.0)));
    assert!(report.table(false).contains("2 questions not asked"), "{}", report.table(false));
    // The report of a run that was cut short exists anyway.
    assert_eq!(Report::open(out.path()).unwrap(), report);
    let whole =
        runner(Some(out.path())).run(&data(), &[clerk("")], &bench, &quiet()).await.unwrap();
    assert_eq!((script.left(), whole.spent, whole.runs[0].taken_over), (0, None, 1));
    assert_eq!(whole.runs[0].unasked, 0);
}

/// Rules "right" on answers with an `e`, cannot be understood on `yes`, and counts.
fn judge(rulings: Arc<AtomicUsize>) -> Judge {
    let ask: AskJudge = Arc::new(move |_, answer, _| {
        rulings.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            match answer.text.as_str() {
                "yes" => Err(Error::BadReply {
                    prompt: "judge".into(),
                    reason: "prose".into(),
                    raw: "Well, it depends.".into(),
                }),
                text if text.contains('e') => Ok(Ruling::Right),
                _ => Ok(Ruling::Wrong),
            }
        })
    });
    Judge { ask, fingerprint: "a judge".into() }
}

#[tokio::test]
async fn the_judge_rules_once_and_what_it_mumbles_is_counted_apart() {
    let out = tempfile::tempdir().unwrap();
    let rulings = Arc::new(AtomicUsize::new(0));
    let script = says(["Newbridge", "yes", "nobody"]);
    let mut bench = bench(script);
    let runner = runner(Some(out.path()));
    // First without a judge: it hears the answers later, and no question is asked again.
    runner.run(&data(), &[clerk("")], &bench, &quiet()).await.unwrap();
    bench.judge = Some(judge(Arc::clone(&rulings)));
    for _ in 0..2 {
        let report = runner.run(&data(), &[clerk("")], &bench, &quiet()).await.unwrap();
        let run = &report.runs[0];
        let judged = run.judged.as_ref().unwrap();
        assert_eq!((judged.right, judged.wrong, judged.unreadable), (1, 1, 1));
        assert_eq!((judged.accuracy, judged.failed), (Some(0.5), 0));
        assert_eq!(run.values.get("em"), Some(1.0 / 3.0));
        // An unreadable ruling leaves it to exact match.
        let outcomes: Vec<AnswerOutcome> =
            run.results.iter().map(|result| result.outcome).collect();
        assert_eq!(outcomes, [AnswerOutcome::Right, AnswerOutcome::Right, AnswerOutcome::Wrong]);
        assert_eq!(rulings.load(Ordering::SeqCst), 3, "a ruling is kept");
    }
    assert!(out.path().join("traces/clerk/h1.judge.json").exists());
}

#[tokio::test]
async fn a_grid_is_resumed_point_by_point() {
    let out = tempfile::tempdir().unwrap();
    let grid = crate::Grid::parse(&["chunks=1..2"]).unwrap();
    let points = grid.points("clerk", &clerk("").strategy.settings()).unwrap();
    let systems: Vec<SystemUnderTest> = points
        .into_iter()
        .map(|point| SystemUnderTest {
            label: point.label.clone(),
            point: point.settings,
            ..clerk(&point.label)
        })
        .collect();
    let script = says(["a", "b", "c", "d", "e", "f"]);
    let bench = bench(Arc::clone(&script) as Arc<dyn halma_core::Llm>);
    let runner = runner(Some(out.path()));
    let first = runner.run(&data(), &systems, &bench, &quiet()).await.unwrap();
    assert_eq!(script.left(), 0);
    let second = runner.run(&data(), &systems, &bench, &quiet()).await.unwrap();
    for (run, label) in second.runs.iter().zip(["clerk@chunks=1", "clerk@chunks=2"]) {
        assert_eq!((run.label.as_str(), run.taken_over), (label, 3));
        assert!(out.path().join(format!("{label}.jsonl")).exists());
    }
    let page = std::fs::read_to_string(second.save(out.path()).unwrap()).unwrap();
    assert!(page.contains("\"text\":\"f\"") && page.contains("test/ask"), "answers and traces");
    assert!(
        std::fs::read_to_string(out.path().join("report.md")).unwrap().contains("clerk@chunks")
    );
    assert_eq!(first.runs[1].results, second.runs[1].results);
    assert_eq!(second.runs[1].point["chunks"], "2");
}

#[tokio::test]
async fn a_forecast_asks_a_few_questions_once_and_leaves_the_report_alone() {
    let out = tempfile::tempdir().unwrap();
    let script = says(["Oldbridge", "yes", "monks"]);
    let bench = bench(Arc::clone(&script) as Arc<dyn halma_core::Llm>);
    let runner = runner(Some(out.path()));
    let progress = quiet();
    let systems = [clerk("")];
    let forecast = runner.forecast(&data(), &systems, &bench, (2, &progress)).await.unwrap();
    assert_eq!(forecast[0].basis, crate::Basis::Measured { questions: 2 });
    assert_eq!((forecast[0].left, script.left()), (1, 1));
    assert!((forecast[0].calls.unwrap().likely - 1.0).abs() < 1e-9);
    assert!(!out.path().join("report.json").exists());
    let report = runner.run(&data(), &systems, &bench, &progress).await.unwrap();
    assert_eq!((report.runs[0].taken_over, script.left()), (2, 0));
}

#[tokio::test]
async fn the_report_says_what_the_run_was_made_of() {
    let mut questions = data();
    let random = Selection { random: Some((2, 7)), ..Selection::default() };
    let drawn = random.apply(&mut questions).unwrap().unwrap();
    let origin = Origin { sample: Some(drawn), ..Origin::default() };
    let runner = Runner { origin, ..runner(None) };
    let bench = bench(says(["nothing near", "x"]));
    let report = runner.run(&questions, &[clerk("")], &bench, &quiet()).await.unwrap();
    assert_eq!((report.format_version, report.base.as_str()), (REPORT_VERSION, "base"));
    assert_eq!(report.sample, Some(drawn));
    let ids: Vec<&str> = report.questions.iter().map(|question| question.id.as_str()).collect();
    let wanted: Vec<&str> = questions.items.iter().map(|item| item.question.id.as_str()).collect();
    assert_eq!(ids, wanted);
    let run = &report.runs[0];
    assert_eq!(run.models["reader"].iter().collect::<Vec<_>>(), ["script"]);
    assert_eq!(run.prompts["test/ask"].len(), 1);
    let part = &run.components[0];
    assert_eq!((part.prompt.as_str(), part.calls, part.prompt_tokens), ("test/ask", 2, 20));
    assert_eq!(run.values.get("tokens"), Some(12.0));
    assert_eq!(run.values.get("atc"), None);
}

#[tokio::test]
async fn where_answers_were_lost_is_derived_from_trace_and_evidence() {
    let bench = bench(says(["wrong", "wrong", "wrong"]));
    let report = runner(None).run(&data(), &[clerk("")], &bench, &quiet()).await.unwrap();
    let lost: Vec<Option<ErrorCause>> =
        report.runs[0].results.iter().map(|r| r.error_cause).collect();
    // h1: one of two gold passages is among the two nearest; h2: both are cited; h3: none is in
    // the base.
    assert_eq!(
        lost,
        [Some(ErrorCause::Retrieval), Some(ErrorCause::Reading), Some(ErrorCause::Retrieval)]
    );
}

#[tokio::test]
async fn to_abstain_is_right_where_nothing_can_be_answered() {
    let mut questions = data();
    questions.items[2] =
        crate::Item { answerable: false, answers: vec![], ..questions.items[2].clone() };
    let bench = bench(says(["Oldbridge", "none", "none"]));
    let report = runner(None).run(&questions, &[clerk("")], &bench, &quiet()).await.unwrap();
    let run = &report.runs[0];
    let outcomes: Vec<AnswerOutcome> = run.results.iter().map(|result| result.outcome).collect();
    assert_eq!(outcomes, [AnswerOutcome::Right, AnswerOutcome::Abstained, AnswerOutcome::Right]);
    assert_eq!(run.abstained, 2);
    let answerability = run.answerability.unwrap();
    assert_eq!((answerability.specificity, answerability.recall), (Some(1.0), Some(0.5)));
    assert!(run.notes().join(" ").contains("specificity 100.0"), "{:?}", run.notes());
}
