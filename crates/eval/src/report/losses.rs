//! Where an answer that is not right was lost, told from the trace and the gold passages.
use serde::{Deserialize, Serialize};

use super::Fate;
use crate::components::Evidence;
use crate::record::{Record, Verdict};

/// The first step at which a question could no longer be answered rightly. A question needs all of
/// its gold passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
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
    /// Every gold passage was found, and not all of them were cited or given to the reader.
    Selection,
    /// The reader had every gold passage and answered wrongly, or abstained.
    Reading,
    /// The data set marks no gold passages, or the answer was made by an older Halma.
    Unknown,
}

impl Loss {
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

    /// What it means, for whoever reads a report.
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
    pub(super) fn of(record: &Record, fate: Fate) -> Option<Self> {
        match (&record.outcome, fate) {
            (_, Fate::Right | Fate::Unasked) | (Verdict::Stopped { .. }, _) => None,
            (Verdict::Failed { kind, .. }, _) if kind == "bad_reply" => Some(Self::Malformed),
            (Verdict::Failed { .. }, _) => Some(Self::Failed),
            (Verdict::Answered(answer), _) => {
                Some(lost_by(record.evidence.unwrap_or_default(), answer.partial))
            }
        }
    }
}

fn lost_by(evidence: Evidence, partial: bool) -> Loss {
    let Evidence { gold, found, read, searched } = evidence;
    if gold == 0 {
        return Loss::Unknown;
    }
    match (searched, found < gold, read < gold) {
        (_, _, true) if partial => Loss::Budget,
        (false, true, _) => Loss::NoSearch,
        (_, true, _) => Loss::Retrieval,
        (_, false, true) => Loss::Selection,
        (_, false, false) => Loss::Reading,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(gold: usize, found: usize, read: usize, searched: bool) -> Loss {
        lost_by(Evidence { gold, found, read, searched }, false)
    }

    #[test]
    fn the_first_missing_step_is_named() {
        assert_eq!(lost(2, 0, 0, false), Loss::NoSearch);
        assert_eq!(lost(2, 1, 1, true), Loss::Retrieval);
        assert_eq!(lost(2, 2, 1, true), Loss::Selection);
        assert_eq!(lost(2, 2, 2, true), Loss::Reading);
        assert_eq!(lost(0, 0, 0, true), Loss::Unknown);
        let cut = |read| lost_by(Evidence { gold: 2, found: 2, read, searched: true }, true);
        assert_eq!((cut(1), cut(2)), (Loss::Budget, Loss::Reading));
    }
}
