//! Files that some data sets publish next to their questions: passages, and aliases of answers.
use std::collections::HashMap;

use serde::Deserialize;

use super::item::Passage;

/// Which file belongs to the questions, and what is in it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Companion {
    pub file: String,
    pub holds: CompanionContent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompanionContent {
    /// Further names of Wikidata's entities, a line each (2WikiMultiHopQA).
    Aliases,
    /// Abstracts, a line each (`SciFact`).
    Abstracts,
    /// One object of paragraphs by id (`StrategyQA`).
    Paragraphs,
}

/// What the companion file of a data file holds; empty without one.
#[derive(Debug, Default)]
pub(super) struct CompanionFiles {
    /// By the id under which the questions name them.
    pub(super) passages: HashMap<String, Passage>,
    /// Further names of an answer, by the answer's id.
    pub(super) aliases: HashMap<String, Vec<String>>,
}
