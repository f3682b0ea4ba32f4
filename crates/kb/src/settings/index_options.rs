//! What a run of `index` is asked for.
use std::path::PathBuf;

use halma_core::Metadata;

use super::{BasePart, InputFormat};

/// What a run of `index` is asked for, besides its inputs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexOptions {
    pub format: InputFormat,
    /// Patterns of the files of a folder that are read; with none all are. `*` stands for any
    /// characters but `/`, `**` for any folders; a pattern without `/` is one for the name alone.
    /// Files that are given by themselves are always read.
    pub include: Vec<String>,
    /// Patterns of the files and folders below a folder that are left out.
    pub exclude: Vec<String>,
    /// Whether documents that came from below the given folders and are not there any more are
    /// removed.
    pub prune: bool,
    /// Whether every file is read to see if it has changed, also where its size and times are what
    /// they were.
    pub rehash: bool,
    /// Parts of the base that are made again as the configuration says. Everything else stays as
    /// the base was made, and new documents are treated like the others.
    pub rebuild: Vec<BasePart>,
    /// Fields of every document of the inputs, also of those that are known already; they come
    /// before those in files and records.
    pub metadata: Metadata,
    /// The configuration file in use, which may hold passwords and keys: it is never read, also
    /// where it is given by itself. The engine sets it.
    pub configuration: Option<PathBuf>,
}
