//! The knowledge base: documents → sections → chunks → atoms, kept in LMDB, searched by words
//! (tantivy) and by vectors (exact), both made from the truth and rebuilt when they are lost.
mod atom;
mod base;
mod build;
mod cut;
mod error;
mod filter;
mod fuse;
mod graph;
mod hit;
mod inspect;
mod lock;
mod read;
mod report;
mod search;
mod searched;
mod settings;
mod store;
mod tables;
mod vectors;
mod words;

use halma_core::PromptFile;

pub use base::Base;
pub use build::index;
pub use error::KbError;
pub use graph::GraphSettings;
pub use inspect::Seen;
pub use report::{IndexReport, Progress, Refused, Stage, Stats, Step, VectorStats};
pub use settings::{Atoms, BaseOptions, Entities, InputFormat, KbSettings, Thresholds};
pub use tables::SqlLimits;

/// The prompts of this crate.
pub const PROMPTS: &[PromptFile] =
    &[PromptFile { name: "kb/atomize", text: include_str!("../prompts/kb/atomize.md") }];
