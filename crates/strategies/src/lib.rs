//! The strategies: ways of answering a question, each in a folder of its own with the paper's
//! algorithm in the header, settings with the paper's constants, the loop, and its golden
//! transcripts. What several of them do is in `shared/`.
//!
//! [`ALL`] is the list that CLI help, menus and the configuration come from. The prompts are the
//! files `prompts/<strategy>/<step>.md`, found by their place.
pub mod atomr;
mod auto;
mod blend_filter;
mod chain_of_knowledge;
mod dec;
mod direct;
mod explore;
pub mod forecast;
mod gen_ground;
#[cfg(test)]
mod golden;
mod graph_global;
mod graph_local;
mod ircot;
mod iter_retgen;
mod kar3;
mod naive;
mod pike_l1;
mod pike_l2;
mod pike_l3;
mod pike_l4;
mod prob_tree;
mod react;
mod search_chain;
mod self_ask;
mod shared;
mod unirag;

use halma_core::{Entry, PromptSet};
use include_dir::{Dir, include_dir};

/// Every strategy, the default one first.
pub const ALL: &[Entry] = &[
    kar3::ENTRY,
    auto::ENTRY,
    pike_l1::ENTRY,
    pike_l2::ENTRY,
    pike_l3::ENTRY,
    pike_l4::ENTRY,
    dec::ENTRY,
    unirag::ENTRY,
    atomr::ENTRY,
    explore::ENTRY,
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
    direct::COT_ENTRY,
    direct::ENTRY,
];

/// Every prompt file of this crate: `kar3/select` is `prompts/kar3/select.md`.
pub const PROMPTS: PromptSet = PromptSet::Folder(&FILES);

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/prompts");
