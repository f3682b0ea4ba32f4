//! Why training data cannot be made.
use std::path::PathBuf;

use crate::error::EvalError;

#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    #[error(
        "{}: this file was collected with other settings ({differs}); give another --out, or run \
         with the settings of the file to continue it",
        file.display()
    )]
    OtherSettings { file: PathBuf, differs: String },
    #[error(
        "{}: the base has changed since this file was begun, so that its chunks may be gone; give \
         another --out to collect over the base as it is",
        file.display()
    )]
    OtherBase { file: PathBuf },
    #[error("{}: this is not a file of `{command}`: {reason}", file.display())]
    NotACollection { file: PathBuf, command: &'static str, reason: String },
    #[error(
        "{}: no trajectory in it ends in a right answer with a sub-question that was answered, so \
         there is nothing to train on; collect more questions, with --judge, or with a better model",
        file.display()
    )]
    NothingRight { file: PathBuf },
    #[error(
        "{}: {dropped} of its {questions} questions are left out because --held-out has them, or \
         names of them with --shared-names drop, and of the others there is nothing to train on; \
         collect other questions",
        file.display()
    )]
    HeldOutOnly { file: PathBuf, dropped: usize, questions: usize },
    #[error(
        "{}: no question has both a right and a wrong trajectory that differ, so there are no \
         preferences; collect more questions, or make --kind sft",
        file.display()
    )]
    NoPreferences { file: PathBuf },
    #[error("no question can be used: {reasons}; the file must have questions with answers{extra}")]
    NoQuestions { reasons: String, extra: &'static str },
    #[error("no keywords can be labelled: {reasons}")]
    NoKeywords { reasons: String },
    #[error(
        "{}: it exists and would change; give another --out, or --force to replace it",
        file.display()
    )]
    Exists { file: PathBuf },
    #[error(transparent)]
    Prompt(#[from] halma_core::PromptError),
    #[error(transparent)]
    Eval(#[from] EvalError),
}

impl TrainError {
    /// Whether the request is wrong, as opposed to a failure of the machine.
    pub fn is_wrong_use(&self) -> bool {
        match self {
            Self::Eval(error) => error.is_wrong_use(),
            Self::OtherSettings { .. }
            | Self::OtherBase { .. }
            | Self::NotACollection { .. }
            | Self::NoQuestions { .. }
            | Self::Exists { .. } => true,
            Self::NothingRight { .. }
            | Self::HeldOutOnly { .. }
            | Self::NoPreferences { .. }
            | Self::NoKeywords { .. }
            | Self::Prompt(_) => false,
        }
    }
}
