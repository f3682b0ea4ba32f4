//! What feedback is, as it is given and shown.
use std::collections::BTreeMap;

use halma_core::NodeId;
use serde::{Deserialize, Serialize};

use crate::store::Id;

/// What a person says of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Right,
    Wrong,
    Incomplete,
}

impl Verdict {
    pub const ALL: [Self; 3] = [Self::Right, Self::Wrong, Self::Incomplete];

    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Incomplete => "incomplete",
        }
    }

    /// `None` for any other word.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }
}

/// What a candidate for knowledge is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CandidateKind {
    /// The question with its answer, or with the correction.
    Answer,
    /// A question on the way, with what was found for it.
    SubAnswer,
    /// A question that was answered by computing over rows of tables.
    Rows,
    /// A series that was made of dated rows.
    Series,
    /// Ideas and what speaks for and against them.
    Synthesis,
}

impl CandidateKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::SubAnswer => "sub_answer",
            Self::Rows => "rows",
            Self::Series => "series",
            Self::Synthesis => "synthesis",
        }
    }

    /// Whether it answers its question when that is asked again. A series grows, and ideas are to
    /// be had again.
    pub(crate) fn is_recalled(self) -> bool {
        matches!(self, Self::Answer | Self::SubAnswer | Self::Rows)
    }
}

/// What became of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum CandidateState {
    Pending,
    Accepted,
    Rejected,
    /// It was accepted and is taken back.
    Undone,
}

impl CandidateState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Undone => "undone",
        }
    }
}

/// What a verifier found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Check {
    /// How certain the passages make it, from 0 to 1.
    pub score: f32,
    pub reason: String,
}

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

/// The id of feedback as it is shown.
pub(crate) fn feedback_id(id: Id) -> String {
    format!("{id:016x}")
}

/// What [`feedback_id`] made.
pub(crate) fn parse_feedback_id(id: &str) -> Option<Id> {
    (id.len() == 16).then(|| Id::from_str_radix(id, 16).ok())?
}
