//! The knowledge base: documents → sections → chunks → atoms, kept in LMDB, searched by words
//! (tantivy) and by vectors (exact), both made from the truth and rebuilt when they are lost.
mod atom;
mod base;
mod build;
mod cut;
mod error;
mod fuse;
mod hit;
mod inspect;
mod lock;
mod read;
mod report;
mod search;
mod settings;
mod store;
mod tables;
mod vectors;
mod words;

use halma_core::PromptFile;

pub use base::Base;
pub use build::index;
pub use error::KbError;
pub use inspect::Seen;
pub use report::{IndexReport, Progress, Refused, Stage, Stats, Step, VectorStats};
pub use settings::{Atoms, BaseOptions, Chunks, InputFormat, KbSettings, Thresholds};
pub use tables::{ColumnLine, SqlLimits, TableLine};

/// The prompts of this crate.
pub const PROMPTS: &[PromptFile] = &[
    PromptFile { name: "kb/atomize", text: include_str!("../prompts/kb/atomize.md") },
    PromptFile { name: "kb/cut", text: include_str!("../prompts/kb/cut.md") },
];
