//! Reading feedback.
use std::collections::HashMap;

use halma_core::text::normalise_name;
use halma_core::{Layer, NodeId};

use super::{Feedback, FeedbackCandidate};
use crate::store::{
    CandidateKind, CandidateState, DocumentRecord, FeedbackRecord, Id, Row, StoreReader, Verdict,
    feedback_id, node_id, parse_feedback_id,
};
use crate::{Base, KbError};

/// Which feedback to list, newest first.
#[derive(Debug, Clone, Default)]
pub struct FeedbackQuery {
    /// Starts after this one, the last of the page before. It need not be there any more.
    pub after: Option<String>,
    /// At most this many; 0 for all.
    pub limit: usize,
    /// Given or accepted by this key (or by `verifier`).
    pub by: Option<String>,
    /// Given by this key.
    pub given_by: Option<String>,
    /// With this text in question, answer, correction, note or a candidate; case is ignored.
    pub about: Option<String>,
    /// On this run.
    pub run: Option<String>,
    pub verdict: Option<Verdict>,
    /// With a candidate in this state.
    pub state: Option<CandidateState>,
    /// Whether other feedback says otherwise.
    pub contradicted: Option<bool>,
}

impl FeedbackQuery {
    fn fits(&self, record: &FeedbackRecord) -> bool {
        let by = |by: &String| {
            record.by == *by || record.candidates.iter().any(|candidate| candidate.by == *by)
        };
        let about = |text: &String| record.mentions(&text.to_lowercase());
        let in_state = |state| record.candidates.iter().any(|candidate| candidate.state == state);
        self.by.as_ref().is_none_or(by)
            && self.given_by.as_ref().is_none_or(|by| *by == record.by)
            && self.about.as_ref().is_none_or(about)
            && self.run.as_ref().is_none_or(|run| *run == record.run)
            && self.verdict.is_none_or(|verdict| verdict == record.verdict)
            && self.state.is_none_or(in_state)
    }
}

impl FeedbackRecord {
    /// Whether any of its texts holds this one, which is in lower case.
    fn mentions(&self, text: &str) -> bool {
        let texts = [&self.question, &self.answer, &self.correction, &self.note];
        let candidates = self.candidates.iter().flat_map(|c| [&c.question, &c.answer]);
        texts.into_iter().chain(candidates).any(|other| other.to_lowercase().contains(text))
    }

    /// What it says the answer is, in a form that can be compared; `None` where it says none.
    fn answer_said(&self) -> Option<String> {
        let said = if self.correction.is_empty() {
            (self.verdict == Verdict::Right).then_some(&self.answer)
        } else {
            Some(&self.correction)
        };
        said.map(|said| normalise_name(said)).filter(|said| !said.is_empty())
    }

    /// Whether any of it is accepted as the answer to its question.
    fn is_accepted(&self) -> bool {
        let answers = |kind| matches!(kind, CandidateKind::Answer | CandidateKind::Rows);
        let mut candidates = self.candidates.iter();
        candidates.any(|c| answers(c.kind) && c.state == CandidateState::Accepted)
    }
}

/// Whether two say different things: of one run, that it is right and that it is not, or two
/// answers; of different runs, two answers to the same question, one of them accepted.
fn contradict(one: &FeedbackRecord, other: &FeedbackRecord) -> bool {
    let answers = (one.answer_said(), other.answer_said());
    let differ = matches!(&answers, (Some(one), Some(other)) if one != other);
    if one.run == other.run {
        let right = |record: &FeedbackRecord| record.verdict == Verdict::Right;
        return right(one) != right(other) || differ;
    }
    differ
        && (one.is_accepted() || other.is_accepted())
        && normalise_name(&one.question) == normalise_name(&other.question)
}

/// All records, with what may contradict what.
struct AllFeedback {
    records: Vec<(Id, FeedbackRecord)>,
    /// Places in the list by run, and by question.
    near: HashMap<String, Vec<usize>>,
}

impl AllFeedback {
    fn load(reader: &StoreReader<'_>) -> heed::Result<Self> {
        let records = reader.all_feedback()?;
        let mut near: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, (_, record)) in records.iter().enumerate() {
            for key in Self::keys(record) {
                near.entry(key).or_default().push(at);
            }
        }
        Ok(Self { records, near })
    }

    fn keys(record: &FeedbackRecord) -> [String; 2] {
        [format!("run {}", record.run), format!("question {}", normalise_name(&record.question))]
    }

    fn contradicting(&self, id: Id, record: &FeedbackRecord) -> Vec<Id> {
        let near = Self::keys(record).into_iter().filter_map(|key| self.near.get(&key)).flatten();
        contradicting(near.map(|at| &self.records[*at]), id, record)
    }
}

/// The ids of those that say otherwise than one.
pub(super) fn contradicting<'a>(
    near: impl Iterator<Item = &'a (Id, FeedbackRecord)>,
    id: Id,
    record: &FeedbackRecord,
) -> Vec<Id> {
    let mut ids: Vec<Id> = near
        .filter(|(other, _)| *other != id)
        .filter(|(_, other)| !record.dismissed && !other.dismissed)
        .filter(|(_, other)| contradict(record, other))
        .map(|(other, _)| *other)
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

impl Base {
    /// Whether no one has said anything of an answer.
    pub fn has_no_feedback(&self) -> Result<bool, KbError> {
        self.store.read(|reader| reader.has_no_feedback())
    }

    /// Feedback by its id.
    pub fn feedback(&self, id: &str) -> Result<Feedback, KbError> {
        let missing = || KbError::NoFeedback { id: id.to_owned() };
        let key = parse_feedback_id(id).ok_or_else(missing)?;
        let feedback = self.store.read(|reader| {
            let Some(record) = reader.feedback(key)? else { return Ok(None) };
            let near = reader.feedback_near(&record)?;
            let contradicts = contradicting(near.iter(), key, &record);
            shown(reader, key, &record, contradicts).map(Some)
        })?;
        feedback.ok_or_else(missing)
    }

    /// Feedback, newest first.
    pub fn list_feedback(&self, query: &FeedbackQuery) -> Result<Vec<Feedback>, KbError> {
        let after = match &query.after {
            Some(id) => {
                let missing = || KbError::NoFeedback { id: id.clone() };
                Some(parse_feedback_id(id).ok_or_else(missing)?)
            }
            None => None,
        };
        let limit = if query.limit == 0 { usize::MAX } else { query.limit };
        self.store.read(|reader| {
            let all = AllFeedback::load(reader)?;
            let mut listed = vec![];
            for (id, record) in all.records.iter().rev() {
                if listed.len() >= limit {
                    break;
                }
                if after.is_some_and(|after| *id >= after) || !query.fits(record) {
                    continue;
                }
                let contradicts = all.contradicting(*id, record);
                let feedback = shown(reader, *id, record, contradicts)?;
                if query.contradicted.is_none_or(|is| is != feedback.contradicts.is_empty()) {
                    listed.push(feedback);
                }
            }
            Ok(listed)
        })
    }
}

fn shown(
    reader: &StoreReader<'_>,
    id: Id,
    record: &FeedbackRecord,
    contradicts: Vec<Id>,
) -> heed::Result<Feedback> {
    let mut documents = vec![];
    for row in &record.documents {
        let document = reader.node::<DocumentRecord>(*row)?;
        documents.extend(document.and_then(|document| document.names.into_iter().next()));
    }
    let mut candidates = vec![];
    for (number, candidate) in (1..).zip(&record.candidates) {
        let atom = match candidate.atom {
            Some(row) => reader.id_of((Layer::Atom, row))?.map(|id| node_id(Layer::Atom, id)),
            None => None,
        };
        candidates.push(FeedbackCandidate {
            number,
            kind: candidate.kind,
            question: candidate.question.clone(),
            answer: candidate.answer.clone(),
            sources: chunk_ids(reader, &candidate.chunks)?,
            state: candidate.state,
            by: candidate.by.clone(),
            at: candidate.at,
            atom,
            check: candidate.check.clone(),
        });
    }
    Ok(Feedback {
        id: feedback_id(id),
        run: record.run.clone(),
        question: record.question.clone(),
        answer: record.answer.clone(),
        strategy: record.strategy.clone(),
        verdict: record.verdict,
        correction: record.correction.clone(),
        note: record.note.clone(),
        by: record.by.clone(),
        at: record.at,
        documents,
        cited: chunk_ids(reader, &record.cited)?,
        candidates,
        dismissed: record.dismissed,
        contradicts: contradicts.into_iter().map(feedback_id).collect(),
    })
}

fn chunk_ids(reader: &StoreReader<'_>, rows: &[Row]) -> heed::Result<Vec<NodeId>> {
    let mut ids = vec![];
    for row in rows {
        let id = reader.id_of((Layer::Chunk, *row))?;
        ids.extend(id.map(|id| node_id(Layer::Chunk, id)));
    }
    Ok(ids)
}
