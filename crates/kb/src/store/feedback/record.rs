//! What is stored of feedback on an answer.
use serde::{Deserialize, Serialize};

use super::types::{CandidateKind, CandidateState, Check, Verdict};
use crate::store::Row;

/// What a person said of an answer, and what of the answer may become knowledge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FeedbackRecord {
    /// Id of the trace.
    pub(crate) run: String,
    pub(crate) question: String,
    pub(crate) answer: String,
    pub(crate) strategy: String,
    pub(crate) verdict: Verdict,
    /// Empty where there is none.
    pub(crate) correction: String,
    pub(crate) note: String,
    /// Id of the key that gave it; empty on the command line.
    pub(crate) by: String,
    /// Seconds since 1970.
    pub(crate) at: u64,
    /// The documents that the run quotes.
    pub(crate) documents: Vec<Row>,
    /// The chunks that the answer cites.
    pub(crate) cited: Vec<Row>,
    pub(crate) candidates: Vec<CandidateRecord>,
    /// It was rejected as a whole.
    pub(crate) dismissed: bool,
}

/// Something that may become knowledge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CandidateRecord {
    pub(crate) kind: CandidateKind,
    pub(crate) question: String,
    pub(crate) answer: String,
    /// What it rests on; never empty.
    pub(crate) chunks: Vec<Row>,
    pub(crate) state: CandidateState,
    /// Who decided, and when in seconds since 1970.
    pub(crate) by: String,
    pub(crate) at: u64,
    /// The atom that it was made into, while it is accepted.
    pub(crate) atom: Option<Row>,
    pub(crate) check: Option<Check>,
}

impl FeedbackRecord {
    /// Every chunk that it quotes, each once.
    pub(crate) fn chunks(&self) -> Vec<Row> {
        let candidates = self.candidates.iter().flat_map(|candidate| &candidate.chunks);
        let mut chunks: Vec<Row> = self.cited.iter().chain(candidates).copied().collect();
        chunks.sort_unstable();
        chunks.dedup();
        chunks
    }
}
