//! From a configuration to a running engine: the only crate that knows both the settings and their
//! implementations.
mod assemble;
mod config;
mod connect;
mod doctor;
mod document_subset;
mod engine;
mod error;
mod feedback;
mod shared;
mod storage;
mod telemetry;
mod writer;

pub use assemble::{
    PromptOverride, configured_prompts, fetch_weights, is_demonstrations, prompt_overrides,
};
pub use config::load::{Flags, Loaded, flag_text, flag_value, load};
pub use config::serve::{LogFormat, ServeConfig};
pub use config::show::{ShownValue, show};
pub use config::{
    AskConfig, BudgetConfig, CacheConfig, CheckClaims, Config, EmbedderConfig, EmbedderKind,
    ModelConfig, OFFLINE, ROLES, SourcesConfig, TelemetryConfig,
};
pub use connect::{
    Connection, EffortEstimate, LOCAL_SERVERS, LocalServer, ModelServer, ServedModel, Trial,
    TrialOutcome, discover, try_connection, with_reader_only,
};
pub use doctor::{Finding, Health, NoServer, ServerState, examine, free_space};
pub use engine::{
    AskRequest, AskResult, Asking, BaseSize, ContextOptions, DEFAULT_LIMIT, Effort, Engine,
    IndexRun, KgShown, OnFinish, SearchRequest, Turn, configured_strategy,
};
pub use error::EngineError;
pub use feedback::{
    DeferredCandidate, FeedbackRequest, LONGEST_CORRECTION, LONGEST_NOTE, VerifiedFeedback,
};
pub use halma_kb::{
    Atoms, Base, BasePart, CandidateKind, CandidateState, Chunks, Decision, Deleted, DenseTrust,
    Details, EdgeEnd, Entities, EntityQuery, Estimate, Feedback, FeedbackCandidate, FeedbackQuery,
    FeedbackSettings, IndexOptions, IndexReport, InputFormat, KeptPart, ListQuery, ListedEntity,
    ListedNode, Merge, MergeSide, Phase, PhaseProgress, Progress, ReadWarning, RebuildCost,
    Refused, Shown, SkippedSample, SqlError, SqlLimits, StageEstimate, Stats, TableLine,
    TagLearning, TagSample, Timeline, TimelineEvent, TimelineQuery, Unit, VectorStats, Verdict,
    Verified, Watch, WorkerKind, serve_worker,
};
pub use halma_kb::{
    BUILD_LOCK, BackupError, BackupReport, FileLock, KbError, ListedDocument, RestoreOptions,
    RestoreReport, SERVER_LOCK, backup, is_out_of_files, may_hold_records, restore,
};
pub use halma_models::{RerankShape, RerankerKind, RerankerSettings, TaggerKind, TaggerSettings};
pub use halma_net::daily::DailyFigures;
pub use halma_sources::kg::{
    KgError, KgFigures, KgFormat, KgGraph, KgKind, KgLoad, KgLoaded, KgProfile, KgSettings,
};
pub use halma_sources::web::{WebKind, WebRank, WebResult, WebSearch, WebSettings};
pub use halma_store::{Cap, Spent, SpentOn, StateEntry};
pub use halma_strategies::atomr;
pub use shared::{
    CallSharing, CallWorker, Place, SharedSpace, WorkerReport, Workforce, base_folder,
};
pub use storage::cache::{CacheUse, clear_cache};
pub use storage::originals::{Original, Originals, safe_name};
pub use storage::replace_file;
pub use storage::series::over_series;
pub use storage::state::{BaseState, Entries, is_transient};
pub use storage::traces::{StoredTrace, TraceBody, TraceHead, TraceStore};

/// The prompts of this crate.
const PROMPTS: halma_core::PromptSet = halma_core::PromptSet::Folder(&PROMPT_FILES);

static PROMPT_FILES: include_dir::Dir<'_> =
    include_dir::include_dir!("$CARGO_MANIFEST_DIR/prompts");

/// The prompts of every crate that has some.
pub fn shipped_prompts() -> [halma_core::PromptSet; 4] {
    [PROMPTS, halma_strategies::PROMPTS, halma_kb::PROMPTS, halma_eval::judge::JUDGE_PROMPTS]
}

/// All strategies, for help and menus.
pub fn strategies() -> &'static [halma_core::Entry] {
    halma_strategies::ALL
}
