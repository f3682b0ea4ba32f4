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
    /// When it was asked, in words of its source, where the answer may change with time; prompts
    /// show it.
    #[serde(default)]
    pub asked_at: Option<String>,
    /// Whether no answer may be given where the knowledge does not hold one.
    #[serde(default = "yes")]
    pub abstain: bool,
    /// Whether a reader may add what it knows itself to what it is shown.
    #[serde(default)]
    pub own_knowledge: bool,
}

fn yes() -> bool {
    true
}

impl Question {
    /// A free question with no options, asked by a person.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            id: "q".into(),
            text: text.into(),
            options: vec![],
            answer_kind: AnswerKind::default(),
            asked_at: None,
            abstain: true,
            own_knowledge: false,
        }
    }

    /// A free question on the way to the answer of this one, asked at the same time. It may stay
    /// without an answer, whatever holds for this one.
    #[must_use]
    pub fn sub_question(&self, text: impl Into<String>) -> Self {
        let (asked_at, own_knowledge) = (self.asked_at.clone(), self.own_knowledge);
        Self { asked_at, own_knowledge, ..Self::new(text) }
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

/// How an answer is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AnswerStyle {
    /// The answer alone, as evaluations compare it.
    Short,
    /// In addition, sentences that explain it, each with the numbers of its sources.
    #[default]
    Full,
}

/// What kind of result a question has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ResultKind {
    /// An answer that the cited passages state.
    #[default]
    Answer,
    /// The nearest passages, in place of an answer.
    Passages,
    /// A value computed from tables or from a list of what was found.
    Count,
    /// A value predicted from a series.
    Forecast,
    /// Neither an answer nor passages.
    None,
}

/// A passage that is shown where there is no answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NearestPassage {
    /// The whole passage.
    pub text: String,
    /// Where it is; it quotes the sentence that is nearest to the question.
    pub source: Citation,
}

/// What a strategy returns. An abstention has empty `text` and says why in `reason`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Answer {
    pub text: String,
    #[serde(default)]
    pub kind: ResultKind,
    /// The reader's account of how the answer follows, or why there is none.
    pub reason: String,
    pub citations: Vec<Citation>,
    /// The knowledge does not hold the answer.
    pub abstained: bool,
    /// In `[0, 1]` where the strategy can tell.
    pub confidence: Option<f32>,
    /// A budget was spent before the strategy was done.
    pub partial: bool,
    /// How the text was computed from what is cited, where it was: by a query, a count, a forecast.
    /// No citation has to state it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computation: Option<String>,
    /// What the answer falls short of, in a sentence for people: a summary in place of a forecast.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limitation: Option<String>,
    /// The way to the answer, in the order of the hops.
    #[serde(default)]
    pub steps: Vec<AnswerStep>,
    /// The answer in sentences; only where the full style was asked for. A strategy that numbers its
    /// citations itself has written it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<FullAnswer>,
    /// The passages nearest to a question that has no answer, nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passages: Vec<NearestPassage>,
}

impl Answer {
    /// The sentences of the full style, or else the short answer.
    pub fn written(&self) -> &str {
        self.full.as_ref().map_or(&self.text, |full| &full.text)
    }

    /// Whether the sentences are the short answer with the numbers of its citations.
    pub fn is_written_as_given(&self) -> bool {
        let letters = |text: &str| -> Vec<char> {
            let mut inside = false;
            let outside = |c: &char| {
                inside = *c == '[' || (inside && *c != ']');
                !inside && c.is_alphanumeric()
            };
            text.chars().filter(outside).collect()
        };
        self.full.as_ref().is_some_and(|full| letters(&full.text) == letters(&self.text))
    }
}

/// One step to the answer: what was asked and the citation that settled it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AnswerStep {
    /// The query that found the cited passage; empty where the trace does not tell.
    pub query: String,
    /// The number of the citation, from 1.
    pub citation: usize,
}

/// An answer in sentences.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FullAnswer {
    /// Sentences with the numbers of their citations: `… in 1931 [2].`
    pub text: String,
    pub claims: Vec<Claim>,
}

/// A sentence of a full answer. `start..end` are characters (Unicode scalar values) of its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Claim {
    pub start: usize,
    pub end: usize,
    /// The numbers of its citations, from 1.
    pub citations: Vec<usize>,
    /// Whether a cited passage supports it.
    pub supported: bool,
}

impl FullAnswer {
    /// The text with `mark` after every claim that no passage supports.
    pub fn with_marks(&self, mark: &str) -> String {
        let chars: Vec<char> = self.text.chars().collect();
        let mut out = String::with_capacity(self.text.len());
        let mut at = 0;
        for claim in self.claims.iter().filter(|claim| !claim.supported) {
            out.extend(chars.get(at..claim.end).unwrap_or_default());
            out.push_str(mark);
            at = claim.end.min(chars.len());
        }
        out.extend(&chars[at..]);
        out
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_only_add_numbers_are_the_answer_as_given() {
        let written = |text: &str, full: &str| {
            let full = Some(FullAnswer { text: full.into(), claims: vec![] });
            Answer { text: text.into(), full, ..Answer::default() }.is_written_as_given()
        };
        assert!(written("One is red. Two is blue", "One is red [1]. Two is blue [2][3]."));
        assert!(!written("Red", "One is red [1]."));
        assert!(!Answer { text: "Red".into(), ..Answer::default() }.is_written_as_given());
    }
}
