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
mod base_part;
mod build;
mod cost;
mod cut;
mod delete;
mod embedding;
mod error;
mod extract;
mod feedback;
mod graph;
mod held;
mod inspect;
mod lexical;
mod lock;
mod lock_file;
mod maintain;
mod metadata;
mod names;
mod parallel;
mod progress;
mod read;
mod report;
mod search;
mod settings;
mod stages;
mod store;
mod tables;
mod tags;
mod vector_layers;
mod walk;
mod workers;

use halma_core::PromptSet;

pub use base::{Base, Copied, SharedBase};
pub use base_part::{BasePart, KeptPart};
pub use build::{
    Calibration, Changed, DenseTrust, EmbeddedBy, Estimate, IndexOptions, Migration, RebuildCost,
    StageEstimate, Watch, estimate, index,
};
pub use delete::{Deleted, FileRecord};
pub use error::{KbError, UnknownNames};
pub use extract::{Extracted, LeftOut, Merge, MergeRule, MergeSide, TableTarget, TargetColumn};
pub use feedback::{
    CandidateDraft, CandidateKind, CandidateState, Check, Decision, Feedback, FeedbackCandidate,
    FeedbackDraft, FeedbackQuery, FeedbackSettings, KnownAnswer, Verdict,
};
pub use halma_worker::{Confinement, confinement};
pub use inspect::{
    EdgeEnd, Figures, Inspector, ListQuery, ListedDocument, ListedNode, Problem, Shown, Sizes,
    Stats, Timeline, TimelineEvent, TimelineQuery, Unit, VectorStats, Verified,
};
pub use lock_file::{BUILD_LOCK, FileLock, SERVER_LOCK};
pub use maintain::{BackupError, BackupReport, RestoreOptions, RestoreReport, backup, restore};
pub use metadata::{is_metadata_file, metadata_file, read_metadata_file};
pub use parallel::cores;
pub use progress::{Phase, PhaseProgress, Progress};
pub use read::may_hold_records;
pub use report::{IndexReport, ReadWarning, Refused};
pub use search::{GraphSettings, NoVectors, SearchSettings};
pub use settings::{
    Atoms, BaseOptions, BaseUrl, Chunks, Entities, Former, InputFormat, KbSettings,
    ReadingSettings, ThresholdSources, Thresholds,
};
pub use stages::{BuildContext, Forget};
pub use store::{AcceptedDetails, ColumnDetails, Details};
pub use store::{Head, IsUrgent, Lease, NextSegment, Push, Upstream, UpstreamError};
pub use tables::{ColumnLine, NearNames, SqlError, SqlLimits, TableLine};
pub use tags::{SkippedSample, TagLearning, TagSample, estimate_learning, learn_tags};
pub use vector_layers::VectorLayers;
pub use workers::{WorkerKind, Workers, serve_worker};

/// The prompts of this crate.
pub const PROMPTS: PromptSet = PromptSet::Folder(&PROMPT_FILES);

static PROMPT_FILES: include_dir::Dir<'_> =
    include_dir::include_dir!("$CARGO_MANIFEST_DIR/prompts");
