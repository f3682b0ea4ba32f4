//! Feedback on answers, and the knowledge that is accepted from it (PIKE-RAG, Figure 2 and Section
//! 4.1): a person says whether an answer is right, and what it found is accepted as atoms, which are
//! searched like any others, are marked, and are taken back without trace.
mod decide;
mod list;
mod recall;
mod submit;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use halma_core::NodeId;
use serde::Serialize;

pub use self::list::FeedbackQuery;
pub use self::recall::KnownAnswer;
use crate::store::{CandidateKind, CandidateState, Check, Verdict};

/// Feedback that is about to be stored.
#[derive(Debug, Clone)]
pub struct FeedbackDraft {
    /// Id of the trace.
    pub run: String,
    pub question: String,
    pub answer: String,
    pub strategy: String,
    pub verdict: Verdict,
    /// Empty where there is none.
    pub correction: String,
    pub note: String,
    /// Id of the key that gives it; empty on the command line.
    pub by: String,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// Names of the documents that the run quotes.
    pub documents: Vec<String>,
    /// What the answer cites.
    pub cited: Vec<NodeId>,
    pub candidates: Vec<CandidateDraft>,
}

/// Something that may become knowledge.
#[derive(Debug, Clone, PartialEq)]
pub struct CandidateDraft {
    pub kind: CandidateKind,
    pub question: String,
    pub answer: String,
    /// Nodes that it rests on. A candidate that rests on no chunk of the base is left out.
    pub sources: Vec<NodeId>,
}

/// Feedback on an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Feedback {
    pub id: String,
    /// Id of the trace, which may be deleted by now.
    pub run: String,
    pub question: String,
    pub answer: String,
    pub strategy: String,
    pub verdict: Verdict,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub correction: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Id of the key that gave it; empty on the command line.
    pub by: String,
    /// Seconds since 1970.
    pub at: u64,
    /// Names of the documents that the run quotes.
    pub documents: Vec<String>,
    /// The chunks that the answer cites.
    pub cited: Vec<NodeId>,
    pub candidates: Vec<FeedbackCandidate>,
    /// It was rejected as a whole.
    pub dismissed: bool,
    /// Ids of feedback that says otherwise: on the same run, or of the same question.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradicts: Vec<String>,
}

/// Something that may become knowledge, or has.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FeedbackCandidate {
    /// Within its feedback, from 1.
    pub number: usize,
    pub kind: CandidateKind,
    pub question: String,
    pub answer: String,
    /// The chunks that it rests on.
    pub sources: Vec<NodeId>,
    pub state: CandidateState,
    /// Who decided: id of a key, `verifier`, or empty on the command line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// When, in seconds since 1970; 0 while it is pending.
    pub at: u64,
    /// The atom that it was made into, while it is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atom: Option<NodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
}

/// A decision about the candidates of feedback.
#[derive(Debug, Clone, Default)]
pub struct Decision {
    /// Numbers of candidates, from 1; all where there are none.
    pub candidates: Vec<usize>,
    /// Id of the key that decides, or `verifier`; empty on the command line.
    pub by: String,
    /// Seconds since 1970.
    pub at: u64,
    /// Accept although other feedback says otherwise.
    pub despite: bool,
    /// What a verifier found, by number of the candidate.
    pub checks: BTreeMap<usize, Check>,
}
