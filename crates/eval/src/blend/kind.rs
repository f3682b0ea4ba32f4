//! The sorts of sources, the kinds of questions made of them, and why a try came to nothing.
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A sort of source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    Kg,
    Text,
    Web,
}

/// A kind of question: the pair of sources that it needs, in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    KgText,
    KgWeb,
    TextWeb,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::KgText, Self::KgWeb, Self::TextWeb];

    pub fn name(self) -> &'static str {
        match self {
            Self::KgText => "kg-text",
            Self::KgWeb => "kg-web",
            Self::TextWeb => "text-web",
        }
    }

    pub fn sorts(self) -> [Sort; 2] {
        match self {
            Self::KgText => [Sort::Kg, Sort::Text],
            Self::KgWeb => [Sort::Kg, Sort::Web],
            Self::TextWeb => [Sort::Text, Sort::Web],
        }
    }

    pub(super) fn needs(self, sort: Sort) -> bool {
        self.sorts().contains(&sort)
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|kind| kind.name() == name);
        known.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("there is no kind `{name}`; use one of: {names}")
        })
    }
}

/// Why something that was tried gave no question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dropped {
    /// The graph knows no entity of that name.
    NoEntity,
    /// Several entities of the graph have that name.
    SeveralEntities,
    /// No web result names it.
    NoWebResult,
    /// A source gave neither a clue to the bridge nor a question about it.
    NothingToAsk,
    /// A fact is not the only one that fits.
    NotTheOnlyFact,
    /// Read from its own source alone, a sub-question has another answer, or none.
    Unverified,
    /// The merged question, or one half of it, gives the bridge's name or the answer away.
    GivenAway,
    /// One of the sources would do.
    OneSourceIsEnough,
    /// The bridge stands in the second question in a way that cannot be replaced.
    NotMerged,
    /// The model's reply did not fit, after it was asked again.
    BadReply,
    /// A source failed.
    SourceFailed,
    /// The budget of one passage was spent.
    Spent,
}

impl Dropped {
    pub fn name(self) -> &'static str {
        match self {
            Self::NoEntity => "no_entity",
            Self::SeveralEntities => "several_entities",
            Self::NoWebResult => "no_web_result",
            Self::NothingToAsk => "nothing_to_ask",
            Self::NotTheOnlyFact => "not_the_only_fact",
            Self::Unverified => "unverified",
            Self::GivenAway => "given_away",
            Self::OneSourceIsEnough => "one_source_is_enough",
            Self::NotMerged => "not_merged",
            Self::BadReply => "bad_reply",
            Self::SourceFailed => "source_failed",
            Self::Spent => "spent",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written_alike() {
        for kind in Kind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        let error = "text-kg".parse::<Kind>().unwrap_err();
        assert_eq!(error, "there is no kind `text-kg`; use one of: kg-text, kg-web, text-web");
        assert_eq!(serde_json::to_value(Dropped::NoEntity).unwrap(), Dropped::NoEntity.name());
    }
}
