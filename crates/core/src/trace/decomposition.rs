//! The hops of a decomposition in a trace, as a decomposer is trained on them (PIKE-RAG,
//! Algorithm 2): written as a note, read by the collection of training data.
use serde::{Deserialize, Serialize};

use super::{Event, Trace};
use crate::NodeId;

/// How a note of it begins; a JSON object follows.
const MARK: &str = "decomposition hop ";

/// One turn of the loop: what was proposed, offered, chosen and read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DecompositionHop {
    /// The chunk that was shown to the proposer in addition to the context, where one was sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<NodeId>,
    /// AP: the sub-questions that the proposer suggests.
    pub proposals: Vec<String>,
    /// RAP: what was offered to the selector, best first.
    pub candidates: Vec<HopCandidate>,
    /// What was near, but not near enough to be offered: the pool that contexts are sampled from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<HopCandidate>,
    /// What was chosen; `None` ends the loop.
    pub chosen: Option<ChosenHop>,
}

/// An atom of a chunk, and how near it is to the nearest proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HopCandidate {
    pub chunk: NodeId,
    pub title: String,
    pub text: String,
    /// A cosine where both have a vector; otherwise the score of the search.
    pub sim: f32,
}

/// The sub-question of a hop with its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenHop {
    /// Its place among the candidates, from 0.
    pub candidate: usize,
    /// The chosen atom, if it is a question; otherwise the proposal that found it.
    pub sub_question: String,
    /// Read from the chunk alone; empty where it holds none.
    pub answer: String,
    pub chunk: NodeId,
}

impl DecompositionHop {
    /// The note that [`Trace::decomposition`] reads.
    pub fn note(&self) -> String {
        let json = serde_json::to_string(self).expect("texts, ids and numbers are JSON");
        format!("{MARK}{json}")
    }
}

impl Trace {
    /// Every hop that was recorded for training, in order.
    pub fn decomposition(&self) -> Vec<DecompositionHop> {
        let hop = |event: &Event| match event {
            Event::Note { note, .. } => serde_json::from_str(note.strip_prefix(MARK)?).ok(),
            _ => None,
        };
        self.0.iter().filter_map(hop).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hop_is_read_from_its_note() {
        let candidate = HopCandidate {
            chunk: "c1".into(),
            title: "Varn".into(),
            text: "Who built Varn?".into(),
            sim: 0.5,
        };
        let chosen = ChosenHop {
            candidate: 0,
            sub_question: "Who built Varn?".into(),
            answer: "Thorn".into(),
            chunk: "c1".into(),
        };
        let hop = DecompositionHop {
            proposals: vec!["Who built “Varn”?".into()],
            candidates: vec![candidate],
            chosen: Some(chosen),
            ..DecompositionHop::default()
        };
        let note = |note: String| Event::Note { span: 1, note };
        let trace = Trace(vec![note(hop.note()), note("decomposition hop is off".into())]);
        assert_eq!(trace.decomposition(), [hop]);
    }
}
