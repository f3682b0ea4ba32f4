//! The program from outside, as users and tools have it.
#![expect(clippy::unwrap_used, reason = "tests may stop")]
mod bad_input;
mod browser;
mod contract;
mod evaluation;
mod feedback;
mod future;
#[cfg(unix)]
mod guides;
mod knowledge_graph;
mod messages;
mod mischief;
mod presets;
mod program;
mod serve;
mod training;
mod two_sources;
mod web;
