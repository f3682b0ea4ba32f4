//! Configuration → a running engine: the only place where things are put together.
mod assemble;
mod config;
mod doctor;
mod engine;
mod error;
mod former;
mod kg;
mod load;
mod needs;
mod originals;
mod parts;
mod serve_config;
mod serving;
mod show;
mod sources;
mod traces;
mod within;

pub use assemble::{Opened, fetch_weights};
pub use config::{
    AskConfig, BudgetConfig, Config, EmbedderConfig, EmbedderKind, ModelConfig, OFFLINE, ROLES,
    SourcesConfig,
};
pub use doctor::{Finding, Health, examine};
pub use engine::{Asked, Engine, SearchQuery, list_prompts};
pub use error::EngineError;
pub use halma_connect::kg::{
    KgError, KgFigures, KgFormat, KgGraph, KgKind, KgLoad, KgLoaded, KgProfile, KgSettings,
};
pub use halma_connect::{
    RerankShape, RerankerKind, RerankerSettings, TaggerKind, TaggerSettings, WebKind, WebRank,
    WebResult, WebSearch, WebSettings,
};
pub use halma_kb::{
    Base, Deleted, Details, Estimate, ExportFormat, IndexOptions, IndexReport, InputFormat,
    ListQuery, Listed, Merge, MergeSide, Progress, Refused, Seen, Shown, SqlLimits, Stage,
    StageEstimate, Stats, Step, TableLine, Unit, Verified, Watch, recognise,
};
pub use halma_kb::{KbError, ListedDocument};
pub use halma_strategies::atomr;
pub use kg::KgShown;
pub use load::{Flags, Loaded, flag_value, load};
pub use originals::{Original, Originals, safe_name};
pub use serve_config::ServeConfig;
pub use serving::Exchange;
pub use show::{ShownValue, show};
pub use traces::{KeptTrace, TraceBody, TraceHead, Traces};

/// The prompts of this crate.
const PROMPTS: halma_core::PromptSet = halma_core::PromptSet::Folder(&PROMPT_FILES);

static PROMPT_FILES: include_dir::Dir<'_> =
    include_dir::include_dir!("$CARGO_MANIFEST_DIR/prompts");

/// The prompts of every crate that has some.
pub fn shipped_prompts() -> [halma_core::PromptSet; 5] {
    [
        PROMPTS,
        halma_strategies::PROMPTS,
        halma_kb::PROMPTS,
        halma_eval::judge::JUDGE_PROMPTS,
        halma_eval::blend::BLEND_PROMPTS,
    ]
}

/// All strategies, for help and menus.
pub fn strategies() -> &'static [halma_core::Entry] {
    halma_strategies::ALL
}
