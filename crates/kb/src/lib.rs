//! The knowledge base: documents → sections → chunks → atoms, kept in LMDB, searched by words
//! (tantivy) and by vectors (exact), both made from the truth and rebuilt when they are lost.
#[cfg(test)]
extern crate self as halma_kb;

mod asked;
mod atom;
mod base;
mod build;
mod cut;
mod delete;
mod distil;
mod error;
mod filter;
mod fuse;
mod graph;
mod hit;
mod inspect;
mod lock;
mod names;
mod read;
mod report;
#[cfg(test)]
mod sample;
mod search;
mod searched;
mod settings;
mod store;
mod tables;
mod vectors;
mod words;

use halma_core::PromptSet;

pub use base::Base;
pub use build::{
    Changed, EmbeddedBy, Estimate, IndexOptions, Migration, StageEstimate, Watch, estimate, index,
};
pub use delete::Deleted;
pub use distil::{
    Distilled, Expansion, Learned, LeftOut, Merge, MergeRule, MergeSide, QueryTag, TagOrigin,
    TagSample, TaskUnits, learn_tags,
};
pub use error::KbError;
pub use graph::GraphSettings;
pub use inspect::{
    ColumnDetails, Details, EntityLine, ExportFormat, FactLine, Figures, ListQuery, Listed,
    ListedDocument, Problem, Seen, Shown, ToldFacts, Unit, Verified,
};
pub use read::recognise;
pub use report::{IndexReport, Progress, Refused, Stage, Stats, Step, VectorStats};
pub use settings::{
    Atoms, BaseOptions, Chunks, Entities, Former, InputFormat, KbSettings, Thresholds,
};
pub use tables::{ColumnLine, SqlLimits, TableLine};

/// The prompts of this crate.
pub const PROMPTS: PromptSet = PromptSet::Folder(&PROMPT_FILES);

static PROMPT_FILES: include_dir::Dir<'_> = include_dir::include_dir!("$CARGO_MANIFEST_DIR/prompts");
