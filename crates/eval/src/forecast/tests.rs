use std::sync::Arc;

use halma_core::UsageTotal;

use super::*;
use crate::record::Record;
use crate::report::tests::data;

/// A question that took this many calls (10 tokens each) and a cent and a second for each.
fn record(i: usize, fingerprint: &str, calls: u64) -> Record {
    let data = data(i + 1);
    let answer = RecordOutcome::Answered(halma_core::Answer::default());
    let trace = halma_core::Trace::default();
    let mut record = Record::new(&data.items[i], fingerprint, answer, (&trace, 0.0));
    record.digest = None;
    #[expect(clippy::cast_precision_loss, reason = "a handful of calls")]
    let each = calls as f64;
    record.usage = UsageTotal {
        llm_calls: calls,
        prompt_tokens: 9 * calls,
        completion_tokens: calls,
        usd: each / 100.0,
        ..UsageTotal::default()
    };
    record.latency_ms = each * 1e3;
    record
}

fn forecast(records: &[Record], questions: usize, at_once: usize) -> Forecast {
    let out = tempfile::tempdir().unwrap();
    let (mut kept, _) = Journal::<Record>::open(&journal(out.path(), "one")).unwrap();
    for record in records {
        kept.append(record).unwrap();
    }
    drop(kept);
    let system = SystemUnderTest {
        strategy: Arc::new(crate::runner::tests::Echo),
        label: "one".into(),
        fingerprint: "f".into(),
        point: std::collections::BTreeMap::new(),
    };
    let data = data(questions);
    let measured = Measured::read(Some(out.path()), &data, &system).unwrap();
    measured.forecast(&system, questions, at_once)
}

#[test]
fn what_was_measured_is_carried_over_to_the_rest() {
    let records = [record(0, "f", 2), record(1, "f", 4), record(2, "other", 90)];
    let estimate = forecast(&records, 12, 5);
    assert_eq!((estimate.left, estimate.basis), (10, Basis::Measured { questions: 2 }));
    let likely = |range: Option<Range>| range.unwrap().likely;
    assert!((likely(estimate.calls) - 30.0).abs() < 1e-9);
    assert!((likely(estimate.tokens) - 300.0).abs() < 1e-9);
    assert!((likely(estimate.usd) - 0.3).abs() < 1e-9);
    assert!((likely(estimate.seconds) - 6.0).abs() < 1e-9);
    let Range { low, high, .. } = estimate.calls.unwrap();
    assert!(low < 30.0 && high > 30.0 && low >= 0.0);
    insta::assert_snapshot!(table(&[estimate.clone(), forecast(&[], 7, 1)]));
    let tight = Budget { calls: Some(20), ..Budget::default() };
    assert_eq!(would_exceed(std::slice::from_ref(&estimate), &tight), Some(Limit::Calls));
    assert_eq!(would_exceed(&[estimate], &Budget { usd: Some(1.0), ..Budget::default() }), None);
}

#[test]
fn earlier_settings_are_a_basis_and_said_to_be() {
    let estimate = forecast(&[record(0, "other", 3)], 4, 1);
    assert_eq!((estimate.left, estimate.basis), (4, Basis::Earlier { questions: 1 }));
    let nothing = forecast(&[], 4, 1);
    assert_eq!((nothing.basis, nothing.calls), (Basis::Nothing, None));
}

#[test]
fn the_probe_is_spread_over_the_set() {
    let ids = |data: DataSet| data.items.into_iter().map(|i| i.question.id).collect::<Vec<_>>();
    assert_eq!(ids(spread(&data(10), 3)), ["q0", "q3", "q6"]);
    assert_eq!(ids(spread(&data(2), 3)), ["q0", "q1"]);
}
