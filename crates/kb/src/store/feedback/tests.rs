//! Bases of earlier versions, and what is read of feedback.
use halma_core::NodeId;

use super::Id;
use crate::Base;
use crate::base::sample_base;
use crate::feedback::{FeedbackDraft, Verdict};
use crate::store::{Access, Store};

#[test]
fn a_store_without_the_databases_is_read_and_gets_them_when_it_is_written_to() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path()).unwrap());
    let mut former = Store::open_for(dir.path(), Access::Read).unwrap();
    former.db.feedback = None;
    let ids = former.read(|reader| Ok((reader.feedback_ids()?, reader.accepted_atoms()?))).unwrap();
    assert_eq!(ids, (vec![], vec![]));
    drop(former);
    let store = Store::open(dir.path()).unwrap();
    assert!(store.feedback().is_some());
}

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
            let db = writer.feedback_databases()?;
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
fn feedback_of_a_former_version_is_found_and_entered_with_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let base = sample_base::create(dir.path(), "secret");
    give(&base, ("run1", "Where?", "ann"), Verdict::Right);
    give(&base, ("run2", "When?", "ann"), Verdict::Right);
    let near = |base: &Base| base.store.read(|reader| reader.knows_near_feedback()).unwrap();
    let forget = |writer: &mut crate::store::StoreWriter<'_>| {
        let db = writer.feedback_databases()?;
        let mut keys = vec![];
        for entry in db.links.iter(writer)? {
            keys.push(entry?.0.to_vec());
        }
        for key in keys.iter().filter(|key| super::is_near_key(key)) {
            db.links.delete(writer.txn(), key)?;
        }
        Ok(keys.len())
    };
    // Two names of each record, the number of them, and a link of each to its document.
    assert_eq!(base.store.write(forget).unwrap(), 7);
    assert!(!near(&base));
    assert_eq!(give(&base, ("run1", "Where?", "bo"), Verdict::Wrong).len(), 1);
    assert!(near(&base));
    assert_eq!(give(&base, ("run2", "When?", "bo"), Verdict::Wrong).len(), 1);
    assert_eq!(base.inspector().verify().unwrap().problems, []);
    for id in ids(&base) {
        base.store.write(|writer| writer.remove_feedback(id)).unwrap();
    }
    assert!(near(&base));
    // The number alone is left.
    assert_eq!(base.store.write(forget).unwrap(), 1);
}
