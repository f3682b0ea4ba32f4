//! The knowledge base: documents → sections → chunks → atoms, kept in LMDB, searched by words
//! (tantivy) and by vectors (exact), both made from the truth and rebuilt when they are lost.
#[cfg(test)]
extern crate self as halma_kb;

mod atom;
mod base;
mod build;
mod cut;
mod delete;
mod error;
mod fuse;
mod hit;
mod inspect;
mod lock;
mod names;
mod read;
mod report;
#[cfg(test)]
mod sample;
mod search;
mod settings;
mod store;
mod tables;
mod vectors;
mod words;

use halma_core::PromptFile;

pub use base::Base;
pub use build::{
    Changed, EmbeddedBy, Estimate, IndexOptions, Migration, StageEstimate, Watch, estimate, index,
};
pub use delete::Deleted;
pub use error::KbError;
pub use inspect::{
    ColumnDetails, Details, ExportFormat, Figures, ListQuery, Listed, ListedDocument, Problem,
    Seen, Shown, Unit, Verified,
};
pub use report::{IndexReport, Progress, Refused, Stage, Stats, Step, VectorStats};
pub use settings::{
    Atoms, BaseOptions, Chunks, Former, InputFormat, KbSettings, Thresholds,
};
pub use tables::{ColumnLine, SqlLimits, TableLine};

/// The prompts of this crate.
pub const PROMPTS: &[PromptFile] = &[
    PromptFile { name: "kb/atomize", text: include_str!("../prompts/kb/atomize.md") },
    PromptFile { name: "kb/cut", text: include_str!("../prompts/kb/cut.md") },
];
