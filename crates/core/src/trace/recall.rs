//! Keyword-enhanced recall (DEC, Section 3.2) in a trace: written as a note, read by metrics.
use serde::{Deserialize, Serialize};

use super::{Event, Trace};
use crate::NodeId;

/// How a note of it begins; a JSON object follows.
const MARK: &str = "keyword recall ";

/// What one search found, and which of it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeywordRecall {
    /// K, in the form in which they are compared; none where the recall is without keywords.
    pub keywords: Vec<String>,
    /// D*, nearest first.
    pub retained: Vec<NodeId>,
    /// D, nearest first.
    pub retrieved: Vec<NodeId>,
    pub query: String,
}

impl KeywordRecall {
    /// The note that [`Trace::keyword_recalls`] reads.
    pub fn note(&self) -> String {
        let json = serde_json::to_string(self).expect("texts and ids are JSON");
        format!("{MARK}{json}")
    }
}

impl Trace {
    /// Every keyword-enhanced recall of the run, in order.
    pub fn keyword_recalls(&self) -> Vec<KeywordRecall> {
        let recall = |event: &Event| match event {
            Event::Note { note, .. } => serde_json::from_str(note.strip_prefix(MARK)?).ok(),
            _ => None,
        };
        self.0.iter().filter_map(recall).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recall_is_read_from_its_note() {
        let recall = KeywordRecall {
            keywords: vec!["pink panther".into()],
            retained: vec!["b".into()],
            retrieved: vec!["a".into(), "b".into()],
            query: "Who made “The Pink Panther”?".into(),
        };
        let note = |note: String| Event::Note { span: 1, note };
        let trace = Trace(vec![note(recall.note()), note("keyword recall is off".into())]);
        assert_eq!(trace.keyword_recalls(), [recall]);
    }
}
