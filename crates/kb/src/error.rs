//! What can go wrong with a knowledge base: what, where, and what to do about it.
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use halma_core::LlmError;

#[derive(Debug, thiserror::Error)]
pub enum KbError {
    #[error("there is no knowledge base in `{dir}`; make one with `halma index --kb {dir} FOLDER`")]
    NoBase { dir: PathBuf },
    #[error(
        "the knowledge base in `{dir}` has format {found}, and this version of Halma reads up to \
         {known}; upgrade Halma, or index into another folder"
    )]
    Newer { dir: PathBuf, found: u32, known: u32 },
    #[error(
        "the knowledge base in `{dir}` has format {found}, and this version of Halma reads {known}; \
         index again into a new folder"
    )]
    Older { dir: PathBuf, found: u32, known: u32 },
    #[error("cannot {doing} `{path}`: {source}")]
    File { path: PathBuf, doing: &'static str, source: std::io::Error },
    #[error("`{path}` is neither a file nor a folder; check the path")]
    NoInput { path: PathBuf },
    #[error(
        "the store in `{dir}` cannot be used: {source}; if it is damaged, delete the folder and \
         index again"
    )]
    Store { dir: PathBuf, source: heed::Error },
    #[error("the store in `{dir}` is open already in this program; share the one that is open")]
    OpenTwice { dir: PathBuf },
    #[error(
        "the store in `{dir}` has reached its largest size of {gigabytes} GiB; split the input \
         over two bases"
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
    #[error(transparent)]
    Keys(#[from] halma_seal::SealError),
    #[error("the lexical index in `{dir}`: {source}; delete that folder and it is built again")]
    Lexical { dir: PathBuf, source: tantivy::TantivyError },
    #[error("embedding with `{model}`: {source}")]
    Embed { model: String, source: LlmError },
    #[error("`{model}` gave {got} vectors for {asked} texts, or vectors of unequal length")]
    BadVectors { model: String, asked: usize, got: usize },
    #[error("the base holds no `{id}`; it may have been replaced since it was found")]
    NoNode { id: String },
    #[error("the base holds no document {said}; `halma kb list` names all")]
    NoDocument { said: String },
    #[error(
        "`{glob}` is not a valid pattern for file names: {reason}; `*.md` and `drafts/**` are patterns"
    )]
    BadGlob { glob: String, reason: String },
    #[error(
        "nothing was found in `{path}`, so nothing is removed; check the folder, or leave out \
         `--prune`"
    )]
    NothingFound { path: PathBuf },
    #[error("changes in `{path}` cannot be watched: {reason}")]
    Unwatched { path: PathBuf, reason: String },
    #[error("{0}")]
    Prompt(#[from] halma_core::PromptError),
    #[error(
        "there is no merge `{id}`; it may be undone already, or its documents are gone: list the \
         merges again"
    )]
    NoMerge { id: String },
    #[error("the {layer} layer cannot be searched; search `chunk` or `atom`")]
    NotSearched { layer: &'static str },
    #[error("cutting by `semantic` needs an embedder; configure one, or set `chunks`")]
    CutWithoutEmbedder,
    #[error("cutting `{title}`: {source}")]
    Cut { title: String, source: halma_core::Error },
    #[error("the query cannot be run: {reason}; {hint}")]
    Sql { reason: String, hint: String },
    #[error("`{what}` is not allowed in a query: only one `SELECT` is, and it changes nothing")]
    SqlNotRead { what: String },
    #[error("the query took longer than {seconds} s; ask for less at a time")]
    SqlTooLong { seconds: f64 },
    #[error("the query, with the tables it reads, needs more memory than 2 GiB; ask for less")]
    SqlTooLarge,
    #[error("the base's tables cannot be put into the SQL engine: {source}")]
    Tables { source: rusqlite::Error },
    #[error("a worker thread died while it was {doing}: {reason}; run the command again")]
    Died { doing: &'static str, reason: String },
}

impl KbError {
    /// Of filling the SQL engine.
    pub(crate) fn tables(source: rusqlite::Error) -> Self {
        match source.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OutOfMemory) => Self::SqlTooLarge,
            _ => Self::Tables { source },
        }
    }

    pub(crate) fn file(
        path: impl Into<PathBuf>,
        doing: &'static str,
        source: std::io::Error,
    ) -> Self {
        let path = path.into();
        if no_space(&source) {
            Self::NoSpace { dir: path, source }
        } else {
            Self::File { path, doing, source }
        }
    }

    /// No document has these names; each with names that are near.
    pub(crate) fn no_document(unknown: &[(String, Vec<String>)]) -> Self {
        let quoted = |names: &[String]| {
            let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            quoted.join(" or ")
        };
        let said = unknown.iter().map(|(asked, near)| {
            if near.is_empty() {
                format!("`{asked}`")
            } else {
                format!("`{asked}` (did you mean {}?)", quoted(near))
            }
        });
        Self::NoDocument { said: said.collect::<Vec<_>>().join(", ") }
    }

    /// An error of the store in `dir`.
    pub(crate) fn of_store(dir: &Path, source: heed::Error) -> Self {
        let dir = dir.to_owned();
        match source {
            heed::Error::Io(source) if no_space(&source) => Self::NoSpace { dir, source },
            source => Self::Store { dir, source },
        }
    }

    /// An error of the lexical index in `dir`.
    pub(crate) fn of_lexical(dir: &Path, source: tantivy::TantivyError) -> Self {
        let dir = dir.to_owned();
        match &source {
            tantivy::TantivyError::IoError(e) if no_space(e) => {
                Self::NoSpace { dir, source: std::io::Error::new(e.kind(), e.to_string()) }
            }
            _ => Self::Lexical { dir, source },
        }
    }
}

/// The disk is full, or a limit of the system for this user or process is reached.
pub(crate) fn no_space(e: &std::io::Error) -> bool {
    matches!(e.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}

/// Runs blocking work on a thread of its own and waits for it.
pub(crate) async fn run_blocking<T: Send + 'static>(
    doing: &'static str,
    work: impl FnOnce() -> Result<T, KbError> + Send + 'static,
) -> Result<T, KbError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(e) => Err(KbError::Died { doing, reason: e.to_string() }),
    }
}
