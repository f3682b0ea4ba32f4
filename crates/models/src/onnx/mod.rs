//! Third-party ONNX models, run on the processor through rten: the files of a model's folder, its
//! tokens, a pass over its graph.
mod files;
mod graph;
mod mapped;
mod pool;
mod tokens;

use std::path::{Path, PathBuf};

pub(crate) use files::Files;
pub(crate) use graph::{Graph, Logits, run};
pub(crate) use mapped::load as load_mapped;
pub(crate) use pool::InferencePool;
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

/// How many threads to compute with: `count`, or one for each processor.
pub(crate) fn threads(count: Option<usize>) -> usize {
    count.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1)
}
