use super::*;
use crate::report::tests::report;

fn with_outcomes(label: &str, outcomes: &str) -> Report {
    report(label, outcomes)
}

fn compared(a: &str, b: &str) -> Comparison {
    let (a, b) = (with_outcomes("one", a), with_outcomes("two", b));
    let sides = (Side::select(&a, None).unwrap(), Side::select(&b, None).unwrap());
    compare(sides.0, sides.1, Resampling::default()).unwrap()
}

#[test]
fn questions_flip_both_ways() {
    // R right, W wrong, F failed, A abstained.
    let comparison = compared("RWWRAFR", "WRRRRRF");
    assert_eq!((comparison.paired, comparison.only_a, comparison.only_b), (5, 1, 1));
    assert_eq!(comparison.gained, ["q1", "q2", "q4"]);
    assert_eq!(comparison.lost, ["q0"]);
    assert_eq!((comparison.mcnemar.gained, comparison.mcnemar.lost), (3, 1));
    let right = &comparison.differences[0];
    assert!((right.difference - 0.4).abs() < 1e-12 && right.low <= 0.4 && right.high >= 0.4);
    insta::assert_snapshot!(comparison.table());
}

#[test]
fn equal_runs_do_not_differ() {
    let comparison = compared("RWRW", "RWRW");
    assert!(comparison.differences.iter().all(|d| !d.is_clear() && d.difference == 0.0));
    assert_eq!((comparison.mcnemar.p, comparison.gained.len()), (1.0, 0));
    assert!(comparison.cautions.is_empty());
}

#[test]
fn what_cannot_be_compared_is_reported() {
    let (a, mut b) = (with_outcomes("one", "RF"), with_outcomes("one", "FR"));
    let side = |report| Side::select(report, None).unwrap();
    let error = compare(side(&a), side(&b), Resampling::default()).unwrap_err();
    assert!(error.to_string().contains("no question in common"), "{error}");
    b.runs.push(b.runs[0].clone());
    b.runs[1].label = "two".into();
    let error = Side::select(&b, None).unwrap_err().to_string();
    assert!(error.contains("several runs (one, two)"), "{error}");
    let error = Side::select(&b, Some("three")).unwrap_err().to_string();
    assert!(error.contains("no run `three`; it has one, two"), "{error}");
    // Both are runs of the strategy `one`.
    assert!(error.contains("stored") && error.contains("`-s three,one`"), "{error}");
    assert_eq!(pairs(&b, &b).len(), 2);
}

#[test]
fn what_makes_a_comparison_doubtful_is_named() {
    let (a, mut b) = (with_outcomes("one", "RW"), with_outcomes("two", "WR"));
    b.base = "another".into();
    b.runs[0].prompts.insert("p/one".into(), ["other".to_owned()].into());
    let comparison = compare(
        Side::select(&a, None).unwrap(),
        Side::select(&b, None).unwrap(),
        Resampling::default(),
    );
    let cautions = comparison.unwrap().cautions;
    assert_eq!(cautions, ["the bases differ", "prompts of the same name had different words"]);
}

#[test]
fn five_hundred_questions_are_quick_and_repeatable() {
    let a: String = (0..500).map(|i| if i % 3 == 0 { 'R' } else { 'W' }).collect();
    let b: String = (0..500).map(|i| if i % 5 < 3 { 'R' } else { 'W' }).collect();
    let comparison = compared(&a, &b);
    assert!(comparison.differences[0].is_clear() && comparison.mcnemar.p < 0.001);
    assert_eq!(comparison, compared(&a, &b));
}

#[test]
fn only_questions_that_came_out_differently_flip() {
    let mut all = report("one", "RRWU");
    all.runs.extend(report("two", "RWFR").runs);
    let (a, b) = (Side::select(&all, Some("one")), Side::select(&all, Some("two")));
    let flips = flips(a.unwrap(), b.unwrap());
    let ids: Vec<&str> = flips.iter().map(|flip| flip.question.id.as_str()).collect();
    assert_eq!(ids, ["q1", "q3"]);
    assert_eq!((flips[0].b, flips[1].a), (AnswerOutcome::Wrong, AnswerOutcome::Unasked));
}
