//! What ends an evaluation as a whole; a question that fails does not.
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    #[error("{}: {doing}: {source}; check the folder given with --out", file.display())]
    File { file: PathBuf, doing: &'static str, source: std::io::Error },
    #[error(
        "{}: another evaluation is writing here; wait for it or give another --out",
        file.display()
    )]
    Busy { file: PathBuf },
    #[error(
        "{}:{line}: the line cannot be read: {reason}; remove it to have its question asked \
         again, or give another --out",
        file.display()
    )]
    BadLine { file: PathBuf, line: usize, reason: String },
    #[error(
        "{}:{line}: written by a newer Halma (version {given}, this one reads up to {supported}); \
         update Halma or give another --out",
        file.display()
    )]
    Newer { file: PathBuf, line: usize, given: u32, supported: u32 },
    #[error("{}: the folder holds files already; give a new folder", folder.display())]
    FullFolder { folder: PathBuf },
    #[error("two systems are called `{label}`; give each a label of its own")]
    SameLabel { label: String },
    #[error("the evaluation was stopped from outside; run it again to continue")]
    Stopped,
    #[error(
        "{}: the report cannot be read: {source}; give the folder that \
         `halma eval` wrote to, or the report.json in it",
        file.display()
    )]
    NoReport { file: PathBuf, source: std::io::Error },
    #[error(
        "{}: the folder has the report of `{existing}`, which that of `{questions}` would replace; \
         give another --out",
        out.display()
    )]
    OtherReport { out: PathBuf, existing: String, questions: String },
    #[error("{}: this is not the report of an evaluation: {reason}; give a report.json", file.display())]
    BadReport { file: PathBuf, reason: String },
    #[error(
        "{}: a report of version {given}, this Halma reads version {supported}; run the evaluation \
         again in the same folder to have it rewritten, no question is asked again",
        file.display()
    )]
    ReportVersion { file: PathBuf, given: u32, supported: u32 },
    #[error(
        "the base in {} was built from {}, not from {}; delete that folder and it is built again, \
         give another --kb, or --force to measure with it anyway",
        base.display(),
        if built_from == questions { "other passages".to_owned() } else { format!("`{built_from}`") },
        if built_from == questions {
            format!("those of the selected questions of `{questions}`")
        } else {
            format!("`{questions}`")
        }
    )]
    OtherBase { base: PathBuf, built_from: String, questions: String },
}

impl EvalError {
    /// What could not be done with a file, for `map_err`.
    pub(crate) fn file<E: Into<std::io::Error>>(
        file: &Path,
        doing: &'static str,
    ) -> impl Fn(E) -> Self {
        move |source| Self::File { file: file.into(), doing, source: source.into() }
    }

    /// Whether the request is wrong, as opposed to a failure of the machine.
    pub fn is_wrong_use(&self) -> bool {
        matches!(
            self,
            Self::OtherBase { .. }
                | Self::NoReport { .. }
                | Self::OtherReport { .. }
                | Self::BadReport { .. }
                | Self::ReportVersion { .. }
                | Self::SameLabel { .. }
                | Self::FullFolder { .. }
        )
    }
}
