//! How a base is built and opened.
use std::sync::Arc;

use halma_core::Embedder;
use serde::{Deserialize, Serialize};

use crate::GraphSettings;

/// The `[kb]` table of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KbSettings {
    /// What atoms are made of.
    pub atoms: Atoms,
    /// A chunk holds at most this many characters, unless one sentence alone is longer.
    pub chunk_chars: usize,
    /// Chunks that are atomized at the same time.
    pub concurrency: usize,
    /// At most this many atoms are kept of one chunk.
    pub max_atoms: usize,
    /// Where the entities come from that chunks name.
    pub entities: Entities,
    /// The weights of graph search.
    pub graph: GraphSettings,
}

impl Default for KbSettings {
    fn default() -> Self {
        Self {
            atoms: Atoms::Questions,
            chunk_chars: 1500,
            concurrency: 16,
            max_atoms: 24,
            entities: Entities::Names,
            graph: GraphSettings::default(),
        }
    }
}

/// What the atoms of a chunk are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Atoms {
    /// The questions that the chunk answers, by the model of role `atomizer`.
    #[default]
    Questions,
    /// Its sentences, the title put in for a leading pronoun. No model is asked.
    Sentences,
    None,
}

/// Where the entities of a base come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entities {
    /// The names in chunks and titles, found by rule. No model is asked.
    #[default]
    Names,
    None,
}

/// The least cosines that count as a match with the embedder in use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thresholds {
    pub chunk: f32,
    pub atom: f32,
}

impl Default for Thresholds {
    /// KAR³'s 0.5 for atoms and 0.2 for chunks.
    fn default() -> Self {
        Self { chunk: 0.2, atom: 0.5 }
    }
}

/// What a base is opened with.
#[derive(Clone, Default)]
pub struct BaseOptions {
    /// Without one only words are searched.
    pub embedder: Option<Arc<dyn Embedder>>,
    pub thresholds: Thresholds,
    pub graph: GraphSettings,
}

/// How an input file is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputFormat {
    /// By its name and what it holds.
    #[default]
    Auto,
    Hotpotqa,
    TwoWiki,
    Musique,
}
