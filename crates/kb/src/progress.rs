//! How far a build is, reported while it runs.
use std::sync::Arc;

use serde::Serialize;

/// Called after each step of the build; must return at once.
pub type Progress = Arc<dyn Fn(PhaseProgress) + Send + Sync>;

/// How far a stage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PhaseProgress {
    pub stage: Phase,
    pub done: usize,
    pub total: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Another `index` holds the base; this one resumes when that one is done.
    Wait,
    /// Counts bytes of the input files.
    Read,
    /// Counts figures that are described.
    Describe,
    /// Counts documents that a model or the embedder chunks.
    Chunk,
    /// Counts chunks.
    Atomize,
    /// Counts texts (chunks and atoms).
    Embed,
    /// Counts chunks that facts are extracted from.
    Facts,
    /// Counts pairs of entities that may be one.
    Resolve,
    /// Counts chunks that are tagged.
    Tag,
    /// Counts sections and documents, and parts of long ones.
    Summarize,
    /// Counts communities.
    Communities,
    /// Counts chunks whose names are linked.
    Link,
    /// Counts nodes entered in the word index.
    Store,
    /// Counts documents that are gone and removed.
    Prune,
}

impl Phase {
    /// What is done, as a person reads it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wait => "waiting",
            Self::Read => "reading",
            Self::Describe => "describing figures",
            Self::Chunk => "chunking",
            Self::Atomize => "atomizing",
            Self::Embed => "embedding",
            Self::Link => "linking names",
            Self::Facts => "extracting facts",
            Self::Resolve => "resolving entities",
            Self::Tag => "tagging",
            Self::Summarize => "summarizing",
            Self::Communities => "describing communities",
            Self::Store => "indexing text",
            Self::Prune => "removing",
        }
    }
}
