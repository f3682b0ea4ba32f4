//! Storing feedback.
use std::collections::BTreeSet;

use halma_core::{Layer, NodeId};

use super::types::feedback_id;
use super::{CandidateDraft, CandidateState, Feedback, FeedbackDraft};
use crate::store::{
    CandidateRecord, ChunkRecord, DocumentRecord, FeedbackRecord, Id, Row, StoreReader, hash,
    parse_id,
};
use crate::{Base, KbError};

/// Chunks that one candidate rests on, at most: an answer over many rows cites its first ones.
const MOST_SOURCES: usize = 32;

/// Bits of an id that distinguish what is given in the same millisecond.
const SALT_BITS: u32 = 20;

impl Base {
    /// Stores feedback on an answer. What the run quoted and is not in the base any more is left
    /// out. In a view of some documents it is about these alone. It takes the place of what the same
    /// person said of the run before, unless something of that was accepted.
    pub fn add_feedback(&self, draft: &FeedbackDraft) -> Result<Feedback, KbError> {
        let record = self.store.read(|reader| resolve(reader, draft))?;
        let salt = hash(&[draft.run.as_bytes(), draft.by.as_bytes(), draft.note.as_bytes()]);
        let id = draft.at_ms << SALT_BITS | salt >> (u64::BITS - SALT_BITS);
        let whole = self.whole.as_deref().unwrap_or(self);
        let id = whole.store.write(|writer| {
            for former in said_before(writer, &record)? {
                writer.remove_feedback(former)?;
            }
            let id = writer.add_feedback(id, &record)?;
            writer.publish()?;
            Ok(id)
        })?;
        self.refresh()?;
        self.feedback(&feedback_id(id))
    }
}

/// What the same person said of a run, as far as nothing of it was accepted.
fn said_before(reader: &StoreReader<'_>, record: &FeedbackRecord) -> heed::Result<Vec<Id>> {
    let mut before = reader.all_feedback()?;
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
    chunks.truncate(MOST_SOURCES);
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
                let held = reader.record((layer, row))?.map_or(0..0, |record| record.chunks(row));
                chunks.extend(held.take(1));
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
