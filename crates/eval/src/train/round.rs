//! What is kept of a collection, one JSON line each: how it was made, then every round of every
//! question.
use std::collections::{BTreeMap, HashMap};
use std::io::Read as _;
use std::path::Path;

use halma_core::{DecompositionHop, Question, UsageTotal};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::TrainError;
use crate::journal::Journal;

pub(super) const COMMAND: &str = "halma train collect";

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub(super) enum Line {
    Collection(Box<Header>),
    Round(Box<Round>),
}

/// How a collection is made. Rounds of two different headers are never mixed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) version: u32,
    /// Flags and settings by name, for the message when they differ.
    pub(super) settings: BTreeMap<String, Value>,
    /// Of the base.
    pub(super) base: String,
    /// Of everything else that an answer depends on: prompts, models, search.
    pub(super) system: String,
}

impl Header {
    /// Refuses to continue a file of another header, and says in what it differs.
    pub(super) fn check(&self, earlier: &Self, file: &Path) -> Result<(), TrainError> {
        let file = file.to_path_buf();
        let keys = self.settings.keys().chain(earlier.settings.keys());
        let mut differs: Vec<String> = keys
            .filter(|key| self.settings.get(*key) != earlier.settings.get(*key))
            .map(|key| {
                let show = |value: Option<&Value>| value.map_or("none".into(), Value::to_string);
                let (was, is) = (earlier.settings.get(key), self.settings.get(key));
                format!("{key} was {} and is {}", show(was), show(is))
            })
            .collect();
        differs.sort();
        differs.dedup();
        if !differs.is_empty() {
            return Err(TrainError::OtherSettings { file, differs: differs.join(", ") });
        }
        if self.base != earlier.base {
            return Err(TrainError::OtherBase { file });
        }
        if self.system != earlier.system {
            let differs = "the prompts, the models or the settings of searching".to_owned();
            return Err(TrainError::OtherSettings { file, differs });
        }
        Ok(())
    }
}

/// One trajectory: a question from its first sub-question to its answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Round {
    pub(super) version: u32,
    pub(super) question: Question,
    /// The gold answers.
    pub(super) answers: Vec<String>,
    /// From 1.
    #[serde(rename = "round")]
    pub(super) number: u32,
    /// Whether contexts were sampled.
    pub(super) sampled: bool,
    pub(super) hops: Vec<DecompositionHop>,
    pub(super) answer: String,
    /// By the metric of the question set, from 0 to 1.
    pub(super) value: f64,
    pub(super) right: bool,
    /// The loop was ended by a budget, not by the method.
    pub(super) partial: bool,
    pub(super) usage: UsageTotal,
    pub(super) tokens: u64,
    pub(super) latency_ms: f64,
    /// The file of its trace, in the folder next to this file.
    pub(super) trace: String,
}

impl Round {
    pub(super) fn key(&self) -> (String, String) {
        (self.question.id.clone(), self.question.text.clone())
    }
}

/// Without the rounds that were scored by other answers than the last round of their question: its
/// answers were corrected in the question file since.
pub(super) fn without_outdated(rounds: Vec<Round>) -> Vec<Round> {
    let mut latest: HashMap<(String, String), (Vec<String>, bool)> = HashMap::new();
    let mut current = vec![];
    for round in rounds.into_iter().rev() {
        let (answers, unbroken) =
            latest.entry(round.key()).or_insert_with(|| (round.answers.clone(), true));
        *unbroken &= *answers == round.answers;
        if *unbroken {
            current.push(round);
        }
    }
    current.reverse();
    current
}

/// The header and the rounds of a finished file, or of one that is being written.
pub(super) fn read(file: &Path) -> Result<(Header, Vec<Round>), TrainError> {
    let (mut header, mut rounds) = (None, vec![]);
    Journal::<Line>::read(file, |line| match line {
        Line::Collection(line) => header = Some(*line),
        Line::Round(round) => rounds.push(*round),
    })
    .map_err(|error| not_a_collection(file, error))?;
    let header = header.ok_or_else(|| TrainError::NotACollection {
        file: file.into(),
        command: COMMAND,
        reason: "its first line does not say how it was collected".into(),
    })?;
    Ok((header, rounds))
}

/// Refuses a file of another kind before it is opened for writing: of one that is a single line
/// without an end, all would be taken for half a line and be dropped.
pub(super) fn check_own(
    file: &Path,
    (kind, command): (&str, &'static str),
) -> Result<(), TrainError> {
    let own = format!("{{\"line\":\"{kind}\"");
    let mut head = vec![];
    let Ok(open) = std::fs::File::open(file) else { return Ok(()) };
    let read = open.take(own.len() as u64).read_to_end(&mut head);
    let reason = match read {
        Ok(_) if own.as_bytes().starts_with(&head) => return Ok(()),
        Ok(_) => "it begins otherwise, and is left as it is".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(TrainError::NotACollection { file: file.into(), command, reason })
}

/// A line that cannot be read is most often that of another kind of file.
pub(super) fn not_a_collection(file: &Path, error: crate::error::EvalError) -> TrainError {
    match error {
        crate::error::EvalError::BadLine { line, reason, .. } => TrainError::NotACollection {
            file: file.into(),
            command: COMMAND,
            reason: format!("line {line}: {reason}"),
        },
        crate::error::EvalError::File { file, source, .. } => TrainError::NotACollection {
            file,
            command: COMMAND,
            reason: format!("{source}; check the path"),
        },
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{HOLM, RIGHT, VARN, collect};
    use super::*;

    #[tokio::test]
    async fn a_question_with_corrected_answers_is_collected_again() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("runs.jsonl");
        let summary = collect(&out, &[VARN, HOLM], [RIGHT, "x;Ada Quill"]).await;
        assert_eq!((summary.rounds, summary.solved), (2, 2));
        let corrected = (VARN.0, "Sweden");
        let to_sweden = "Where was Thorn born?=Sweden;Sweden";
        let summary = collect(&out, &[corrected, HOLM], [RIGHT, to_sweden]).await;
        assert_eq!((summary.rounds, summary.solved, summary.solved_without), (3, 2, 1));
        // Corrected back: the rounds of the other answers are the latest, and do not count.
        let summary = collect(&out, &[VARN, HOLM], [RIGHT]).await;
        assert_eq!((summary.rounds, summary.solved), (2, 2));
        let (_, rounds) = read(&out).unwrap();
        let current = without_outdated(rounds);
        assert_eq!(current.iter().map(|round| round.right).collect::<Vec<_>>(), [true, true]);
        assert_eq!(current[1].answers, ["Norway"]);
    }
}
