//! What a document is cut into, before it has rows.
use crate::store::{Column, TextPlace};

/// What a document is cut into.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    pub(crate) sections: Vec<SectionDraft>,
    pub(crate) tables: Vec<TableDraft>,
    pub(crate) figures: Vec<FigureDraft>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SectionDraft {
    /// The headings above it, joined.
    pub(crate) name: Option<String>,
    /// Whether the name says something about the content.
    pub(crate) indexed: bool,
    /// Of its heading, counted from 1; 0 for text above the first heading.
    pub(crate) level: u8,
    pub(crate) place: TextPlace,
    pub(crate) chunks: Vec<ChunkDraft>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChunkDraft {
    /// What of the text is its alone; these tile the text.
    pub(crate) tile: TextPlace,
    /// What it shows, which is what citations quote.
    pub(crate) place: TextPlace,
    /// Where it is not the document's text at `place`.
    pub(crate) text: Option<String>,
    /// By the cutting model, where there is one.
    pub(crate) summary: Option<String>,
    /// What the text before it is about, by the same model.
    pub(crate) forward: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableDraft {
    /// Its place among the sections.
    pub(crate) section: usize,
    pub(crate) place: TextPlace,
    pub(crate) caption: Option<String>,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<RowDraft>,
    pub(crate) page: Option<u32>,
    /// Row, column, rows, columns.
    pub(crate) merged: Vec<(u32, u32, u32, u32)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowDraft {
    /// The chunk that holds it, counted through all sections of the document.
    pub(crate) chunk: usize,
    pub(crate) place: TextPlace,
    pub(crate) cells: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FigureDraft {
    pub(crate) section: usize,
    pub(crate) place: TextPlace,
    pub(crate) caption: Option<String>,
    /// By a vision model; the text holds it as well.
    pub(crate) description: Option<String>,
    pub(crate) page: Option<u32>,
}
