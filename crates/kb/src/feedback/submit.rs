//! Storing feedback.
use std::collections::BTreeSet;

use halma_core::{Layer, NodeId};

use super::{CandidateDraft, Feedback, FeedbackDraft};
use crate::store::{
    CandidateRecord, CandidateState, ChunkRecord, DocumentRecord, FeedbackRecord, Id, Row,
    StoreReader, feedback_id, hash, parse_id,
};
use crate::{Base, KbError, UnknownNames};

/// Chunks that one candidate rests on, at most: an answer over many rows cites its first ones.
const MAX_SOURCES: usize = 32;

/// Bits of an id that distinguish what is given in the same millisecond.
const SALT_BITS: u32 = 20;

impl Base {
    /// Stores feedback on an answer. What the run quoted and never was in the base, or was replaced
    /// since, is left out; [`KbError::NoDocument`] if a document that it quotes was deleted. In a
    /// view of some documents it is about these alone. It takes the place of what the same person
    /// said of the run before, unless something of that was accepted.
    pub fn add_feedback(&self, draft: &FeedbackDraft) -> Result<Feedback, KbError> {
        let names_before = self.store.read(|reader| names_there(reader, draft))?;
        self.add_feedback_about(draft, &names_before)
    }

    /// [`Base::add_feedback`] on a run that quotes documents which had these names in the base.
    pub(super) fn add_feedback_about(
        &self,
        draft: &FeedbackDraft,
        names_before: &BTreeSet<String>,
    ) -> Result<Feedback, KbError> {
        let salt = hash(&[draft.run.as_bytes(), draft.by.as_bytes(), draft.note.as_bytes()]);
        let id = draft.at_ms << SALT_BITS | salt >> (u64::BITS - SALT_BITS);
        let whole = self.whole.as_deref().unwrap_or(self);
        let stored = whole.store.write(|writer| {
            // Read here: a deletion comes before, and is noticed, or after, and takes it along.
            let resolved = writer.read_as(&self.store, |reader| {
                let gone = names_gone(reader, draft, names_before)?;
                if gone.is_empty() { resolve(reader, draft).map(Ok) } else { Ok(Err(gone)) }
            })?;
            let record = match resolved {
                Ok(record) => record,
                Err(gone) => {
                    let gone = gone.into_iter().map(|name| (name, vec![])).collect();
                    return Ok(Err(KbError::NoDocument { unknown: UnknownNames(gone) }));
                }
            };
            for former in said_before(writer, &record)? {
                writer.remove_feedback(former)?;
            }
            let id = writer.add_feedback(id, &record)?;
            writer.publish()?;
            Ok(Ok(id))
        });
        let id = stored.flatten()?;
        self.refresh()?;
        self.feedback(&feedback_id(id))
    }
}

/// The names of documents of a draft that are in the base.
pub(super) fn names_there(
    reader: &StoreReader<'_>,
    draft: &FeedbackDraft,
) -> heed::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for name in &draft.documents {
        if reader.named(name)?.is_some() {
            names.insert(name.clone());
        }
    }
    Ok(names)
}

/// Names of a draft whose documents were deleted: those that were in the base before, and, where
/// what is cited is gone, all that are not there. Otherwise a name that is not there may be that of
/// a page of the web or of a knowledge graph.
fn names_gone(
    reader: &StoreReader<'_>,
    draft: &FeedbackDraft,
    names_before: &BTreeSet<String>,
) -> heed::Result<Vec<String>> {
    let there = names_there(reader, draft)?;
    let mut missing: Vec<String> = draft.documents.clone();
    missing.retain(|name| !there.contains(name));
    if missing.is_empty() {
        return Ok(missing);
    }
    let sources = draft.candidates.iter().flat_map(|candidate| &candidate.sources);
    for node in draft.cited.iter().chain(sources) {
        if let Some((layer, id)) = parse_id(node)
            && reader.find(layer, id)?.is_none()
        {
            return Ok(missing);
        }
    }
    missing.retain(|name| names_before.contains(name));
    Ok(missing)
}

/// What the same person said of a run, as far as nothing of it was accepted.
fn said_before(reader: &StoreReader<'_>, record: &FeedbackRecord) -> heed::Result<Vec<Id>> {
    let mut before = reader.feedback_near(record)?;
    before.retain(|(_, other)| {
        let accepted = other.candidates.iter().any(|candidate| candidate.atom.is_some());
        other.run == record.run && other.by == record.by && !accepted
    });
    Ok(before.into_iter().map(|(id, _)| id).collect())
}

fn resolve(reader: &StoreReader<'_>, draft: &FeedbackDraft) -> heed::Result<FeedbackRecord> {
    let mut documents = BTreeSet::new();
    for name in &draft.documents {
        documents.extend(reader.named(name)?);
    }
    let mut cited = vec![];
    for node in &draft.cited {
        cited.extend(chunks_of(reader, node)?);
    }
    let mut candidates = vec![];
    for candidate in &draft.candidates {
        candidates.extend(resolve_candidate(reader, candidate)?);
    }
    let mut record = FeedbackRecord {
        run: draft.run.clone(),
        question: draft.question.clone(),
        answer: draft.answer.clone(),
        strategy: draft.strategy.clone(),
        verdict: draft.verdict,
        correction: draft.correction.clone(),
        note: draft.note.clone(),
        by: draft.by.clone(),
        at: draft.at_ms / 1000,
        documents: vec![],
        cited: unique(cited),
        candidates,
        dismissed: false,
    };
    for chunk in record.chunks() {
        let chunk: ChunkRecord = reader.linked(chunk)?;
        documents.insert(chunk.document);
    }
    record.documents = documents.into_iter().collect();
    Ok(record)
}

/// `None` where it rests on no chunk.
fn resolve_candidate(
    reader: &StoreReader<'_>,
    draft: &CandidateDraft,
) -> heed::Result<Option<CandidateRecord>> {
    let mut chunks = vec![];
    for node in &draft.sources {
        chunks.extend(chunks_of(reader, node)?);
    }
    let mut chunks = unique(chunks);
    chunks.truncate(MAX_SOURCES);
    Ok((!chunks.is_empty()).then(|| CandidateRecord {
        kind: draft.kind,
        question: draft.question.clone(),
        answer: draft.answer.clone(),
        chunks,
        state: CandidateState::Pending,
        by: String::new(),
        at: 0,
        atom: None,
        check: None,
    }))
}

/// The chunks that a node is or was made of; of a section or document its first one. None of a node
/// that is not there.
fn chunks_of(reader: &StoreReader<'_>, id: &NodeId) -> heed::Result<Vec<Row>> {
    let Some((layer, id)) = parse_id(id) else { return Ok(vec![]) };
    let Some(row) = reader.find(layer, id)? else { return Ok(vec![]) };
    if layer == Layer::Chunk {
        return Ok(vec![row]);
    }
    let Some(record) = reader.record((layer, row))? else { return Ok(vec![]) };
    let mut sources = record.sources(reader, row)?;
    if matches!(layer, Layer::Section | Layer::Document) {
        sources = vec![(layer, row)];
    }
    let mut chunks = vec![];
    for (layer, row) in sources {
        match layer {
            Layer::Chunk => chunks.push(row),
            Layer::Document => {
                chunks.extend(reader.node(row)?.as_ref().and_then(first_chunk));
            }
            _ => {
                let parts = reader.record((layer, row))?.map_or(0..0, |record| record.chunks(row));
                chunks.extend(parts.take(1));
            }
        }
    }
    Ok(chunks)
}

fn first_chunk(document: &DocumentRecord) -> Option<Row> {
    (document.chunks.0 < document.chunks.1).then_some(document.chunks.0)
}

fn unique(rows: Vec<Row>) -> Vec<Row> {
    let mut seen = BTreeSet::new();
    rows.into_iter().filter(|row| seen.insert(*row)).collect()
}
