//! The format of a recorded run, and whether it can be followed at all.
use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Run {
    pub(crate) question: String,
    pub(crate) answer: String,
    pub(crate) metadata: Metadata,
    pub(crate) answer_metadata: AnswerMetadata,
}

#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub(crate) retrieval_contexts: Vec<Paragraph>,
}

#[derive(Deserialize)]
pub(crate) struct Paragraph {
    pub(crate) title: String,
    pub(crate) contents: String,
}

#[derive(Deserialize)]
pub(crate) struct AnswerMetadata {
    /// The reader's reply, letter by letter.
    pub(crate) response: String,
    /// `Sub1`, `Sub2`, …
    pub(crate) decomposition_infos: BTreeMap<String, Hop>,
}

#[derive(Deserialize)]
pub(crate) struct Hop {
    pub(crate) proposal: Proposal,
    #[serde(default)]
    pub(crate) retrieval: Vec<Row>,
    pub(crate) selection: Option<Selection>,
}

#[derive(Deserialize)]
pub(crate) struct Proposal {
    pub(crate) to_decompose: bool,
    pub(crate) thinking: String,
    #[serde(rename = "proposal_list")]
    pub(crate) listed: Vec<String>,
}

/// A candidate: the atom and its passage, under the proposal it was found for.
#[derive(Deserialize)]
pub(crate) struct Row {
    pub(crate) relevant_proposal: String,
    #[serde(rename = "sub-question")]
    pub(crate) atom: String,
    #[serde(rename = "relevant_context")]
    pub(crate) passage: String,
}

#[derive(Deserialize)]
pub(crate) struct Selection {
    pub(crate) thinking: String,
    pub(crate) chosen_info: Option<Chosen>,
}

#[derive(Deserialize)]
pub(crate) struct Chosen {
    #[serde(rename = "question")]
    pub(crate) atom: String,
    #[serde(rename = "source_chunk")]
    pub(crate) passage: String,
}

impl Run {
    /// The hops in their order, or what is wrong with the recording.
    pub(crate) fn hops(&self) -> Result<Vec<&Hop>, String> {
        let mut hops = vec![];
        let mut read: BTreeSet<&str> = BTreeSet::new();
        for k in 1..=self.answer_metadata.decomposition_infos.len() {
            let hop = self.answer_metadata.decomposition_infos.get(&format!("Sub{k}"));
            let hop = hop.ok_or_else(|| format!("there is no hop {k}"))?;
            if let Some(chosen) = hop.chosen() {
                let offered = |row: &Row| row.atom == chosen.atom && row.passage == chosen.passage;
                if !hop.retrieval.iter().any(offered) {
                    return Err(format!("hop {k} chooses what it was not offered"));
                }
                read.insert(&chosen.passage);
            }
            hops.push(hop);
        }
        let ended = hops.last().is_some_and(|hop| hop.chosen().is_none());
        if ended || hops.len() == 5 { Ok(hops) } else { Err("it breaks off".into()) }
    }
}

impl Hop {
    /// Whether a passage was chosen that no atom was chosen for.
    pub(crate) fn chosen_at_second(&self) -> bool {
        self.chosen().is_some() && self.second_look()
    }

    pub(crate) fn chosen(&self) -> Option<&Chosen> {
        self.selection.as_ref()?.chosen_info.as_ref()
    }

    /// Whether no atom was chosen and the passages were shown as well: the thoughts of the second
    /// look stand on a line of their own.
    pub(crate) fn second_look(&self) -> bool {
        self.chosen().is_none()
            || self.selection.as_ref().is_some_and(|selection| selection.thinking.contains('\n'))
    }
}
