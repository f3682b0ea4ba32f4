//! Feedback by its run and by its question: what it may contradict, and what it takes the place of, is
//! found without reading all feedback. Keys hold hashes.
use std::collections::BTreeSet;

use halma_core::text::normalise_name;

use super::{FeedbackRecord, id_of_key};
use crate::store::{Id, StoreReader, StoreWriter, hash};

/// The first byte of these keys among the links of feedback; it is not that of a layer.
const NEAR: u8 = 0xff;

/// Whether a link of feedback is to a run or a question, and not to a node.
pub(in crate::store) fn is_near_key(key: &[u8]) -> bool {
    key.first() == Some(&NEAR)
}

fn near_prefix(name: Id) -> [u8; 9] {
    let mut key = [NEAR; 9];
    key[1..].copy_from_slice(&name.to_be_bytes());
    key
}

fn near_key(name: Id, id: Id) -> [u8; 17] {
    let mut key = [NEAR; 17];
    key[..9].copy_from_slice(&near_prefix(name));
    key[9..].copy_from_slice(&id.to_be_bytes());
    key
}

/// Of its run, and of its question in a form that is the same for questions of the same words.
fn names(record: &FeedbackRecord) -> [Id; 2] {
    let question = normalise_name(&record.question);
    [hash(&[b"run", record.run.as_bytes()]), hash(&[b"question", question.as_bytes()])]
}

impl StoreReader<'_> {
    /// The records of the same run or the same question that this reader may see, in the order of
    /// time.
    pub(crate) fn feedback_near(
        &self,
        record: &FeedbackRecord,
    ) -> heed::Result<Vec<(Id, FeedbackRecord)>> {
        let db = self.store.db.feedback;
        let mut ids = BTreeSet::new();
        for name in names(record) {
            for entry in db.links.prefix_iter(self, &near_prefix(name))? {
                ids.insert(id_of_key(entry?.0));
            }
        }
        let mut records = vec![];
        for id in ids {
            records.extend(self.feedback(id)?.map(|record| (id, record)));
        }
        Ok(records)
    }
}

impl StoreWriter<'_> {
    /// Enters a record that was added.
    pub(super) fn enter_near(&mut self, id: Id, record: &FeedbackRecord) -> heed::Result<()> {
        let links = self.store.db.feedback.links;
        names(record)
            .into_iter()
            .try_for_each(|name| links.put(self.txn(), &near_key(name, id), &[]))
    }

    /// Takes out a record that is removed.
    pub(super) fn remove_near(&mut self, id: Id, record: &FeedbackRecord) -> heed::Result<()> {
        let db = self.store.db.feedback;
        for name in names(record) {
            db.links.delete(self.txn(), &near_key(name, id))?;
        }
        Ok(())
    }
}
