//! The knowledge base: documents → sections → chunks → atoms, stored in LMDB, searched by BM25
//! (tantivy) and by vectors (exact), both made from the store and rebuilt when they are lost.
#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the path of a method of `Reader<'_>` is not general over the lifetime, a closure is"
)]

#[cfg(test)]
extern crate self as halma_kb;

mod atom;
mod base;
mod build;
mod cut;
mod delete;
mod error;
mod extract;
mod graph;
mod inspect;
mod lexical;
mod lock;
mod names;
mod read;
mod report;
#[cfg(test)]
mod sample;
mod search;
mod settings;
mod stages;
mod store;
mod tables;

use halma_core::PromptFile;

pub use base::Base;
pub use build::{
    Changed, EmbeddedBy, Estimate, IndexOptions, Migration, StageEstimate, Watch, estimate, index,
};
pub use delete::Deleted;
pub use error::KbError;
pub use extract::{Extracted, LeftOut, Merge, MergeRule, MergeSide, TaskUnits};
pub use inspect::{
    EdgeEnd, EntityLine, ExportFormat, FactLine, FactSnapshot, Figures, Inspector, ListQuery,
    Listed, ListedDocument, Problem, Shown, Stats, Unit, VectorStats, Verified,
};
pub use read::recognise;
pub use report::{IndexReport, Phase, Progress, Refused, Step};
pub use search::{GraphSettings, SearchSettings};
pub use settings::{
    Atoms, BaseOptions, Chunks, Entities, Former, InputFormat, KbSettings, Thresholds,
};
pub use store::{ColumnDetails, Details};
pub use tables::{ColumnLine, SqlLimits, TableLine};

/// The prompts of this crate.
pub const PROMPTS: &[PromptFile] = &[
    PromptFile { name: "kb/atomize", text: include_str!("../prompts/kb/atomize.md") },
    PromptFile { name: "kb/cut", text: include_str!("../prompts/kb/cut.md") },
    PromptFile { name: "kb/community", text: include_str!("../prompts/kb/community.md") },
    PromptFile { name: "kb/describe", text: include_str!("../prompts/kb/describe.md") },
    PromptFile { name: "kb/facts", text: include_str!("../prompts/kb/facts.md") },
    PromptFile { name: "kb/same", text: include_str!("../prompts/kb/same.md") },
    PromptFile { name: "kb/summarise", text: include_str!("../prompts/kb/summarise.md") },
    PromptFile { name: "kb/tag", text: include_str!("../prompts/kb/tag.md") },
    PromptFile { name: "kb/tag_classes", text: include_str!("../prompts/kb/tag_classes.md") },
];
