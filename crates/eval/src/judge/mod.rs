//! Judging answers by a model. Every step is asked through a [`halma_core::Cx`], so that it is
//! recorded, budgeted and cached like any other call; the role is `judge`, so that another model
//! can be set for it than for answering.
mod claims;
mod creative;
mod criteria;
mod forecast;
mod scheme;
mod verdict;

use halma_core::PromptFile;

pub use creative::rate;
pub use criteria::{Assessed, Evidence, Source, assess};
pub use forecast::{ActualValue, Outlook, outlook};
pub(crate) use scheme::passages;
pub use scheme::{Mark, Marks, Scheme};
pub use verdict::{Case, Judgement, Protocol, Ruling, Tally, judge};

/// The prompts of the judge; shipped next to those of the strategies.
pub const JUDGE_PROMPTS: &[PromptFile] = &[
    PromptFile { name: "judge/asked", text: include_str!("../../prompts/judge/asked.md") },
    PromptFile { name: "judge/creative", text: include_str!("../../prompts/judge/creative.md") },
    PromptFile { name: "judge/dec", text: include_str!("../../prompts/judge/dec.md") },
    PromptFile { name: "judge/forecast", text: include_str!("../../prompts/judge/forecast.md") },
    PromptFile { name: "judge/needed", text: include_str!("../../prompts/judge/needed.md") },
    PromptFile { name: "judge/pike", text: include_str!("../../prompts/judge/pike.md") },
    PromptFile {
        name: "judge/statements",
        text: include_str!("../../prompts/judge/statements.md"),
    },
    PromptFile { name: "judge/support", text: include_str!("../../prompts/judge/support.md") },
    PromptFile { name: "judge/useful", text: include_str!("../../prompts/judge/useful.md") },
];

#[cfg(test)]
mod tests;
