//! Nodes of the knowledge base as a search returns them.
use serde::{Deserialize, Serialize};

/// The name of a node, derived from its content, so that the same input gives the same base.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub String);

impl From<&str> for NodeId {
    fn from(id: &str) -> Self {
        Self(id.to_owned())
    }
}

impl std::fmt::Display for NodeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One kind of node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    Document,
    Section,
    Chunk,
    Atom,
}

impl Layer {
    pub fn name(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Section => "section",
            Self::Chunk => "chunk",
            Self::Atom => "atom",
        }
    }
}

/// A range of characters (Unicode scalar values, not bytes) of a document's text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// A node that a search found.
#[derive(Debug, Clone, Serialize)]
pub struct Hit {
    pub id: NodeId,
    pub layer: Layer,
    /// The chunk an atom belongs to, the section a chunk belongs to.
    pub parent: Option<NodeId>,
    /// The document's name: its path below the indexed folder, or the record's id.
    pub document: String,
    pub title: String,
    pub section: Option<String>,
    pub page: Option<u32>,
    pub text: String,
    /// What the list is ordered by: cosine for a dense search, BM25 for a word search, the fused
    /// reciprocal rank for a hybrid one.
    pub score: f32,
    /// Cosine in `[-1, 1]` between query and node, where both have a vector. Thresholds are
    /// stated in it (`docs/concepts/scores.md`).
    pub cosine: Option<f32>,
    pub span: Span,
}
