//! What is kept of a collection, one JSON line each: how it was made, then every round of every
//! question.
use std::collections::HashMap;
use std::path::Path;

use halma_core::{DecompositionHop, Question, UsageTotal};
use serde::{Deserialize, Serialize};

use super::error::TrainError;
use super::recording::{Header, RecordLine, read_lines};
use crate::forecast::{Basis, Forecast, Taken};

const COMMAND: &str = "halma train collect";

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub(super) enum Line {
    Collection(Box<Header>),
    Round(Box<Round>),
}

impl RecordLine for Line {
    type Run = Round;
    const KIND: &'static str = "collection";
    const COMMAND: &'static str = COMMAND;

    fn header(header: Header) -> Self {
        Self::Collection(Box::new(header))
    }

    fn run(round: Round) -> Self {
        Self::Round(Box::new(round))
    }

    fn into_run(self) -> Result<Round, Header> {
        match self {
            Self::Round(round) => Ok(*round),
            Self::Collection(header) => Err(*header),
        }
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

/// The rounds of a finished file, or of one that is being written.
pub(super) fn read(file: &Path) -> Result<Vec<Round>, TrainError> {
    let (header, rounds) = read_lines::<Line>(file)?;
    if header.is_none() {
        let reason = "its first line does not say how it was collected".into();
        return Err(TrainError::NotACollection { file: file.into(), command: COMMAND, reason });
    }
    Ok(rounds)
}

/// A forecast for `left` more questions, of the rounds of others.
#[expect(clippy::cast_precision_loss, reason = "calls and tokens of one question")]
pub(super) fn forecast(label: &str, rounds: &[Round], counts: (usize, usize)) -> Forecast {
    let mut questions: HashMap<(String, String), Taken> = HashMap::new();
    for round in rounds {
        let taken = questions.entry(round.key()).or_default();
        let usage = &round.usage;
        taken.calls += (usage.llm_calls + usage.cached_calls) as f64;
        taken.tokens += round.tokens as f64;
        taken.usd += usage.usd;
        taken.seconds += round.latency_ms / 1e3;
        taken.cached += usage.cached_calls as f64;
    }
    let basis = match questions.len() {
        0 => Basis::Nothing,
        questions => Basis::Measured { questions },
    };
    let taken: Vec<Taken> = questions.into_values().collect();
    Forecast::new(label, basis, &taken, counts)
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
        let rounds = read(&out).unwrap();
        let current = without_outdated(rounds);
        assert_eq!(current.iter().map(|round| round.right).collect::<Vec<_>>(), [true, true]);
        assert_eq!(current[1].answers, ["Norway"]);
    }
}
