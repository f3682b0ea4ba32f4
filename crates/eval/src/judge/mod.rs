//! Judging answers by a model. Every step is asked through a [`halma_core::Cx`], so that it is
//! recorded, budgeted and cached like any other call; the role is `judge`, so that another model
//! can be set for it than for answering.
mod creative;
mod forecast;
mod pair;
mod ragas;
mod scheme;
mod verdict;

use halma_core::PromptSet;

pub(crate) use creative::CREATIVE;
pub use forecast::{ActualValue, Direction};
pub use scheme::{CriterionUnit, Mark, Marks, Scheme};
pub(crate) use scheme::{ERROR, NAIVE_ERROR, passages};
pub use verdict::{Protocol, Ruling, judge};

/// The prompts of the judge, shipped next to those of the strategies.
pub const JUDGE_PROMPTS: PromptSet = PromptSet::Below(&crate::PROMPT_FILES, "judge/");

#[cfg(test)]
mod tests;
