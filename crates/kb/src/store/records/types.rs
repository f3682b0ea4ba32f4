//! What is stored of a node of each layer.
use halma_core::ColumnKind;
use serde::{Deserialize, Serialize};

use super::super::feedback::CandidateKind;
use crate::store::{Id, Row, Rows, TextPlace};

/// A source file or record as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DocumentRecord {
    pub(crate) id: Id,
    /// The first is the one shown; the others hold the same text and title.
    pub(crate) names: Vec<String>,
    /// The input file it came from, as named in the report.
    pub(crate) source: String,
    pub(crate) title: String,
    pub(crate) url: Option<String>,
    pub(crate) date: Option<String>,
    pub(crate) sections: Rows,
    pub(crate) chunks: Rows,
    pub(crate) tables: Rows,
    pub(crate) figures: Rows,
    /// Hash of the settings it was cut with: another hash means that it is cut again.
    pub(crate) cut_with: Id,
    /// `pdf`, `docx`, `markdown` …
    pub(crate) format: String,
    pub(crate) author: Option<String>,
    /// ISO 639-1, as in `en`.
    pub(crate) language: Option<String>,
    /// Page numbers with the character at which each begins.
    pub(crate) pages: Vec<(u32, usize)>,
    /// Hyperlinks: where they stand (in characters), and where they lead.
    pub(crate) links: Vec<((usize, usize), String)>,
    /// What of it could not be read, with what to do.
    pub(crate) warnings: Vec<String>,
    /// For each of its names the file it came from, so that a file that is gone is recognised.
    pub(crate) origins: Vec<String>,
    /// For each of its names the fields that a user gave to it, as JSON; empty for none.
    pub(crate) metadata: Vec<String>,
}

/// A headed part of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SectionRecord {
    pub(crate) id: Id,
    pub(crate) document: Row,
    /// The headings above it, joined; `None` for text above the first heading.
    pub(crate) name: Option<String>,
    /// Whether the name says something about the content, so that it is indexed with it.
    pub(crate) indexed: bool,
    pub(crate) place: TextPlace,
    pub(crate) chunks: Rows,
    /// Of its heading, counted from 1; 0 for text above the first heading.
    pub(crate) level: u8,
}

/// A passage that can be retrieved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChunkRecord {
    pub(crate) id: Id,
    pub(crate) document: Row,
    pub(crate) section: Row,
    pub(crate) place: TextPlace,
    /// Its text where that is not the document's text at `place` (table rows).
    pub(crate) text: Option<String>,
    /// What the cutting model said it is about (PIKE-RAG, Figure 5); also a summary node.
    pub(crate) summary: Option<String>,
}

/// An atomic piece of a chunk: a question that it answers, or a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AtomRecord {
    pub(crate) id: Id,
    pub(crate) chunk: Row,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) text: String,
    /// Where it was accepted from an answer (`feedback/`); nothing for what was made of the chunk.
    pub(crate) accepted: Option<AcceptedAtom>,
}

/// What of an answer was accepted as knowledge. The text of its atom is the question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AcceptedAtom {
    /// The feedback that it comes from.
    pub(crate) feedback: Id,
    pub(crate) kind: CandidateKind,
    pub(crate) answer: String,
    /// Further chunks that it rests on.
    pub(crate) also: Vec<Row>,
    /// The id of the key that accepted it, or `verifier`; empty on the command line.
    pub(crate) by: String,
    /// When, in seconds since 1970.
    pub(crate) at: u64,
}

/// A table of a document, or one made from facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableRecord {
    pub(crate) id: Id,
    /// `None` for a table made from facts.
    pub(crate) document: Option<Row>,
    pub(crate) section: Option<Row>,
    pub(crate) place: TextPlace,
    pub(crate) caption: Option<String>,
    pub(crate) columns: Vec<Column>,
    /// Its rows in the row layer.
    pub(crate) rows: Rows,
    pub(crate) page: Option<u32>,
    /// Cells of the body that cover several places: row, column, rows, columns.
    pub(crate) merged: Vec<(u32, u32, u32, u32)>,
    /// For a table made from facts: the relation it was made of.
    pub(crate) relation: Option<String>,
}

/// A column of a table: its name as written, and what all its values are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: ColumnKind,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowRecord {
    pub(crate) id: Id,
    pub(crate) table: Row,
    /// The chunk that holds it.
    pub(crate) chunk: Row,
    /// Counted from 1, as in the document.
    pub(crate) number: u32,
    pub(crate) place: TextPlace,
    /// As written, one for each column.
    pub(crate) cells: Vec<String>,
    /// Other chunks that it was put together from.
    pub(crate) also: Vec<Row>,
}

/// A figure of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FigureRecord {
    pub(crate) id: Id,
    pub(crate) document: Row,
    pub(crate) section: Row,
    pub(crate) place: TextPlace,
    pub(crate) caption: Option<String>,
    /// By a vision model, where one is configured.
    pub(crate) description: Option<String>,
    pub(crate) page: Option<u32>,
}

/// A summary of a chunk, table, section or document, or of what a document says before a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SummaryRecord {
    pub(crate) id: Id,
    pub(crate) document: Row,
    /// What it summarizes is where its `derived_from` edge leads.
    pub(crate) text: String,
}

/// A tag of chunks, or words of questions that stand for some.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TagRecord {
    pub(crate) id: Id,
    pub(crate) class: String,
    pub(crate) name: String,
    /// Other names of the same thing.
    pub(crate) also: Vec<String>,
}

/// Which chunks and atoms name it is in their `mentions` edges; an entity that nothing mentions any
/// more is removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EntityRecord {
    /// Hash of its key, so that the same name is the same entity.
    pub(crate) id: Id,
    /// The normalised name, and what distinguishes it from others of the same name.
    pub(crate) key: String,
    /// As it is shown.
    pub(crate) name: String,
    /// `person`, `place` …; empty where it is not known.
    pub(crate) kind: String,
    pub(crate) description: String,
    /// Other names it goes by, normalised.
    pub(crate) aliases: Vec<String>,
}

/// Entity – relation – entity, stated by one chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FactRecord {
    pub(crate) id: Id,
    pub(crate) chunk: Row,
    pub(crate) head: Row,
    pub(crate) relation: String,
    pub(crate) tail: Row,
    /// The fact as a sentence.
    pub(crate) text: String,
}

/// A group of entities that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommunityRecord {
    pub(crate) id: Id,
    /// 0 for the smallest.
    pub(crate) level: u8,
    pub(crate) title: String,
    pub(crate) summary: String,
}
