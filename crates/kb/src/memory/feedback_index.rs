//! Questions that feedback speaks of, in the form in which they are compared with others.
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use halma_core::text::normalise_name;
use halma_core::text::similarity::jaccard;

use crate::store::{
    CandidateRecord, CandidateState, FeedbackRecord, Id, Row, StoreReader, Verdict,
};
use crate::terms::query_terms;

/// Questions that were accepted or marked wrong.
#[derive(Default)]
pub(crate) struct FeedbackIndex {
    pub(crate) accepted: Vec<Arc<KnownQuestion>>,
    pub(crate) wrong: Vec<Arc<KnownQuestion>>,
    records: HashMap<Id, IndexedRecord>,
}

/// What a record adds to the index.
#[derive(Clone)]
struct IndexedRecord {
    /// Of the record as it was read; a record that is changed has another one.
    stamp: Id,
    accepted: Vec<Arc<KnownQuestion>>,
    wrong: Option<Arc<KnownQuestion>>,
}

impl IndexedRecord {
    fn new(id: Id, stamp: Id, record: &FeedbackRecord) -> Self {
        let lowers = record.verdict == Verdict::Wrong && !record.dismissed;
        let wrong = (lowers && !record.cited.is_empty())
            .then(|| Arc::new(KnownQuestion::new(id, &record.question, &record.cited)));
        let is_accepted =
            |candidate: &&CandidateRecord| candidate.state == CandidateState::Accepted;
        let accepted = record.candidates.iter().filter(is_accepted).map(|candidate| {
            let question = KnownQuestion::new(id, &candidate.question, &candidate.chunks);
            let answers = candidate.kind.is_recalled() && !candidate.answer.trim().is_empty();
            Arc::new(KnownQuestion { atom: candidate.atom.filter(|_| answers), ..question })
        });
        Self { stamp, accepted: accepted.collect(), wrong }
    }
}

/// A question with the chunks that it is about.
pub(crate) struct KnownQuestion {
    pub(crate) feedback: Id,
    /// Its atom, where it was accepted with an answer that may be given again.
    pub(crate) atom: Option<Row>,
    /// In a form that is the same for questions of the same words.
    pub(crate) form: String,
    terms: HashSet<String>,
    pub(crate) chunks: Vec<Row>,
}

impl KnownQuestion {
    fn new(feedback: Id, question: &str, chunks: &[Row]) -> Self {
        Self {
            feedback,
            atom: None,
            form: normalise_name(question),
            terms: terms_of(question),
            chunks: chunks.to_vec(),
        }
    }

    /// The share of words that a question has in common with it.
    pub(crate) fn similarity(&self, terms: &HashSet<String>) -> f32 {
        jaccard(&self.terms, terms)
    }
}

/// The stems of a question, without stop words.
pub(crate) fn terms_of(question: &str) -> HashSet<String> {
    query_terms(question).into_iter().collect()
}

impl FeedbackIndex {
    /// What a reader may see of it. Records that are as they were in the `former` index are not read
    /// again; it must have been loaded by a reader that sees the same.
    pub(crate) fn load(reader: &StoreReader<'_>, former: Option<&Self>) -> heed::Result<Self> {
        let mut index = Self::default();
        for (id, stamp) in reader.feedback_stamps()? {
            let cached = former.and_then(|former| former.records.get(&id));
            let record = match cached.filter(|cached| cached.stamp == stamp) {
                Some(cached) => cached.clone(),
                None => match reader.feedback(id)? {
                    Some(record) => IndexedRecord::new(id, stamp, &record),
                    None => continue,
                },
            };
            index.accepted.extend(record.accepted.iter().cloned());
            index.wrong.extend(record.wrong.clone());
            index.records.insert(id, record);
        }
        Ok(index)
    }
}
