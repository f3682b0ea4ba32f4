//! The knowledge base: documents → sections → chunks → atoms, stored in LMDB, searched by BM25
//! (tantivy) and by vectors (exact), both made from the store and rebuilt when they are lost.
#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the path of a method of `Reader<'_>` is not general over the lifetime, a closure is"
)]

#[cfg(test)]
extern crate self as halma_kb;

mod base;
mod build;
mod cut;
mod delete;
mod error;
mod extract;
mod feedback;
mod inspect;
mod lexical;
mod lock_file;
mod maintain;
mod memory;
mod mentions;
mod names;
mod parallel;
mod progress;
mod read;
mod search;
mod settings;
mod stages;
mod store;
mod tables;
mod tags;
mod terms;
mod values;
mod vectors;
mod workers;

use halma_core::PromptSet;

pub use base::{Base, Copied, SharedBase};
pub use build::{
    Changed, EmbeddedBy, Estimate, IndexReport, Migration, RebuildCost, StageEstimate, Watch,
    estimate, index,
};
pub use delete::{Deleted, FileRecord};
pub use error::{KbError, NearNames, SqlError, UnknownNames, UpstreamError, is_out_of_files};
pub use extract::{Extracted, Merge, MergeSide};
pub use feedback::{
    CandidateDraft, Decision, Feedback, FeedbackCandidate, FeedbackDraft, FeedbackQuery,
    KnownAnswer,
};
pub use halma_parse::worker::{Confinement, confinement};
pub use inspect::{
    EdgeEnd, EntityQuery, Figures, Inspector, ListQuery, ListedDocument, ListedEntity, ListedNode,
    Problem, Shown, Sizes, Stats, Timeline, TimelineEvent, TimelineQuery, Unit, VectorStats,
    Verified,
};
pub use lock_file::{BUILD_LOCK, FileLock, SERVER_LOCK};
pub use maintain::{BackupError, BackupReport, RestoreOptions, RestoreReport, backup, restore};
pub use parallel::cores;
pub use progress::{Phase, PhaseProgress, Progress};
pub use read::{
    ReadWarning, Refused, is_metadata_file, may_hold_records, metadata_file, read_metadata_file,
};
pub use search::NoVectors;
pub use settings::{
    Atoms, BaseOptions, BasePart, BaseUrl, Calibration, Chunks, DenseTrust, Entities,
    FeedbackSettings, Former, GraphSettings, IndexOptions, InputFormat, KbSettings, KeptPart,
    ReadingSettings, SearchSettings, TableTarget, TargetColumn, ThresholdSources, Thresholds,
    VectorLayers,
};
pub use stages::{BuildContext, Forget};
pub use store::{
    AcceptedDetails, CandidateKind, CandidateState, Check, ColumnDetails, Details, Head, IsUrgent,
    Lease, LeftOut, MergeRule, NextSegment, Push, Upstream, Verdict,
};
pub use tables::{ColumnLine, SqlLimits, TableLine, serve_worker};
pub use tags::{SkippedSample, TagLearning, TagSample, estimate_learning, learn_tags};
pub use workers::{WorkerKind, Workers};

/// The prompts of this crate.
pub const PROMPTS: PromptSet = PromptSet::Folder(&PROMPT_FILES);

static PROMPT_FILES: include_dir::Dir<'_> =
    include_dir::include_dir!("$CARGO_MANIFEST_DIR/prompts");
