//! What was extracted from the documents of a base, as a graph: read by the base, queried by the
//! crate for knowledge graphs.
use serde::Serialize;

use crate::NodeId;

/// All facts of a base and the entities between which they hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ExtractedGraph {
    /// Changes whenever the base does.
    pub generation: u64,
    pub entities: Vec<ExtractedEntity>,
    pub facts: Vec<ExtractedFact>,
}

/// An entity that a fact is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExtractedEntity {
    pub id: NodeId,
    pub name: String,
    /// Other names, normalised.
    pub aliases: Vec<String>,
    /// `person`, `place` …; empty where it is not known.
    pub kind: String,
    pub description: String,
}

/// A fact between two of the entities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExtractedFact {
    pub id: NodeId,
    pub head: NodeId,
    pub relation: String,
    pub tail: NodeId,
}
