//! What every format comes to: one text and what stands where in it.
use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize};

/// The name of a format; an alias, because serde would borrow a plain reference.
type FormatName = &'static str;

/// A document as read. Everything else points into `text` by bytes, so that whatever is made of
/// it can be cited.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Parsed {
    /// `pdf`, `docx`, `markdown` …: what the content is, whatever the name says.
    #[serde(deserialize_with = "format")]
    pub format: FormatName,
    pub title: Option<String>,
    pub author: Option<String>,
    /// As `2023-01-31`, as far as it is known.
    pub date: Option<String>,
    pub url: Option<String>,
    /// ISO 639-1, as in `en`.
    pub language: Option<String>,
    /// For Markdown, text and comma-separated files the file's own text, else Markdown made of it.
    pub text: String,
    /// The byte at which the content begins, below the front matter.
    pub body: usize,
    /// In reading order, from `body` on; they do not overlap, and only white space lies between them.
    pub blocks: Vec<Block>,
    pub tables: Vec<Table>,
    pub figures: Vec<Figure>,
    pub links: Vec<Link>,
    /// Where each page begins, in order; empty for formats without pages.
    pub pages: Vec<Page>,
    /// Files that came with it, as mail has them, each of which may be a document of its own.
    pub attachments: Vec<Attachment>,
    /// What could not be read, with what to do about it.
    pub warnings: Vec<String>,
}

/// A file inside another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// One file name, distinct among those of its file.
    pub name: String,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    pub range: Range<usize>,
    pub kind: BlockKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockKind {
    /// Counted from 1.
    Heading {
        level: u8,
    },
    Paragraph,
    ListItem,
    Quote,
    Code,
    /// Its place among [`Parsed::tables`].
    Table(usize),
    /// Its place among [`Parsed::figures`].
    Figure(usize),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    pub range: Range<usize>,
    /// Caption, or name of the sheet.
    pub caption: Option<String>,
    /// One name for each column; a header of several rows is joined with ` / `, a missing one is
    /// empty.
    pub columns: Vec<String>,
    pub rows: Vec<TableRow>,
    pub merged: Vec<Merged>,
    pub page: Option<u32>,
}

/// A row below the header. A merged cell's value stands in each place that it covers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRow {
    pub range: Range<usize>,
    pub cells: Vec<String>,
}

/// A cell of the body that covers several places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merged {
    pub row: usize,
    pub column: usize,
    pub rows: usize,
    pub columns: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure {
    pub range: Range<usize>,
    pub caption: Option<String>,
    /// In words, by a model that was shown it; no reader of files gives one.
    pub description: Option<String>,
    pub page: Option<u32>,
    /// The image itself with its media type, where the format holds it.
    pub image: Option<(String, Vec<u8>)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub range: Range<usize>,
    pub text: String,
    /// An address, a path, or `#anchor` inside the document.
    pub target: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Counted from 1.
    pub number: u32,
    /// The byte at which it begins.
    pub start: usize,
}

/// Why a file is not read, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{reason}")]
pub struct Refusal {
    pub reason: String,
    pub hint: String,
}

/// The name of a format, which another process has sent.
fn format<'de, D: Deserializer<'de>>(from: D) -> Result<FormatName, D::Error> {
    let name = String::deserialize(from)?;
    let unknown = || serde::de::Error::custom("the format is unknown");
    crate::detect::format_name(&name).ok_or_else(unknown)
}
