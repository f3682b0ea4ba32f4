//! What can go wrong while an engine is opened or used.
use std::path::{Path, PathBuf};

use halma_core::ConfigError;
use halma_kb::KbError;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Wrong use or configuration: exit code 2.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The base cannot be opened, read or written.
    #[error(transparent)]
    Kb(#[from] KbError),
    /// The database of a shared base.
    #[error(transparent)]
    Shared(#[from] halma_store::pg::PgError),
    #[error("the key of calls that workers do: {0}; all machines of this base need that folder")]
    CallsKey(#[source] halma_store::seal::SealError),
    #[error("the keys of a workspace: {0}; all machines of this base need that folder")]
    Keys(#[source] halma_store::seal::SealError),
    #[error("no thread can be started for the connections to the database: {0}; try again")]
    Runtime(#[source] std::io::Error),
    #[error("there is no folder for the replica of a shared base; name one in {variable}")]
    NoReplicaFolder { variable: &'static str },
    /// Files of knowledge graphs.
    #[error(transparent)]
    Kg(#[from] halma_sources::kg::KgError),
    #[error("the reply cache: {0}")]
    Cache(#[source] halma_core::BoxError),
    #[error(
        "the cached replies are not removed: a {program} uses the base and holds `{}`; stop it and run \
         the command again",
        lock.display()
    )]
    CacheInUse { lock: PathBuf, program: &'static str },
    #[error(transparent)]
    Stored(#[from] halma_net::daily::DailyCacheError),
    /// A file next to the base: an original or a trace.
    #[error("cannot use `{}`: {source}; check the path and its permissions", path.display())]
    File { path: PathBuf, source: std::io::Error },
    /// Feedback on what is not there.
    #[error(
        "there is no run `{id}`; its trace may have been deleted with a document that it quotes, or \
         because it was among the oldest (`serve.keep_traces`, `serve.keep_trace_days`)"
    )]
    NoRun { id: String },
    /// A part of a file cannot be deleted by itself: the next build would add it again.
    #[error(
        "`{record}` comes from the uploaded file `{file}`, and the next build would add it again; \
         delete `{file}` with all that it holds, or replace it by a file without this one"
    )]
    RecordOfUpload { record: String, file: String },
    /// A run that failed: exit code 1.
    #[error(transparent)]
    Run(#[from] halma_core::Error),
}

impl EngineError {
    pub(crate) fn file(path: &Path, source: std::io::Error) -> Self {
        Self::File { path: path.to_owned(), source }
    }

    /// Whether the user can fix it by calling Halma differently (exit code 2).
    pub fn is_wrong_use(&self) -> bool {
        match self {
            Self::Config(_)
            | Self::NoReplicaFolder { .. }
            | Self::NoRun { .. }
            | Self::RecordOfUpload { .. }
            | Self::Shared(halma_store::pg::PgError::Address { .. })
            | Self::Run(halma_core::Error::Prompt(_)) => true,
            Self::Kb(error) => error.is_wrong_use(),
            Self::Kg(error) => error.is_wrong_use(),
            Self::Cache(_)
            | Self::CacheInUse { .. }
            | Self::File { .. }
            | Self::Shared(_)
            | Self::Runtime(_)
            | Self::CallsKey(_)
            | Self::Keys(_)
            | Self::Stored(_)
            | Self::Run(_) => false,
        }
    }
}
