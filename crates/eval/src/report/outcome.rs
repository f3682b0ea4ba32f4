//! What became of a question, and why an answer is not right: derived from the trace and the gold
//! passages.
use serde::{Deserialize, Serialize};

use crate::components::Evidence;
use crate::record::{Record, RecordOutcome};

/// What became of a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerOutcome {
    Right,
    Wrong,
    /// The strategy said that the knowledge does not hold the answer. Scores 0.
    Abstained,
    /// It ended in an error; it has no score.
    Failed,
    /// The whole budget was spent before it, or while it was being answered.
    #[default]
    Unasked,
}

/// The first step at which a question could no longer be answered rightly. A question needs all of
/// its gold passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCause {
    /// A model's reply did not fit, also when it was asked again: the question ended in an error.
    Malformed,
    /// It ended in another error: the model, the base.
    Failed,
    /// A gold passage was missing when the question's budget was spent.
    Budget,
    /// The strategy never searched: it answered from the model's memory.
    NoSearch,
    /// Some gold passage was in the results of no search.
    Retrieval,
    /// Every gold passage was retrieved, and not all of them were cited or given to the reader.
    Selection,
    /// The reader had every gold passage and answered wrongly, or abstained.
    Reading,
    /// The data set marks no gold passages, or the answer was made by an older Halma.
    Unknown,
}

impl ErrorCause {
    /// In the order of a run.
    pub const ALL: [Self; 8] = [
        Self::NoSearch,
        Self::Retrieval,
        Self::Selection,
        Self::Reading,
        Self::Budget,
        Self::Malformed,
        Self::Failed,
        Self::Unknown,
    ];

    /// In a few words, for tables and legends.
    pub fn title(self) -> &'static str {
        match self {
            Self::NoSearch => "never searched",
            Self::Retrieval => "retrieval miss",
            Self::Selection => "selection miss",
            Self::Reading => "reading miss",
            Self::Budget => "budget spent",
            Self::Malformed => "malformed reply",
            Self::Failed => "error",
            Self::Unknown => "not known",
        }
    }

    /// What it means, for readers of a report.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::NoSearch => "the strategy answered from the model's memory",
            Self::Retrieval => "no search returned all of the gold passages",
            Self::Selection => "all were found, not all were cited or given to the reader",
            Self::Reading => "the reader had all of them and still answered wrongly",
            Self::Budget => "a gold passage was missing when the question's budget was spent",
            Self::Malformed => "a reply did not fit, also when asked for again",
            Self::Failed => "the question ended in another error",
            Self::Unknown => "no gold passages are marked",
        }
    }

    /// `None` for a right answer, and for a question that was not asked.
    pub(super) fn find(record: &Record, outcome: AnswerOutcome) -> Option<Self> {
        match (&record.outcome, outcome) {
            (_, AnswerOutcome::Right | AnswerOutcome::Unasked)
            | (RecordOutcome::Stopped { .. }, _) => None,
            (RecordOutcome::Failed { kind, .. }, _) if kind == "bad_reply" => Some(Self::Malformed),
            (RecordOutcome::Failed { .. }, _) => Some(Self::Failed),
            (RecordOutcome::Answered(answer), _) => {
                Some(cause_of(record.evidence.unwrap_or_default(), answer.partial))
            }
        }
    }
}

fn cause_of(evidence: Evidence, partial: bool) -> ErrorCause {
    let Evidence { gold, retrieved, read, searched } = evidence;
    if gold == 0 {
        return ErrorCause::Unknown;
    }
    match (searched, retrieved < gold, read < gold) {
        (_, _, true) if partial => ErrorCause::Budget,
        (false, true, _) => ErrorCause::NoSearch,
        (_, true, _) => ErrorCause::Retrieval,
        (_, false, true) => ErrorCause::Selection,
        (_, false, false) => ErrorCause::Reading,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(gold: usize, retrieved: usize, read: usize, searched: bool) -> ErrorCause {
        cause_of(Evidence { gold, retrieved, read, searched }, false)
    }

    #[test]
    fn the_first_missing_step_is_named() {
        assert_eq!(lost(2, 0, 0, false), ErrorCause::NoSearch);
        assert_eq!(lost(2, 1, 1, true), ErrorCause::Retrieval);
        assert_eq!(lost(2, 2, 1, true), ErrorCause::Selection);
        assert_eq!(lost(2, 2, 2, true), ErrorCause::Reading);
        assert_eq!(lost(0, 0, 0, true), ErrorCause::Unknown);
        let cut = |read| cause_of(Evidence { gold: 2, retrieved: 2, read, searched: true }, true);
        assert_eq!((cut(1), cut(2)), (ErrorCause::Budget, ErrorCause::Reading));
    }
}
