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

use halma_core::PromptFile;

pub use build::{Built, Wishes, Wording, build};
pub use error::BlendError;
pub use kind::{Dropped, Kind, Sort};
pub use record::{Blended, Direction, Place, Triple};

/// The prompts that questions are made with, shipped next to those of the strategies.
pub const BLEND_PROMPTS: &[PromptFile] = &[
    PromptFile { name: "blend/ask", text: include_str!("../../prompts/blend/ask.md") },
    PromptFile { name: "blend/clue", text: include_str!("../../prompts/blend/clue.md") },
    PromptFile { name: "blend/merge", text: include_str!("../../prompts/blend/merge.md") },
    PromptFile { name: "blend/read", text: include_str!("../../prompts/blend/read.md") },
    PromptFile {
        name: "blend/statements",
        text: include_str!("../../prompts/blend/statements.md"),
    },
];

#[cfg(test)]
mod tests;
