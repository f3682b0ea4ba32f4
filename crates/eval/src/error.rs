//! What ends an evaluation as a whole; a question that fails does not.
use std::path::PathBuf;

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
        "{}:{line}: written by a newer Halma (version {found}, this one reads up to {known}); \
         update Halma or give another --out",
        file.display()
    )]
    Newer { file: PathBuf, line: usize, found: u32, known: u32 },
    #[error("two contestants are called `{label}`; give each a label of its own")]
    SameLabel { label: String },
    #[error("the evaluation was stopped from outside; run it again to go on with it")]
    Stopped,
    #[error("{}: this is no report of an evaluation: {reason}; give a report.json", file.display())]
    BadReport { file: PathBuf, reason: String },
    #[error(
        "{}: a report of version {found}, this Halma reads version {known}; run the evaluation \
         again in the same folder to have it rewritten, no question is asked again",
        file.display()
    )]
    ReportVersion { file: PathBuf, found: u32, known: u32 },
    #[error(
        "the base in {} was built from `{built_from}`, not from `{wanted}`; give another --kb, or \
         --force to measure with it all the same",
        base.display()
    )]
    OtherBase { base: PathBuf, built_from: String, wanted: String },
}

impl EvalError {
    /// Whether it is what was asked for that is wrong, and not something that happened.
    pub fn is_wrong_use(&self) -> bool {
        matches!(
            self,
            Self::OtherBase { .. }
                | Self::BadReport { .. }
                | Self::ReportVersion { .. }
                | Self::SameLabel { .. }
        )
    }
}
