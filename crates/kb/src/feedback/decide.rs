//! Accepting, rejecting and taking back what feedback offers as knowledge.
use std::collections::BTreeMap;

use halma_core::{EmbedRole, Layer};

use super::list::contradicting;
use super::{Decision, Feedback};
use crate::base::WriterLock;
use crate::store::{
    AcceptedAtom, At, AtomRecord, CandidateRecord, CandidateState, Check, ChunkRecord,
    FeedbackRecord, Id, StoreReader, StoreWriter, Urgency, accepted_id, feedback_id,
    parse_feedback_id,
};
use crate::vectors::embed_once;
use crate::{Base, KbError};

impl Base {
    /// Accepts candidates: each becomes an atom of the chunks that it rests on, is found by the
    /// next search, and says where it comes from. Those that are accepted already stay as they are.
    /// Refused while other feedback says otherwise, unless the decision says `despite`.
    pub async fn accept_feedback(
        &self,
        id: &str,
        decision: &Decision,
    ) -> Result<Feedback, KbError> {
        let key = self.visible(id)?;
        let whole = self.whole.as_deref().unwrap_or(self);
        let atoms = whole.change(id, key, decision, |writer, record| {
            let mut atoms = vec![];
            for at in chosen(record, decision) {
                let candidate = &record.candidates[at];
                if candidate.state == CandidateState::Accepted {
                    continue;
                }
                let id = accepted_id(key, at + 1, &candidate.question);
                let atom = atom(writer, id, candidate, acceptance(key, candidate, decision))?;
                let row = writer.put_accepted(key, &atom)?;
                decide(record, at, CandidateState::Accepted, decision);
                record.candidates[at].atom = Some(row);
                atoms.push((Layer::Atom, row));
            }
            record.dismissed = false;
            Ok(atoms)
        })?;
        whole.embed_accepted(&atoms).await?;
        whole.index_accepted()?;
        self.feedback(id)
    }

    /// Notes that candidates are not to become knowledge; what was accepted of them is taken back.
    /// Feedback that is rejected as a whole is dismissed: it contradicts nothing and lowers nothing.
    pub fn reject_feedback(&self, id: &str, decision: &Decision) -> Result<Feedback, KbError> {
        self.take_back(id, decision, CandidateState::Rejected)
    }

    /// Takes back what was accepted: atoms, edges, vectors and words are gone, as if it had never
    /// been accepted.
    pub fn undo_feedback(&self, id: &str, decision: &Decision) -> Result<Feedback, KbError> {
        self.take_back(id, decision, CandidateState::Undone)
    }

    /// Notes what a verifier found, and decides nothing.
    pub fn check_feedback(
        &self,
        id: &str,
        checks: &BTreeMap<usize, Check>,
    ) -> Result<Feedback, KbError> {
        let key = self.visible(id)?;
        let whole = self.whole.as_deref().unwrap_or(self);
        let decision = Decision { despite: true, ..Decision::default() };
        whole.change(id, key, &decision, |_, record| {
            for (number, candidate) in (1..).zip(&mut record.candidates) {
                if let Some(check) = checks.get(&number) {
                    candidate.check = Some(check.clone());
                }
            }
            Ok(())
        })?;
        self.feedback(id)
    }

    /// Removes feedback with everything that was accepted of it.
    pub fn delete_feedback(&self, id: &str) -> Result<(), KbError> {
        let key = self.visible(id)?;
        let whole = self.whole.as_deref().unwrap_or(self);
        whole.store.write(|writer| {
            writer.remove_feedback(key)?;
            writer.publish()
        })?;
        whole.index_accepted()?;
        self.refresh()
    }

    fn take_back(
        &self,
        id: &str,
        decision: &Decision,
        state: CandidateState,
    ) -> Result<Feedback, KbError> {
        let key = self.visible(id)?;
        let whole = self.whole.as_deref().unwrap_or(self);
        // Nothing is in the way of taking something back.
        let despite = Decision { despite: true, ..decision.clone() };
        whole.change(id, key, &despite, |writer, record| {
            for at in chosen(record, decision) {
                if let Some(row) = record.candidates[at].atom.take() {
                    writer.remove_accepted(key, row)?;
                } else if state == CandidateState::Undone {
                    continue;
                }
                decide(record, at, state, decision);
            }
            record.dismissed |= state == CandidateState::Rejected && decision.candidates.is_empty();
            Ok(())
        })?;
        whole.index_accepted()?;
        self.feedback(id)
    }

    /// The key of feedback that may be seen here.
    fn visible(&self, id: &str) -> Result<Id, KbError> {
        let missing = || KbError::NoFeedback { id: id.to_owned() };
        let key = parse_feedback_id(id).ok_or_else(missing)?;
        let there = self.store.read(|reader| Ok(reader.feedback(key)?.is_some()))?;
        if there { Ok(key) } else { Err(missing()) }
    }

    /// Changes a record under a decision that is possible.
    fn change<T>(
        &self,
        id: &str,
        key: Id,
        decision: &Decision,
        change: impl FnOnce(&mut StoreWriter<'_>, &mut FeedbackRecord) -> heed::Result<T>,
    ) -> Result<T, KbError> {
        // Read under the lock for writing: another decision comes before or after.
        self.store
            .write(|writer| {
                let Some(mut record) = writer.feedback(key)? else {
                    return Ok(Err(KbError::NoFeedback { id: id.to_owned() }));
                };
                if let Some(missing) = missing_candidate(id, &record, decision) {
                    return Ok(Err(missing));
                }
                if !decision.despite
                    && let Some(contradicted) = contradicted(writer, id, key, &record)?
                {
                    return Ok(Err(contradicted));
                }
                let done = change(writer, &mut record)?;
                writer.put_feedback(key, &record)?;
                writer.publish()?;
                Ok(Ok(done))
            })
            .flatten()
    }

    /// The vectors of what was accepted, where the embedder of the base is open; else it waits for
    /// the next build, and is found by its words.
    async fn embed_accepted(&self, atoms: &[At]) -> Result<(), KbError> {
        let Some(embedder) = &self.options.embedder else { return Ok(()) };
        let (number, texts) = self.store.read(|reader| {
            let target = reader.target_model()?.filter(|model| model == embedder.model());
            let number = match target {
                Some(model) => reader.embedder(&model)?.map(|(number, _)| number),
                None => None,
            };
            let mut texts = vec![];
            for at in atoms {
                let wanted = reader.wants_vector(*at)?;
                let text = if wanted { reader.embedded_text(at.0, at.1)? } else { None };
                texts.extend(text.map(|text| (*at, text)));
            }
            Ok((number, texts))
        })?;
        let Some(number) = number.filter(|_| !texts.is_empty()) else { return Ok(()) };
        let all: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
        let vectors = embed_once(embedder.as_ref(), &all, EmbedRole::Passage).await?;
        self.store.write(|writer| {
            for ((at, _), vector) in texts.iter().zip(&vectors) {
                writer.embedded(number, *at, vector)?;
            }
            writer.publish()
        })
    }

    /// Brings the lexical indexes up to date, unless a build is running, which does it at its end.
    fn index_accepted(&self) -> Result<(), KbError> {
        if let Some(lock) = WriterLock::try_take(&self.dir)? {
            let _lock = lock.leading(&self.store, Urgency::Normal)?;
            self.store.settle()?;
            self.update_indexes()?;
            self.store.publish()?;
        }
        self.refresh()
    }
}

/// The error for a decision about a candidate that is not there.
fn missing_candidate(id: &str, record: &FeedbackRecord, decision: &Decision) -> Option<KbError> {
    let count = record.candidates.len();
    let number = decision.candidates.iter().find(|n| **n == 0 || **n > count)?;
    Some(KbError::NoCandidate { id: id.to_owned(), number: *number, count })
}

/// The error for a decision while other feedback says otherwise.
fn contradicted(
    reader: &StoreReader<'_>,
    id: &str,
    key: Id,
    record: &FeedbackRecord,
) -> heed::Result<Option<KbError>> {
    let others = contradicting(reader.feedback_near(record)?.iter(), key, record);
    let others: Vec<String> = others.into_iter().map(feedback_id).collect();
    let id = id.to_owned();
    Ok((!others.is_empty()).then(|| KbError::Contradicted { id, others: others.join("`, `") }))
}

/// Places of the candidates that a decision is about.
fn chosen(record: &FeedbackRecord, decision: &Decision) -> Vec<usize> {
    if decision.candidates.is_empty() {
        return (0..record.candidates.len()).collect();
    }
    let mut chosen: Vec<usize> = decision.candidates.iter().map(|number| number - 1).collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

fn decide(record: &mut FeedbackRecord, at: usize, state: CandidateState, decision: &Decision) {
    let candidate = &mut record.candidates[at];
    candidate.state = state;
    candidate.by.clone_from(&decision.by);
    candidate.at = decision.at;
    if let Some(check) = decision.checks.get(&(at + 1)) {
        candidate.check = Some(check.clone());
    }
}

/// What an atom says of the candidate that it was.
fn acceptance(feedback: Id, candidate: &CandidateRecord, decision: &Decision) -> AcceptedAtom {
    AcceptedAtom {
        feedback,
        kind: candidate.kind,
        answer: candidate.answer.clone(),
        also: candidate.chunks[1..].to_vec(),
        by: decision.by.clone(),
        at: decision.at,
    }
}

/// The atom of the first chunk that a candidate rests on.
fn atom(
    reader: &StoreReader<'_>,
    id: Id,
    candidate: &CandidateRecord,
    accepted: AcceptedAtom,
) -> heed::Result<AtomRecord> {
    let chunk = candidate.chunks[0];
    let record: ChunkRecord = reader.linked(chunk)?;
    let (start, end) = record.place.chars;
    let (text, accepted) = (candidate.question.clone(), Some(accepted));
    Ok(AtomRecord { id, chunk, start, end, text, accepted })
}
