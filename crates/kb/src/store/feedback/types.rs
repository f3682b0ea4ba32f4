//! What a person or a verifier can say of an answer, as it is stored and shown.
use serde::{Deserialize, Serialize};

use crate::store::{Id, Row};

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

/// The id of feedback as it is shown.
pub(crate) fn feedback_id(id: Id) -> String {
    format!("{id:016x}")
}

/// What [`feedback_id`] made.
pub(crate) fn parse_feedback_id(id: &str) -> Option<Id> {
    (id.len() == 16).then(|| Id::from_str_radix(id, 16).ok())?
}
