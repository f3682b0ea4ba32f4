//! What is mended in a plan and what is refused.
use serde::Serialize;

/// One use of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// The rule.
    pub kind: RepairKind,
    /// Where, in the plan's own words.
    pub at: String,
}

/// The rules of repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RepairKind {
    /// Words or a fence stand around the JSON: they are left out.
    TextAround,
}

/// Why a text is no plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// There is no JSON object in it.
    NoObject,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoObject => f.write_str("there is no JSON object in the plan"),
        }
    }
}

impl std::error::Error for Refusal {}
