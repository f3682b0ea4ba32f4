//! Feedback by its run and by its question: what it may contradict, and what it takes the place of, is
//! found without reading all feedback. Keys hold hashes.
use std::collections::BTreeSet;

use halma_core::text::normalise_name;

use super::{FeedbackRecord, id_of_key};
use crate::store::{Id, StoreReader, StoreWriter, hash};

/// The first byte of these keys among the links of feedback; it is not that of a layer.
const NEAR: u8 = 0xff;

/// Its value is the number of records that the keys are of. A former version, which knows none of
/// them, changes the number of records alone, by which that is noticed.
const COUNT: [u8; 1] = [NEAR];

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
    /// time; in a base of a former version all records.
    pub(crate) fn feedback_near(
        &self,
        record: &FeedbackRecord,
    ) -> heed::Result<Vec<(Id, FeedbackRecord)>> {
        if !self.knows_near_feedback()? {
            return self.all_feedback();
        }
        let Some(db) = self.store.feedback() else { return Ok(vec![]) };
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

    /// Whether every record has its keys.
    pub(super) fn knows_near_feedback(&self) -> heed::Result<bool> {
        let Some(db) = self.store.feedback() else { return Ok(true) };
        let count = db.links.get(self, &COUNT)?.and_then(|count| count.first_chunk());
        let count = count.map_or(0, |count| u64::from_be_bytes(*count));
        Ok(count == db.records.len(self)?)
    }
}

impl StoreWriter<'_> {
    /// Enters a record that was added; all of them where that was not done `before`.
    pub(super) fn enter_near(
        &mut self,
        id: Id,
        record: &FeedbackRecord,
        before: bool,
    ) -> heed::Result<()> {
        let db = self.feedback_databases()?;
        let all = if before { vec![] } else { self.all_feedback()? };
        let all = all.iter().map(|(id, record)| (*id, record));
        for (id, record) in all.chain([(id, record)]) {
            for name in names(record) {
                db.links.put(self.txn(), &near_key(name, id), &[])?;
            }
        }
        self.count_near()
    }

    /// Takes out a record that is removed.
    pub(super) fn remove_near(&mut self, id: Id, record: &FeedbackRecord) -> heed::Result<()> {
        let db = self.feedback_databases()?;
        for name in names(record) {
            db.links.delete(self.txn(), &near_key(name, id))?;
        }
        Ok(())
    }

    /// Notes that every record has its keys.
    pub(super) fn count_near(&mut self) -> heed::Result<()> {
        let db = self.feedback_databases()?;
        let count = db.records.len(self)?;
        db.links.put(self.txn(), &COUNT, &count.to_be_bytes())
    }
}
