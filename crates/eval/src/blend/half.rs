//! The two halves of a question before they are merged.
use super::record::Place;

/// Leads to the bridge without naming it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Clue {
    /// Its answer is the bridge.
    pub(super) question: String,
    /// What can stand in the place of the bridge's name: `the moon that Huygens found`.
    pub(super) phrase: String,
    pub(super) place: Place,
    /// The other names in it: readers who see them next to the bridge's name need no second source.
    pub(super) others: Vec<String>,
}

/// Asks something about the bridge, by its name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ask {
    pub(super) question: String,
    /// The answer and other ways to write it.
    pub(super) answers: Vec<String>,
    pub(super) place: Place,
}

/// What one source has on the bridge; all of it is verified.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Side {
    pub(super) clues: Vec<Clue>,
    pub(super) asks: Vec<Ask>,
}

impl Side {
    pub(super) fn is_empty(&self) -> bool {
        self.clues.is_empty() && self.asks.is_empty()
    }

    pub(super) fn add(&mut self, other: Self) {
        self.clues.extend(other.clues);
        self.asks.extend(other.asks);
    }
}
