//! The ways of answering a question, one file each: header in the paper's letters, settings with
//! the paper's constants, the loop, its golden transcripts.
//!
//! [`ALL`] is the list that CLI help, menus and reference docs come from; [`PROMPTS`] are the
//! words, as files under `prompts/<strategy>/<step>.md`.
pub mod atomr;
mod auto;
mod blend_filter;
mod chain;
mod chain_of_knowledge;
mod citing;
mod costs;
mod cot;
mod dec;
mod direct;
mod gen_ground;
#[cfg(test)]
mod golden;
mod graph_global;
mod graph_local;
mod ircot;
mod iter_retgen;
mod kar3;
mod kinds;
mod naive;
mod near;
mod overlap;
mod pike_l1;
mod pike_l2;
mod prob_tree;
mod react;
mod recall;
mod references;
mod search_chain;
mod self_ask;
mod settings;
mod solved;
mod steps;
mod unirag;

pub use atomr::Atomr;
pub use auto::{Auto, Level};
pub use blend_filter::BlendFilter;
pub use chain_of_knowledge::ChainOfKnowledge;
pub use costs::{COSTS, Cost};
pub use cot::Cot;
pub use dec::Dec;
pub use direct::Direct;
pub use gen_ground::GenGround;
pub use graph_global::GraphGlobal;
pub use graph_local::GraphLocal;
use halma_core::{Entry, PromptFile};
pub use ircot::Ircot;
pub use iter_retgen::IterRetgen;
pub use kar3::{Kar3, Proposals, Retrieve, SelectBy};
pub use naive::Naive;
pub use pike_l1::{PikeL1, Weights};
pub use pike_l2::{Comparative, PikeL2, Quantitative, Reasoning, Summarising};
pub use prob_tree::ProbTree;
pub use react::React;
pub use search_chain::SearchChain;
pub use self_ask::{FollowUps, SelfAsk};
pub use unirag::{Prompting, Unirag};

/// Every strategy, the default one first.
pub const ALL: &[Entry] = &[
    kar3::ENTRY,
    auto::ENTRY,
    pike_l1::ENTRY,
    pike_l2::ENTRY,
    dec::ENTRY,
    unirag::ENTRY,
    atomr::ENTRY,
    ircot::ENTRY,
    iter_retgen::ENTRY,
    self_ask::ENTRY,
    search_chain::ENTRY,
    gen_ground::ENTRY,
    react::ENTRY,
    blend_filter::ENTRY,
    prob_tree::ENTRY,
    chain_of_knowledge::ENTRY,
    graph_local::ENTRY,
    graph_global::ENTRY,
    naive::ENTRY,
    cot::ENTRY,
    direct::ENTRY,
];

/// Prompt files by their names; the words of `kar3/select` are in `prompts/kar3/select.md`.
macro_rules! prompts {
    ($($name:literal),* $(,)?) => {
        &[$(PromptFile { name: $name, text: include_str!(concat!("../prompts/", $name, ".md")) }),*]
    };
}

/// Every prompt file of this crate.
pub const PROMPTS: &[PromptFile] = prompts![
    "kar3/propose",
    "kar3/propose_one",
    "kar3/select",
    "kar3/select_chunk",
    "kar3/answer",
    "auto/classify",
    "auto/support",
    "pike_l1/answer",
    "pike_l2/compare",
    "pike_l2/cell",
    "pike_l2/compared",
    "pike_l2/sql",
    "pike_l2/computed",
    "pike_l2/summarise",
    "pike_l2/combine",
    "dec/decompose",
    "dec/rewrite",
    "dec/keywords",
    "dec/answer_one",
    "dec/answer",
    "dec/read",
    "unirag/sub_queries",
    "unirag/break_down",
    "unirag/cot",
    "unirag/gate",
    "unirag/rewrite",
    "atomr/plan",
    "atomr/sources",
    "atomr/search",
    "atomr/relate",
    "atomr/filter",
    "atomr/children",
    "atomr/siblings",
    "atomr/direct",
    "atomr/closed",
    "ircot/thought",
    "ircot/answer",
    "iter_retgen/answer",
    "self_ask/follow_up",
    "self_ask/answer_one",
    "self_ask/answer",
    "search_chain/chain",
    "search_chain/verify",
    "search_chain/answer",
    "gen_ground/deduce",
    "gen_ground/ground",
    "gen_ground/answer",
    "react/step",
    "react/answer",
    "blend_filter/recall",
    "blend_filter/draft",
    "blend_filter/filter",
    "blend_filter/answer",
    "prob_tree/tree",
    "prob_tree/closed",
    "prob_tree/open",
    "prob_tree/parts",
    "chain_of_knowledge/rationale",
    "chain_of_knowledge/correct",
    "chain_of_knowledge/answer",
    "graph_local/answer",
    "graph_global/rate",
    "graph_global/combine",
    "naive/answer",
    "cot/answer",
    "direct/answer",
];
