//! Questions that need two sources of different kinds, made as `BlendQA` was (Xin et al., 2024,
//! Section 4.1.2): a bridge entity, a sub-question to it in one source and one about it in
//! another, both checked against their own source alone, and the two merged into one.
//!
//! Without a model rules make the halves, of facts and of sentences that name the bridge.
mod bridge;
mod build;
mod checks;
mod error;
mod graph;
mod half;
mod kind;
mod merge;
mod passage;
mod record;
mod relation;
mod statement;
mod statement_verbs;

use halma_core::PromptSet;

pub use build::{Built, Wishes, Wording, build};
pub use error::BlendError;
pub use kind::{Dropped, Kind, Sort};
pub use record::{Blended, Direction, Place, Triple};

/// The prompts that questions are made with, shipped next to those of the strategies.
pub const BLEND_PROMPTS: PromptSet = PromptSet::Below(&crate::PROMPT_FILES, "blend/");

#[cfg(test)]
mod tests;
