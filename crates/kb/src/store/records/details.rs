//! What a node is beyond its text, layer by layer, as a user looks at it.
use std::collections::BTreeMap;

use super::super::feedback::CandidateKind;
use halma_core::{Layer, Metadata, NodeId};
use serde::Serialize;

/// What a node is beyond its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Details {
    Document {
        /// The first is the one shown; the others hold the same text.
        names: Vec<String>,
        source: String,
        format: String,
        url: Option<String>,
        date: Option<String>,
        author: Option<String>,
        language: Option<String>,
        /// Page numbers with the character at which each begins.
        pages: Vec<(u32, usize)>,
        /// Hyperlinks: from where in the text (characters) to what.
        links: Vec<((usize, usize), String)>,
        warnings: Vec<String>,
        /// Fields that a user gave to it.
        metadata: Metadata,
        /// What it is made of, by layer.
        parts: BTreeMap<Layer, u64>,
    },
    Section {
        level: u8,
        chunks: u64,
    },
    Chunk {
        /// By the model that cut it.
        summary: Option<String>,
        /// Whether its text is the document's at its span, or made of it (rows of a table).
        verbatim: bool,
    },
    Atom {
        /// Where it was accepted from an answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        accepted: Option<Box<AcceptedDetails>>,
    },
    Table {
        columns: Vec<ColumnDetails>,
        rows: u64,
        caption: Option<String>,
        /// Row, column, rows, columns.
        merged: Vec<(u32, u32, u32, u32)>,
        /// For a table made from facts: of which relation.
        relation: Option<String>,
    },
    Row {
        table: Option<NodeId>,
        number: u32,
        /// By column, in order.
        cells: Vec<(String, String)>,
    },
    Figure {
        caption: Option<String>,
        description: Option<String>,
    },
    Summary,
    Tag {
        class: String,
        /// Other names of the same thing.
        also: Vec<String>,
    },
    Entity {
        of_kind: String,
        key: String,
        aliases: Vec<String>,
        /// Chunks and atoms that name it.
        mentions: u64,
    },
    Fact {
        head: Option<NodeId>,
        relation: String,
        tail: Option<NodeId>,
    },
    Community {
        level: u8,
        members: u64,
    },
}

/// Where an atom comes from that was accepted from an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AcceptedDetails {
    /// Id of the feedback.
    pub feedback: String,
    pub of_kind: CandidateKind,
    pub answer: String,
    /// Id of the key that accepted it, or `verifier`; empty on the command line.
    pub by: String,
    /// Seconds since 1970.
    pub at: u64,
    /// The chunks that it rests on.
    pub sources: Vec<NodeId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnDetails {
    pub name: String,
    /// `text`, `integer`, `number`, `date` or `truth`.
    pub values: &'static str,
}
