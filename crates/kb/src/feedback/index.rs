//! What feedback says about searches of chunks: an accepted answer speaks for the chunks that it
//! rests on when a similar question is asked, and an answer that was wrong against those it cited.
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use halma_core::text::normalise_name;
use halma_core::text::similarity::jaccard;
use halma_core::{Layer, ScorePart};

use super::types::feedback_id;
use super::{CandidateState, FeedbackSettings, Verdict};
use crate::lexical::query_terms;
use crate::search::{Ranked, Search};
use crate::store::{CandidateRecord, FeedbackRecord, Id, Row, StoreReader};

/// The name of the part of a score that feedback gives.
const FEEDBACK: &str = "feedback";

/// Questions that were accepted or marked wrong.
#[derive(Default)]
pub(crate) struct FeedbackIndex {
    pub(super) accepted: Vec<Arc<KnownQuestion>>,
    wrong: Vec<Arc<KnownQuestion>>,
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
        let is_accepted = |entry: &&CandidateRecord| entry.state == CandidateState::Accepted;
        let accepted = record.candidates.iter().filter(is_accepted).map(|entry| {
            let question = KnownQuestion::new(id, &entry.question, &entry.chunks);
            let answers = entry.kind.is_recalled() && !entry.answer.trim().is_empty();
            Arc::new(KnownQuestion { atom: entry.atom.filter(|_| answers), ..question })
        });
        Self { stamp, accepted: accepted.collect(), wrong }
    }
}

/// A question with the chunks that it is about.
pub(super) struct KnownQuestion {
    pub(super) feedback: Id,
    /// Its atom, where it was accepted with an answer that may be given again.
    pub(super) atom: Option<Row>,
    /// In a form that is the same for questions of the same words.
    pub(super) form: String,
    terms: HashSet<String>,
    chunks: Vec<Row>,
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
    pub(super) fn similarity(&self, terms: &HashSet<String>) -> f32 {
        jaccard(&self.terms, terms)
    }
}

/// The stems of a question, without stop words.
pub(super) fn terms_of(question: &str) -> HashSet<String> {
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

    /// Adds to the scores of ranked chunks what feedback on similar questions says of them. Chunks
    /// that only feedback leads to join the list.
    pub(crate) fn weigh(
        &self,
        search: &Search<'_>,
        settings: &FeedbackSettings,
        lists: &mut [Vec<Ranked>],
    ) {
        if self.accepted.is_empty() && (self.wrong.is_empty() || settings.penalty <= 0.0) {
            return;
        }
        let admitted = search.admitted(Layer::Chunk);
        for (text, list) in search.query.texts.iter().zip(lists) {
            let terms = terms_of(text);
            let best = list.iter().map(|ranked| ranked.score).fold(0.0_f32, f32::max);
            let near =
                |question: &&Arc<KnownQuestion>| question.similarity(&terms) >= settings.similarity;
            for question in self.accepted.iter().filter(near).filter(|_| settings.weight > 0.0) {
                let gain = settings.weight * question.similarity(&terms) * best.max(f32::EPSILON);
                for row in question.chunks.iter().filter(|row| admitted.admits(**row)) {
                    add(list, *row, gain, question.feedback);
                }
            }
            for question in self.wrong.iter().filter(near).filter(|_| settings.penalty > 0.0) {
                let share = settings.penalty * question.similarity(&terms);
                for row in &question.chunks {
                    if let Some(ranked) = list.iter().find(|ranked| ranked.row == *row) {
                        let loss = share * ranked.score.abs();
                        add(list, *row, -loss, question.feedback);
                    }
                }
            }
            list.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.row.cmp(&b.row)));
        }
    }
}

fn add(list: &mut Vec<Ranked>, row: Row, score: f32, feedback: Id) {
    let part = ScorePart { name: FEEDBACK.to_owned(), score, through: feedback_id(feedback) };
    match list.iter_mut().find(|ranked| ranked.row == row) {
        Some(ranked) => {
            ranked.score += score;
            ranked.led_to |= score > 0.0;
            ranked.parts.push(part);
        }
        None => list.push(Ranked { row, score, led_to: true, parts: vec![part] }),
    }
}
