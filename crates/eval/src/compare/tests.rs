use super::*;
use crate::report::tests::report;

fn with_fates(label: &str, fates: &str) -> Report {
    report(label, fates)
}

fn compared(a: &str, b: &str) -> Comparison {
    let (a, b) = (with_fates("one", a), with_fates("two", b));
    let sides = (Side::of(&a, None).unwrap(), Side::of(&b, None).unwrap());
    compare(sides.0, sides.1, Resampling::default()).unwrap()
}

#[test]
fn questions_flip_both_ways() {
    // R right, W wrong, F failed, A abstained.
    let found = compared("RWWRAFR", "WRRRRRF");
    assert_eq!((found.paired, found.only_a, found.only_b), (5, 1, 1));
    assert_eq!(found.gained, ["q1", "q2", "q4"]);
    assert_eq!(found.lost, ["q0"]);
    assert_eq!((found.mcnemar.gained, found.mcnemar.lost), (3, 1));
    let right = &found.differences[0];
    assert!((right.difference - 0.4).abs() < 1e-12 && right.low <= 0.4 && right.high >= 0.4);
    insta::assert_snapshot!(found.table());
}

#[test]
fn equal_runs_do_not_differ() {
    let found = compared("RWRW", "RWRW");
    assert!(found.differences.iter().all(|d| !d.is_clear() && d.difference == 0.0));
    assert_eq!((found.mcnemar.p, found.gained.len()), (1.0, 0));
    assert!(found.cautions.is_empty());
}

#[test]
fn what_cannot_be_compared_is_told() {
    let (a, mut b) = (with_fates("one", "RF"), with_fates("one", "FR"));
    let side = |report| Side::of(report, None).unwrap();
    let error = compare(side(&a), side(&b), Resampling::default()).unwrap_err();
    assert!(error.to_string().contains("no question in common"), "{error}");
    b.runs.push(b.runs[0].clone());
    b.runs[1].label = "two".into();
    let error = Side::of(&b, None).unwrap_err().to_string();
    assert!(error.contains("several runs (one, two)"), "{error}");
    let error = Side::of(&b, Some("three")).unwrap_err().to_string();
    assert!(error.contains("no run `three`; it has one, two"), "{error}");
    assert_eq!(pairs(&b, &b).len(), 2);
}

#[test]
fn what_makes_a_comparison_doubtful_is_named() {
    let (a, mut b) = (with_fates("one", "RW"), with_fates("two", "WR"));
    b.base = "another".into();
    b.runs[0].prompts.insert("p/one".into(), ["other".to_owned()].into());
    let found =
        compare(Side::of(&a, None).unwrap(), Side::of(&b, None).unwrap(), Resampling::default());
    let cautions = found.unwrap().cautions;
    assert_eq!(cautions, ["the bases differ", "prompts of the same name had different words"]);
}

#[test]
fn five_hundred_questions_are_quick_and_repeatable() {
    let a: String = (0..500).map(|i| if i % 3 == 0 { 'R' } else { 'W' }).collect();
    let b: String = (0..500).map(|i| if i % 5 < 3 { 'R' } else { 'W' }).collect();
    let found = compared(&a, &b);
    assert!(found.differences[0].is_clear() && found.mcnemar.p < 0.001);
    assert_eq!(found, compared(&a, &b));
}
