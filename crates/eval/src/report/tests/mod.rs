//! Reports for tests, and tests of what is made of them.
use halma_core::{Budget, Question, UsageTotal};

use std::collections::BTreeMap;

use super::*;
use crate::components::GoldTotals;
use crate::components::{Component, SourceUse};
use crate::data::{DataSet, Format, Item};
use crate::metrics::{GoldPassage, Metric, Profile};

/// The one place where tests make an item.
pub(crate) fn item(question: Question, answers: &[&str], gold: Vec<GoldPassage>) -> Item {
    let answers = answers.iter().map(|&answer| answer.to_owned());
    Item { question, gold, ..Item::new("", "", answers) }
}

/// Questions `q0`, `q1`, …
pub(crate) fn data(count: usize) -> DataSet {
    let items = (0..count).map(|i| {
        let question = Question { id: format!("q{i}"), ..Question::new(format!("What is {i}?")) };
        item(question, &["yes"], vec![])
    });
    let (name, format) = ("made".to_owned(), Format::HOTPOTQA);
    let metric = format.entry().metric;
    DataSet { name, format, metric, items: items.collect(), refused: vec![] }
}

/// A report with one run: R right, W wrong, A abstained, F failed, U not asked.
pub(crate) fn report(label: &str, outcomes: &str) -> Report {
    let results: Vec<QuestionResult> = outcomes.chars().map(with_outcome).collect();
    let data = data(results.len());
    let mut report = Report::new(&data, "base", Budget::default());
    report.add(run(label, results));
    report
}

fn with_outcome(outcome: char) -> QuestionResult {
    let scored = |outcome, em, error_cause| {
        let mut values = Values::default();
        for key in ["right", "em", "f1", "precision", "recall"] {
            values.set(key, Some(em));
        }
        values.set("tokens", Some(100.0));
        QuestionResult {
            outcome,
            abstained: outcome == AnswerOutcome::Abstained,
            values,
            error_cause,
            tokens: 100,
            latency_ms: 5.0,
            ..QuestionResult::default()
        }
    };
    match outcome {
        'R' => scored(AnswerOutcome::Right, 1.0, None),
        'W' => scored(AnswerOutcome::Wrong, 0.0, Some(ErrorCause::Reading)),
        'A' => scored(AnswerOutcome::Abstained, 0.0, Some(ErrorCause::Retrieval)),
        'F' => QuestionResult {
            outcome: AnswerOutcome::Failed,
            error_cause: Some(ErrorCause::Malformed),
            ..QuestionResult::default()
        },
        'U' => QuestionResult::default(),
        other => panic!("there is no outcome {other}"),
    }
}

fn run(label: &str, results: Vec<QuestionResult>) -> Run {
    let count = |outcome| results.iter().filter(|result| result.outcome == outcome).count();
    let mut error_analysis = BTreeMap::new();
    for cause in results.iter().filter_map(|result| result.error_cause) {
        *error_analysis.entry(cause).or_default() += 1;
    }
    let mut run = Run {
        strategy: label.into(),
        label: label.into(),
        point: BTreeMap::new(),
        settings: serde_json::json!({"n": 5}),
        fingerprint: "f".into(),
        profile: Profile::Hotpot,
        metric: Metric::Span(Profile::Hotpot),
        values: Values::default(),
        retrieval: Retrieval::default(),
        answerability: None,
        judged: None,
        assessed: vec![],
        atomizing: None,
        abstained: 0,
        failed: count(AnswerOutcome::Failed),
        failed_by_kind: BTreeMap::new(),
        failures: vec![],
        unasked: count(AnswerOutcome::Unasked),
        partial: 0,
        taken_over: 0,
        retrieval_failed: 0,
        malformed: 0,
        lost_replies: None,
        nothing_near: None,
        searches: vec![],
        sources: vec![],
        usage: UsageTotal::default(),
        tokens: Tokens { prompt: 90, completion: 10 },
        gold: GoldTotals::default(),
        by_kind: BTreeMap::new(),
        by_hops: BTreeMap::new(),
        error_analysis,
        components: vec![Component {
            prompt: "p/one".into(),
            role: "reader".into(),
            calls: 4,
            cached: 0,
            malformed: 1,
            prompt_tokens: 90,
            completion_tokens: 10,
            usd: 0.5,
        }],
        models: BTreeMap::from([("reader".into(), ["m".to_owned()].into())]),
        prompts: BTreeMap::from([("p/one".into(), ["h".to_owned()].into())]),
        results,
    };
    run.values = run.column_values();
    run.by_kind.insert("bridge".into(), GroupValues { n: 2, values: run.values.clone() });
    run
}

#[test]
fn a_report_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let written = report("one", "RWAFU");
    written.save_json(folder.path()).unwrap();
    assert_eq!(Report::open(folder.path()).unwrap(), written);
    let file = folder.path().join("report.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("\"format_version\": 3", "\"format_version\": 1", 1))
        .unwrap();
    let error = Report::open(&file).unwrap_err().to_string();
    assert!(error.contains("a report of version 1, this Halma reads version 3"), "{error}");
    std::fs::write(&file, "[]").unwrap();
    assert!(
        Report::open(&file).unwrap_err().to_string().contains("not the report of an evaluation")
    );
}

#[test]
fn a_report_that_is_not_there_is_wrong_use_and_another_data_set_s_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path();
    let error = Report::open(&out.join("nowhere")).unwrap_err();
    assert!(error.is_wrong_use() && error.to_string().contains("report.json in it"), "{error}");
    assert!(Report::check_folder(out, "made").is_ok());
    report("one", "R").save_json(out).unwrap();
    assert!(Report::check_folder(out, "made").is_ok());
    let error = Report::check_folder(out, "other").unwrap_err();
    assert!(error.is_wrong_use());
    let error = error.to_string();
    for words in ["`made`", "`other`", "--out", &out.display().to_string()] {
        assert!(error.contains(words), "{words}: {error}");
    }
    std::fs::write(out.join("report.json"), "broken").unwrap();
    assert!(Report::check_folder(out, "other").is_ok());
}

#[test]
fn what_is_missing_from_the_figures_is_said() {
    let mut report = report("one", "RWAFU");
    let run = &mut report.runs[0];
    run.failed_by_kind.insert("llm".into(), 1);
    run.nothing_near = Some(0.31);
    run.retrieval_failed = 2;
    let notes = run.notes().join("\n");
    for words in ["1 question not asked", "EM would be 25.0", "31 % of the searches", "R@k"] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
}

#[test]
fn the_sources_queried_are_listed_with_their_shares() {
    let mut report = report("one", "R");
    assert!(!report.markdown().contains("sources queried"));
    let queried = |source: &str, times| SourceUse { source: source.into(), times };
    report.runs[0].sources = vec![queried("web", 5), queried("text", 2), queried("kg", 1)];
    let note = "sources queried: web 62.5 % (5), text 25.0 % (2), kg 12.5 % (1)";
    assert!(report.runs[0].notes().contains(&note.to_owned()));
    assert!(report.markdown().contains("sources queried: web 62.5 %"));
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["runs"][0]["sources"][0]["source"], "web");
}

#[test]
fn the_markdown_is_a_page_of_results() {
    let mut report = report("o|ne", "RWAFU");
    report.runs[0].failed_by_kind.insert("llm".into(), 1);
    report.dataset = "a_b <script>".into();
    insta::assert_snapshot!(report.markdown());
}
