//! Models of other people's making, in ONNX files, run on the processor through rten: what lies in
//! a model's folder, its tokens, a pass over its graph.
mod crew;
mod files;
mod graph;
mod mapped;
mod tokens;

use std::path::{Path, PathBuf};

pub(crate) use crew::Crew;
pub(crate) use files::Files;
pub(crate) use graph::{Graph, Logits};
pub(crate) use mapped::load as load_mapped;
pub(crate) use tokens::{Row, Tokens, Window};

/// Why a model in a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OnnxError {
    #[error("`{path}` has no `{file}`; put the model's ONNX export there")]
    Absent { path: PathBuf, file: &'static str },
    #[error("cannot read `{path}`: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("`{path}` does not fit: {reason}")]
    Config { path: PathBuf, reason: String },
    #[error("cannot load the tokenizer `{path}`: {reason}")]
    Tokenizer { path: PathBuf, reason: String },
    #[error("cannot use the graph `{path}`: {reason}")]
    Graph { path: PathBuf, reason: String },
}

impl OnnxError {
    pub(crate) fn graph(path: &Path, reason: &impl ToString) -> Self {
        Self::Graph { path: path.to_owned(), reason: reason.to_string() }
    }

    fn tokenizer(path: &Path, reason: &impl ToString) -> Self {
        Self::Tokenizer { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// How many threads to compute with: as many as are asked for, or all processors.
pub(crate) fn threads(asked: Option<usize>) -> usize {
    asked.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1)
}
