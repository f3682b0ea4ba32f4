//! How far a build is, reported while it runs.
use std::sync::Arc;

use serde::Serialize;

/// Called after each step of the build; must return at once.
pub type Progress = Arc<dyn Fn(PhaseProgress) + Send + Sync>;

/// How far a phase is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PhaseProgress {
    pub phase: Phase,
    pub done: usize,
    pub total: usize,
}

/// A part of a build, by what is done in it. Stages name theirs themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Phase(pub(crate) &'static str);

impl Phase {
    /// Another `index` holds the base; this one resumes when that one is done.
    pub const WAIT: Self = Self("waiting");
    /// Counts bytes of the input files.
    pub const READ: Self = Self("reading");
    /// Counts chunks whose names are linked.
    pub const LINK: Self = Self("linking names");
    /// Counts nodes entered in the lexical index.
    pub const STORE: Self = Self("indexing text");
    /// Counts documents that are gone and removed.
    pub const PRUNE: Self = Self("removing");

    /// What is done, as a person reads it.
    pub fn name(self) -> &'static str {
        self.0
    }
}
