//! The ways of answering a question, one file each: header in the paper's letters, settings with
//! the paper's constants, the loop, its golden transcripts.
//!
//! [`ALL`] is the list that CLI help, menus and reference docs come from; [`PROMPTS`] are the
//! words, as files under `prompts/<strategy>/<step>.md`.
mod cot;
mod direct;
#[cfg(test)]
mod golden;
mod ircot;
mod iter_retgen;
mod kar3;
mod naive;
mod near;
mod self_ask;
mod settings;
mod steps;

pub use cot::Cot;
pub use direct::Direct;
use halma_core::{Entry, PromptFile};
pub use ircot::Ircot;
pub use iter_retgen::IterRetgen;
pub use kar3::{Kar3, Proposals, Retrieve, SelectBy};
pub use naive::Naive;
pub use self_ask::{FollowUps, SelfAsk};

/// Every strategy, the default one first.
pub const ALL: &[Entry] = &[
    kar3::ENTRY,
    ircot::ENTRY,
    iter_retgen::ENTRY,
    self_ask::ENTRY,
    naive::ENTRY,
    cot::ENTRY,
    direct::ENTRY,
];

/// Every prompt file of this crate.
pub const PROMPTS: &[PromptFile] = &[
    PromptFile { name: "kar3/propose", text: include_str!("../prompts/kar3/propose.md") },
    PromptFile { name: "kar3/propose_one", text: include_str!("../prompts/kar3/propose_one.md") },
    PromptFile { name: "kar3/select", text: include_str!("../prompts/kar3/select.md") },
    PromptFile { name: "kar3/select_chunk", text: include_str!("../prompts/kar3/select_chunk.md") },
    PromptFile { name: "kar3/answer", text: include_str!("../prompts/kar3/answer.md") },
    PromptFile { name: "ircot/thought", text: include_str!("../prompts/ircot/thought.md") },
    PromptFile { name: "ircot/answer", text: include_str!("../prompts/ircot/answer.md") },
    PromptFile {
        name: "iter_retgen/answer",
        text: include_str!("../prompts/iter_retgen/answer.md"),
    },
    PromptFile {
        name: "self_ask/follow_up",
        text: include_str!("../prompts/self_ask/follow_up.md"),
    },
    PromptFile {
        name: "self_ask/answer_one",
        text: include_str!("../prompts/self_ask/answer_one.md"),
    },
    PromptFile { name: "self_ask/answer", text: include_str!("../prompts/self_ask/answer.md") },
    PromptFile { name: "naive/answer", text: include_str!("../prompts/naive/answer.md") },
    PromptFile { name: "cot/answer", text: include_str!("../prompts/cot/answer.md") },
    PromptFile { name: "direct/answer", text: include_str!("../prompts/direct/answer.md") },
];
