//! A made question as it is written: a record of `BlendQA`.
use serde::Serialize;

use super::kind::{Kind, Sort};

/// A question with its two halves. The first half's answer is `entity`, which the second half
/// names and the question does not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Blended {
    /// From 1, over all kinds.
    pub index: usize,
    #[serde(rename = "type")]
    pub kind: Kind,
    pub question: String,
    pub sub_q1: String,
    pub sub_source1: Place,
    pub entity: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity_id: Option<String>,
    pub sub_q2: String,
    pub sub_source2: Place,
    pub short_answer: String,
    /// `short_answer` and other ways to write it.
    pub answers: Vec<String>,
}

/// Where the answer of a sub-question lies, with the words it was checked against.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "source", rename_all = "snake_case")]
pub enum Place {
    Text { document: String, title: String, text: String },
    Web { address: String, title: String, text: String },
    Kg { triples: Vec<Triple> },
}

/// Head, relation, tail; the direction is `backward` where the graph writes it from tail to head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Triple(pub String, pub String, pub String, pub Direction);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Forward,
    Backward,
}

impl Place {
    pub fn sort(&self) -> Sort {
        match self {
            Self::Text { .. } => Sort::Text,
            Self::Web { .. } => Sort::Web,
            Self::Kg { .. } => Sort::Kg,
        }
    }

    /// Everything that it says.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Text { title, text, .. } | Self::Web { title, text, .. } => {
                format!("{title}\n{text}")
            }
            Self::Kg { triples } => {
                let line =
                    |Triple(head, relation, tail, _): &Triple| format!("{head} {relation} {tail}");
                triples.iter().map(line).collect::<Vec<_>>().join("\n")
            }
        }
    }
}
