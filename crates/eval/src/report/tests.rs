//! Reports for tests, and tests of what is made of them.
use halma_core::{Question, UsageTotal};

pub(crate) use super::assessed::tests::forecasts;
use super::*;
use crate::components::Component;
use crate::{DataSet, Format, GoldPassage, Item};

/// The one place where tests make an item.
pub(crate) fn item(question: Question, answers: &[&str], gold: Vec<GoldPassage>) -> Item {
    let answers = answers.iter().map(|&answer| answer.to_owned());
    Item { question, gold, ..Item::new("", "", answers) }
}

/// So many questions `q0`, `q1`, …
pub(crate) fn data(count: usize) -> DataSet {
    let items = (0..count).map(|i| {
        let question = Question { id: format!("q{i}"), ..Question::new(format!("What is {i}?")) };
        item(question, &["yes"], vec![])
    });
    let (name, format) = ("made".to_owned(), Format::Hotpotqa);
    DataSet { name, format, items: items.collect(), refused: vec![] }
}

/// A report with one run: R right, W wrong, A abstained, F failed, U not asked.
pub(crate) fn report(label: &str, fates: &str) -> Report {
    let results: Vec<QuestionResult> = fates.chars().map(of_fate).collect();
    let data = data(results.len());
    let mut report = Report::new(&data, "base", Budget::default());
    report.runs.push(run(label, results));
    report
}

fn of_fate(fate: char) -> QuestionResult {
    let scored = |fate, em, lost| QuestionResult {
        fate,
        abstained: fate == Fate::Abstained,
        value: Some(em),
        score: Some(Score { em, f1: em, precision: em, recall: em, cover_em: em }),
        lost,
        tokens: 100,
        latency_ms: 5.0,
        ..QuestionResult::default()
    };
    match fate {
        'R' => scored(Fate::Right, 1.0, None),
        'W' => scored(Fate::Wrong, 0.0, Some(Loss::Reading)),
        'A' => scored(Fate::Abstained, 0.0, Some(Loss::Retrieval)),
        'F' => QuestionResult {
            fate: Fate::Failed,
            lost: Some(Loss::Malformed),
            ..QuestionResult::default()
        },
        'U' => QuestionResult::default(),
        other => panic!("no fate is called {other}"),
    }
}

fn run(label: &str, results: Vec<QuestionResult>) -> Run {
    let failed = results.iter().filter(|result| result.fate == Fate::Failed).count();
    let scored: Vec<f64> =
        results.iter().filter_map(|result| result.score).map(|score| score.em).collect();
    let em = mean(scored.iter().copied());
    Run {
        strategy: label.into(),
        label: label.into(),
        point: BTreeMap::new(),
        settings: serde_json::json!({"n": 5}),
        fingerprint: "f".into(),
        profile: Profile::Hotpot,
        metric: Metric::Span(Profile::Hotpot),
        answerability: None,
        metrics: Metrics { em, f1: em, right: em, ..Metrics::default() },
        if_failed_were_wrong: Sure::default(),
        judged: None,
        assessed: vec![],
        abstained: 0,
        failed,
        failed_by_kind: BTreeMap::new(),
        failures: vec![],
        unasked: results.iter().filter(|result| result.fate == Fate::Unasked).count(),
        partial: 0,
        taken_over: 0,
        retrieval_failed: 0,
        malformed: 0,
        nothing_near: None,
        searches: vec![],
        sources: vec![],
        hops: Some(2.0),
        sub_questions: Some(1.0),
        usage: UsageTotal::default(),
        tokens: Tokens {
            prompt: 90,
            completion: 10,
            per_question: Some(100.0),
            ..Tokens::default()
        },
        latency_ms: Latency { p50: Some(5.0), p95: Some(5.0) },
        by_kind: BTreeMap::from([(
            "bridge".into(),
            KindMetrics { n: 2, em, ..KindMetrics::default() },
        )]),
        by_hops: BTreeMap::new(),
        losses: results.iter().filter_map(|result| result.lost).fold(
            BTreeMap::new(),
            |mut counts, lost| {
                *counts.entry(lost).or_default() += 1;
                counts
            },
        ),
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
    }
}

#[test]
fn a_report_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let written = report("one", "RWAFU");
    written.save_json(folder.path()).unwrap();
    assert_eq!(Report::open(folder.path()).unwrap(), written);
    let file = folder.path().join("report.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("\"format_version\": 2", "\"format_version\": 1", 1))
        .unwrap();
    let error = Report::open(&file).unwrap_err().to_string();
    assert!(error.contains("a report of version 1, this Halma reads version 2"), "{error}");
    std::fs::write(&file, "[]").unwrap();
    assert!(Report::open(&file).unwrap_err().to_string().contains("no report of an evaluation"));
}

#[test]
fn what_is_missing_from_the_figures_is_said() {
    let mut report = report("one", "RWAFU");
    let run = &mut report.runs[0];
    run.failed_by_kind.insert("llm".into(), 1);
    run.if_failed_were_wrong.em = Some(0.25);
    run.nothing_near = Some(0.31);
    run.retrieval_failed = 2;
    let notes = run.notes().join("\n");
    for words in ["1 question not asked", "EM would be 25.0", "31 % of the searches", "R@k"] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
}

#[test]
fn the_sources_asked_are_told_with_their_shares() {
    let mut report = report("one", "R");
    assert!(!report.markdown().contains("sources asked"));
    let asked = |source: &str, times| Asked { source: source.into(), times };
    report.runs[0].sources = vec![asked("web", 5), asked("text", 2), asked("kg", 1)];
    let told = "sources asked: web 62.5 % (5), text 25.0 % (2), kg 12.5 % (1)";
    assert!(report.runs[0].notes().contains(&told.to_owned()));
    assert!(report.markdown().contains("sources asked: web 62.5 %"));
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
