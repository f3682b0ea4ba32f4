//! What is read of feedback, and what is left of it.
use halma_core::NodeId;

use super::Id;
use super::types::Verdict;
use crate::base::sample_base;
use crate::{Base, FeedbackDraft};

fn give(base: &Base, (run, question, by): (&str, &str, &str), verdict: Verdict) -> Vec<String> {
    let draft = FeedbackDraft {
        run: run.into(),
        question: question.into(),
        answer: "Norway".into(),
        strategy: "kar3".into(),
        verdict,
        correction: String::new(),
        note: String::new(),
        by: by.into(),
        at_ms: 1_700_000_000_000,
        documents: vec!["one".into()],
        cited: Vec::<NodeId>::new(),
        candidates: vec![],
    };
    base.add_feedback(&draft).unwrap().contradicts
}

fn ids(base: &Base) -> Vec<Id> {
    base.store.read(|reader| reader.feedback_ids()).unwrap()
}

#[test]
fn giving_feedback_reads_only_what_is_about_the_same_run_or_question() {
    let dir = tempfile::tempdir().unwrap();
    let base = sample_base::create(dir.path(), "secret");
    give(&base, ("run1", "Where?", "ann"), Verdict::Right);
    let other = ids(&base)[0];
    base.store
        .write(|writer| {
            // Reading it is an error.
            let db = writer.store.db.feedback;
            db.records.put(writer.txn(), &other.to_be_bytes(), b"?")
        })
        .unwrap();
    assert!(base.store.read(|reader| reader.all_feedback()).is_err());
    give(&base, ("run2", "When?", "ann"), Verdict::Right);
    assert_eq!(give(&base, ("run2", "When?", "bo"), Verdict::Wrong).len(), 1);
    // It takes the place of what the same person said before.
    assert_eq!(give(&base, ("run2", "When?", "bo"), Verdict::Right).len(), 0);
    assert_eq!(ids(&base).len(), 3);
}

#[test]
fn feedback_that_is_removed_leaves_no_keys() {
    let dir = tempfile::tempdir().unwrap();
    let base = sample_base::create(dir.path(), "secret");
    give(&base, ("run1", "Where?", "ann"), Verdict::Right);
    give(&base, ("run2", "When?", "ann"), Verdict::Right);
    let links = || base.store.read(|reader| reader.store.db.feedback.links.len(reader)).unwrap();
    // Two names of each record, and a link of each to its document.
    assert_eq!(links(), 6);
    for id in ids(&base) {
        base.store.write(|writer| writer.remove_feedback(id)).unwrap();
    }
    assert_eq!(links(), 0);
    assert_eq!(base.inspector().verify().unwrap().problems, []);
}
