//! What can go wrong with a knowledge base: what, where, and what to do about it.
mod sql;

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use halma_core::text::thousands;
use halma_core::{BoxError, LlmError};
use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenReadError, OpenWriteError};

pub use self::sql::{NearNames, SqlError};

#[derive(Debug, thiserror::Error)]
pub enum KbError {
    #[error("there is no knowledge base in `{dir}`; make one with `halma index --kb {dir} FOLDER`")]
    NoBase { dir: PathBuf },
    #[error(
        "the knowledge base in `{dir}` has format {format}, and this version of Halma reads up to \
         {reads}; upgrade Halma, or index into another folder"
    )]
    Newer { dir: PathBuf, format: u32, reads: u32 },
    #[error(
        "the knowledge base in `{dir}` has format {format}, and this version of Halma reads {reads}; \
         index again with `halma index --kb NEW_DIR FOLDER`; with `{dir}/cache` copied to \
         `NEW_DIR/cache` before, replies of models that were paid for are used again"
    )]
    Older { dir: PathBuf, format: u32, reads: u32 },
    #[error(
        "a restore to `{dir}` was interrupted; run `halma restore` again, or rename the former base, \
         `{dir}.replaced`, to `{dir}`"
    )]
    HalfRestored { dir: PathBuf },
    #[error("the base in `{dir}` was replaced by `halma restore` meanwhile; run the command again")]
    Replaced { dir: PathBuf },
    #[error("cannot {doing} `{path}`: {source}; {}", advice(.source).unwrap_or("check the path"))]
    Io { path: PathBuf, doing: &'static str, source: std::io::Error },
    #[error("`{path}` is neither a file nor a folder; check the path")]
    NoInput { path: PathBuf },
    #[error(
        "the store in `{dir}` cannot be used: {source}; if it is damaged, delete the folder and \
         index again"
    )]
    Store { dir: PathBuf, source: heed::Error },
    #[error("the store in `{dir}` is read by too many at once; try again in a second")]
    TooManyReaders { dir: PathBuf },
    #[error(
        "another process has made the store in `{dir}` larger, and this one is too busy to follow; \
         try again in a second"
    )]
    Outgrown { dir: PathBuf },
    #[error("the store in `{dir}` is open already in this program; share the one that is open")]
    OpenTwice { dir: PathBuf },
    #[error(
        "the store in `{dir}` has reached {gigabytes} GiB, and this system gives no room to grow \
         (`ulimit -v`); split the input over two bases"
    )]
    Full { dir: PathBuf, gigabytes: usize },
    #[error(
        "no space is left for the base in `{dir}` ({source}); free some and run the command again: \
         what was written before is kept"
    )]
    NoSpace { dir: PathBuf, source: std::io::Error },
    #[error(
        "the base in `{dir}` cannot be written to, only searched; get write access to the \
         folder, or copy it"
    )]
    ReadOnly { dir: PathBuf },
    #[error("the base in `{dir}` is being removed")]
    Removed { dir: PathBuf },
    #[error("only a part of the base may be seen here; what changes all of it needs full access")]
    Restricted,
    #[error("{0}; correct it")]
    Metadata(#[from] halma_core::MetadataError),
    #[error(
        "there are keys in `{keys}` and no records next to them (`data.mdb`); get the folder back \
         with `halma restore`, or delete it and index again"
    )]
    KeysWithoutStore { keys: PathBuf },
    #[error(
        "a record in `{dir}` is damaged; `halma kb verify` lists what is, and indexing its document \
         again or `halma restore` repairs it"
    )]
    DamagedValue { dir: PathBuf },
    #[error(transparent)]
    Keys(#[from] halma_store::seal::SealError),
    #[error("the lexical index in `{dir}`: {source}; delete that folder and it is built again")]
    Lexical { dir: PathBuf, source: TantivyError },
    #[error("embedding with `{model}`: {source}")]
    Embed { model: String, source: LlmError },
    #[error(
        "the embedder `{model}` gave {got} vectors for {requested} texts, or vectors that are empty, not \
         of one length or not finite"
    )]
    BadVectors { model: String, requested: usize, got: usize },
    #[error(
        "the embedder `{model}` gives vectors of {dimensions} dimensions now, and those of the base have \
         {stored}: another model has taken its name. Bring the former one back, or embed every text again \
         with `halma index --rebuild embedder`"
    )]
    OtherDimensions { model: String, dimensions: usize, stored: usize },
    #[error("the regular expression cannot be used: {0}")]
    BadExpression(#[from] regex::Error),
    #[error("the base holds no `{id}`; it may have been replaced since it was found")]
    NoNode { id: String },
    #[error(
        "the base holds no entity `{name}`; `halma kb list entity` lists them, and `entities` below \
         [kb] says how they are found"
    )]
    NoEntity { name: String },
    #[error("the base holds no document {unknown}; `halma kb list` names all")]
    NoDocument { unknown: UnknownNames },
    #[error(
        "`{pattern}` is not a valid pattern for file names: {}; `*.md` and `drafts/**` are patterns",
        .source.kind()
    )]
    InvalidPattern { pattern: String, source: globset::Error },
    #[error("a pattern for file names is empty; `*.md` and `drafts/**` are patterns")]
    EmptyPattern,
    #[error(
        "what quotes documents that are gone cannot be deleted: {0}; they stay until it can be: \
         correct that and run the command again"
    )]
    NotForgotten(#[source] BoxError),
    #[error("changes in `{path}` cannot be watched: {source}; index without `--watch`")]
    Watch { path: PathBuf, source: notify::Error },
    #[error(
        "changes in `{path}` cannot be watched: there are more folders than the system watches at a \
         time; on Linux raise `fs.inotify.max_user_watches`"
    )]
    TooManyWatches { path: PathBuf },
    #[error(
        "there is no merge `{id}`; it may be undone already, or its documents are gone: list the \
         merges again"
    )]
    NoMerge { id: String },
    #[error(
        "there is no feedback `{id}`; it may be deleted, or what it quotes may be gone: list the \
         feedback again"
    )]
    NoFeedback { id: String },
    #[error("feedback `{id}` has no candidate {number}; it has {count}, counted from 1")]
    NoCandidate { id: String, number: usize, count: usize },
    #[error(
        "feedback `{id}` is contradicted by `{others}`, so nothing of it is accepted; reject the one \
         that is wrong, or accept this one despite it"
    )]
    Contradicted { id: String, others: String },
    #[error("the {layer} layer cannot be searched; search `chunk` or `atom`")]
    NotSearched { layer: &'static str },
    #[error(
        "the entities and facts that a model has extracted cannot be taken out of a base: set \
         `entities = \"model\"` and omit `--rebuild entities`, or index the documents into another \
         base"
    )]
    EntitiesStay,
    #[error("cutting by `semantic` needs an embedder; configure one, or set `chunks`")]
    CutWithoutEmbedder,
    #[error("cutting `{title}`: {source}")]
    Cut { title: String, source: halma_core::Error },
    #[error(transparent)]
    Sql(#[from] SqlError),
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    #[error(
        "there is no knowledge base in `{name}`; make one with `halma index --kb ADDRESS FOLDER`"
    )]
    NoSharedBase { name: String },
    #[error(
        "the knowledge base in `{name}` has format {format}, and this version of Halma reads {reads}; \
         use the same version on all machines"
    )]
    SharedFormat { name: String, format: u32, reads: u32 },
    #[error(
        "{place} holds {} documents already; copy into a base that holds nothing, or delete it first",
        thousands(*.documents)
    )]
    NotEmpty { place: String, documents: u64 },
    #[error(
        "`{dir}` is this machine's replica of the base in `{name}`; use that address, or copy it \
         with `halma kb copy`"
    )]
    IsReplica { dir: PathBuf, name: String },
    #[error("the build ended while its files were read; run the command again")]
    Interrupted,
    #[error("a worker thread panicked while {doing}; run the command again, and report the panic")]
    WorkerPanicked { doing: &'static str },
}

impl KbError {
    /// Whether the user can fix it by calling Halma differently (exit code 2).
    pub fn is_wrong_use(&self) -> bool {
        if let Self::Sql(error) = self {
            return error.is_wrong_use();
        }
        matches!(
            self,
            Self::NoBase { .. }
                | Self::NoSharedBase { .. }
                | Self::SharedFormat { .. }
                | Self::IsReplica { .. }
                | Self::Newer { .. }
                | Self::Older { .. }
                | Self::HalfRestored { .. }
                | Self::NoInput { .. }
                | Self::Metadata(_)
                | Self::BadExpression(_)
                | Self::NoNode { .. }
                | Self::NoEntity { .. }
                | Self::NoDocument { .. }
                | Self::NoMerge { .. }
                | Self::NoFeedback { .. }
                | Self::NoCandidate { .. }
                | Self::InvalidPattern { .. }
                | Self::EmptyPattern
                | Self::NotSearched { .. }
        )
    }

    pub(crate) fn io(
        path: impl Into<PathBuf>,
        doing: &'static str,
        source: std::io::Error,
    ) -> Self {
        let path = path.into();
        if no_space(&source) {
            Self::NoSpace { dir: path, source }
        } else {
            Self::Io { path, doing, source }
        }
    }

    /// A change that cannot be watched.
    pub(crate) fn watch(path: &Path, source: notify::Error) -> Self {
        let path = path.to_owned();
        match source.kind {
            notify::ErrorKind::MaxFilesWatch => Self::TooManyWatches { path },
            _ => Self::Watch { path, source },
        }
    }

    pub(crate) fn worker_panicked(doing: &'static str, panic: &dyn fmt::Debug) -> Self {
        tracing::error!("panic while {doing}: {panic:?}");
        Self::WorkerPanicked { doing }
    }

    /// An error of the store in `dir`.
    pub(crate) fn of_store(dir: &Path, source: heed::Error) -> Self {
        let dir = dir.to_owned();
        match source {
            heed::Error::Io(source) if no_space(&source) || is_out_of_files(&source) => {
                Self::io(dir, "open", source)
            }
            heed::Error::Mdb(heed::MdbError::ReadersFull) => Self::TooManyReaders { dir },
            heed::Error::Mdb(heed::MdbError::MapResized) => Self::Outgrown { dir },
            source => Self::Store { dir, source },
        }
    }

    /// An error of the lexical index in `dir`; what the system refuses says nothing about the index.
    pub(crate) fn of_lexical(dir: &Path, source: TantivyError) -> Self {
        let refused = match &source {
            TantivyError::IoError(e)
            | TantivyError::LockFailure(LockError::IoError(e), _)
            | TantivyError::OpenReadError(OpenReadError::IoError { io_error: e, .. })
            | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: e, .. }) => Some(e),
            _ => None,
        };
        match refused.filter(|e| no_space(e) || advice(e).is_some()) {
            Some(e) => {
                let again = || std::io::Error::new(e.kind(), e.to_string());
                let code = e.raw_os_error();
                Self::io(dir, "use", code.map_or_else(again, std::io::Error::from_raw_os_error))
            }
            None => Self::Lexical { dir: dir.to_owned(), source },
        }
    }
}

/// Names that no document has, each with names that are near.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownNames(pub Vec<(String, Vec<String>)>);

impl fmt::Display for UnknownNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (name, near)) in self.0.iter().enumerate() {
            write!(f, "{}`{name}`", if number > 0 { ", " } else { "" })?;
            if !near.is_empty() {
                write!(f, " (did you mean `{}`?)", near.join("` or `"))?;
            }
        }
        Ok(())
    }
}

/// The disk is full, or a limit of the system for this user or process is reached.
pub(crate) fn no_space(e: &std::io::Error) -> bool {
    matches!(e.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}

/// The process or the system has as many files open as it may.
pub fn is_out_of_files(e: &std::io::Error) -> bool {
    // `ENFILE` and `EMFILE`, which have no kind of their own.
    cfg!(unix) && matches!(e.raw_os_error(), Some(23 | 24))
}

/// What to do about a file or folder that the system refuses, whatever is in it.
fn advice(e: &std::io::Error) -> Option<&'static str> {
    match e.kind() {
        _ if is_out_of_files(e) => Some("allow more open files (`ulimit -n`) and try again"),
        ErrorKind::NotFound => Some("check whether it was moved or deleted, and bring it back"),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Some("check its permissions and those of its folder")
        }
        _ => None,
    }
}

/// Runs blocking work on a thread of its own and waits for it.
pub(crate) async fn run_blocking<T: Send + 'static>(
    doing: &'static str,
    work: impl FnOnce() -> Result<T, KbError> + Send + 'static,
) -> Result<T, KbError> {
    let (send, received) = tokio::sync::oneshot::channel();
    // Boxed, so that the runtime's part is compiled once and not for each kind of work.
    let work: Box<dyn FnOnce() + Send> = Box::new(move || drop(send.send(work())));
    let ended = tokio::task::spawn_blocking(work).await;
    ended.map_err(|e| KbError::worker_panicked(doing, &e))?;
    received.await.map_err(|e| KbError::worker_panicked(doing, &e))?
}

/// The shared database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// Another machine has taken over; nothing was written.
    #[error(
        "another machine has taken over writing to the base in `{name}`, because this one was not \
         heard of in time; what was written here since is not kept: run the command again"
    )]
    LeaseLost { name: String },
    /// What is asked for was summed up meanwhile; everything is to be read again.
    #[error("the log of `{name}` was rewritten while it was read; try again")]
    Compacted { name: String },
    /// The segments of a push could not be read here.
    #[error("a push was interrupted on this machine; run the command again")]
    Interrupted,
    #[error("{message}")]
    Failed { message: String },
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn what_the_system_refuses_is_not_blamed_on_the_index() {
        let raw = std::io::Error::from_raw_os_error;
        let of_lexical = |source| KbError::of_lexical(Path::new("/b/bm25"), source).to_string();
        let read = |e| OpenReadError::wrap_io_error(e, "meta.json".into());
        let lock = |e| TantivyError::LockFailure(LockError::wrap_io_error(e), None);
        let gone = of_lexical(lock(ErrorKind::NotFound.into()));
        assert!(
            gone.ends_with("; check whether it was moved or deleted, and bring it back"),
            "{gone}"
        );
        let denied =
            of_lexical(TantivyError::IoError(Arc::new(ErrorKind::PermissionDenied.into())));
        assert!(denied.ends_with("; check its permissions and those of its folder"), "{denied}");
        let damaged = of_lexical(read(ErrorKind::UnexpectedEof.into()).into());
        assert!(damaged.ends_with("; delete that folder and it is built again"), "{damaged}");
        if cfg!(unix) {
            let files = "; allow more open files (`ulimit -n`) and try again";
            let out = of_lexical(read(raw(24)).into());
            assert!(out.starts_with("cannot use `/b/bm25`: ") && out.ends_with(files), "{out}");
            let store = KbError::of_store(Path::new("/b/store"), heed::Error::Io(raw(23)));
            assert!(store.to_string().ends_with(files), "{store}");
            let full = KbError::of_lexical(Path::new("/b"), read(raw(28)).into());
            assert!(matches!(full, KbError::NoSpace { .. }), "{full}");
        }
    }
}
