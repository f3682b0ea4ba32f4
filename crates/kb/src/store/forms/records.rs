//! What is kept under the keys of names.
use serde::{Deserialize, Serialize};

use super::NameKey;
use crate::store::{Id, Row};

/// What is known of all names together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FormsState {
    /// How names are taken apart and compared: with another version all of this is made again.
    pub(crate) version: u32,
    /// Whether all entities are to be resolved.
    pub(crate) everything: bool,
    /// Chunks that were extracted from.
    pub(crate) chunks: u64,
    /// Facts that they state.
    pub(crate) facts: u64,
    /// What was not kept of the replies: invented, with unknown ends, beyond the limit.
    pub(crate) left_out: [u64; 3],
    /// Entities by the model.
    pub(crate) entities: u64,
}

/// The names in a chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChunkForms {
    pub(crate) document: Row,
    /// Of each mention.
    pub(crate) names: Vec<NameKey>,
    /// Short forms in brackets: the name with them, and the form of the short one.
    pub(crate) aliases: Vec<(NameKey, Id)>,
    /// Forms that are said to be people: of these a last name alone may be short.
    pub(crate) people: Vec<Id>,
    pub(crate) facts: u32,
    pub(crate) left_out: [u32; 3],
}

/// What the names of a document say of each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DocumentNames {
    /// Chunks with names, ascending.
    pub(crate) chunks: Vec<Row>,
    /// Forms of which one may be short for the other.
    pub(crate) links: Vec<(Id, Id)>,
}

/// A name that chunks have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NameRecord {
    /// How many.
    pub(crate) chunks: u32,
    /// One of them.
    pub(crate) witness: Row,
    /// Blocks in which names that may be alike meet.
    pub(crate) blocks: Vec<Id>,
    /// The form of its last word, where it has several.
    pub(crate) last: Option<Id>,
}
