//! What can go wrong with a knowledge base: what, where, and what to do about it.
use std::path::PathBuf;

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
    #[error("cannot {doing} `{path}`: {source}")]
    File { path: PathBuf, doing: &'static str, source: std::io::Error },
    #[error("`{path}` is neither a file nor a folder; check the path")]
    NoInput { path: PathBuf },
    #[error(
        "the store in `{dir}` cannot be used: {source}; if it is damaged, delete the folder and \
         index again"
    )]
    Truth { dir: PathBuf, source: heed::Error },
    #[error("the store in `{dir}` is open already in this program; share the one that is open")]
    OpenTwice { dir: PathBuf },
    #[error(
        "the store in `{dir}` has reached its largest size of {gigabytes} GiB; split the input \
         over two bases"
    )]
    Full { dir: PathBuf, gigabytes: usize },
    #[error("the word index in `{dir}`: {source}; delete that folder and it is built again")]
    Words { dir: PathBuf, source: tantivy::TantivyError },
    #[error("embedding with `{model}`: {source}")]
    Embed { model: String, source: LlmError },
    #[error("`{model}` gave {got} vectors for {asked} texts, or vectors of unequal length")]
    BadVectors { model: String, asked: usize, got: usize },
    #[error("the base holds no `{id}`; it may have been replaced since it was found")]
    NoNode { id: String },
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
        Self::File { path: path.into(), doing, source }
    }
}

/// Runs blocking work beside the runtime and waits for it.
pub(crate) async fn beside<T: Send + 'static>(
    doing: &'static str,
    work: impl FnOnce() -> Result<T, KbError> + Send + 'static,
) -> Result<T, KbError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(e) => Err(KbError::Died { doing, reason: e.to_string() }),
    }
}
