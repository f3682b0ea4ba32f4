//! What goes into a strategy and what comes out of it.
use serde::{Deserialize, Serialize};

use crate::{Hit, NodeId};

/// One question. A strategy answers one and never sees another.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Question {
    pub id: String,
    pub text: String,
    /// The choices of a multiple-choice question; empty otherwise.
    #[serde(default)]
    pub options: Vec<String>,
    #[serde(default)]
    pub answer_kind: AnswerKind,
}

impl Question {
    /// A free question with no options, asked by a person.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { id: "q".into(), text, options: vec![], answer_kind: AnswerKind::default() }
    }
}

/// The shape the answer should have; prompts choose their instruction by it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// As few words as carry the answer: a name, a date, a number, yes or no.
    #[default]
    Short,
    YesNo,
    Option,
    Number,
    Long,
    /// Whether a claim holds: one of the options, which are verdicts.
    Verdict,
}

/// What a strategy returns. An abstention has empty `text` and says why in `reason`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Answer {
    pub text: String,
    /// The reader's account of how the answer follows, or why there is none.
    pub reason: String,
    pub citations: Vec<Citation>,
    /// The knowledge does not hold the answer.
    pub abstained: bool,
    /// In `[0, 1]` where the strategy can tell.
    pub confidence: Option<f32>,
    /// A budget was spent before the strategy was done.
    pub partial: bool,
}

/// A passage the answer rests on. `start..end` are characters (Unicode scalar values) of the
/// document's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Citation {
    pub node: NodeId,
    /// The document's name: its path below the indexed folder, or the record's id.
    pub document: String,
    pub title: String,
    pub section: Option<String>,
    pub page: Option<u32>,
    pub start: usize,
    pub end: usize,
    pub quote: String,
}

impl From<&Hit> for Citation {
    fn from(hit: &Hit) -> Self {
        Self {
            node: hit.id.clone(),
            document: hit.document.clone(),
            title: hit.title.clone(),
            section: hit.section.clone(),
            page: hit.page,
            start: hit.span.start,
            end: hit.span.end,
            quote: hit.text.clone(),
        }
    }
}
