//! The parts of a base that stay as they were made, whatever the configuration says.
use serde::{Deserialize, Serialize};

/// In a base of at most this many chunks another wording of a prompt is applied to all of them
/// without being asked for; in a larger one results of the former wording are kept.
pub(crate) const MAX_CHUNKS_UNASKED: u64 = 200;

/// A part of a base that is rebuilt on request only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum BasePart {
    /// `kb.atoms` and `kb.max_atoms`, and the prompt that makes them.
    Atoms,
    /// `kb.chunks` and the sizes that belong to it; of the documents that the run reads.
    Chunks,
    /// `kb.entities`, and the prompts that extract them.
    Entities,
    /// `kb.tags`, its prompts, and the classes of tags.
    Tags,
    /// `kb.summaries`.
    Summaries,
    /// `kb.communities`.
    Communities,
    /// `kb.tables_of`, and the prompt that fills them.
    Tables,
    /// The layers that have vectors: `kb.vectors`.
    Vectors,
    /// The embedder of all vectors: `embedder`.
    Embedder,
}

impl BasePart {
    pub const ALL: [Self; 9] = [
        Self::Atoms,
        Self::Chunks,
        Self::Entities,
        Self::Tags,
        Self::Summaries,
        Self::Communities,
        Self::Tables,
        Self::Vectors,
        Self::Embedder,
    ];

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Atoms => "atoms",
            Self::Chunks => "chunks",
            Self::Entities => "entities",
            Self::Tags => "tags",
            Self::Summaries => "summaries",
            Self::Communities => "communities",
            Self::Tables => "tables",
            Self::Vectors => "vectors",
            Self::Embedder => "embedder",
        }
    }

    /// The prompts that its units are asked with.
    pub(crate) fn prompts(self) -> &'static [&'static str] {
        match self {
            Self::Entities => &["kb/facts", "kb/same"],
            Self::Tags => &["kb/tag_classes", "kb/tag"],
            Self::Summaries => &["kb/summarise"],
            Self::Communities => &["kb/community"],
            Self::Tables => &["kb/rows"],
            Self::Atoms => &["kb/atomize"],
            Self::Chunks | Self::Vectors | Self::Embedder => &[],
        }
    }
}

/// A part that stays as it was made although the configuration says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct KeptPart {
    pub part: BasePart,
    /// What the base was made with, and what the configuration says.
    pub made_with: String,
    pub configured: String,
}
