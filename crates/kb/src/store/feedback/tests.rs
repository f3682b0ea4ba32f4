//! A base of an earlier version has no databases of feedback.
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
