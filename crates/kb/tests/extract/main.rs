//! What a model takes from documents: entities, facts, tags, summaries and communities.
#![expect(clippy::unwrap_used, reason = "these are tests")]
mod aliases;
#[path = "../common/mod.rs"]
mod common;
mod entities;
#[path = "../extractor/mod.rs"]
mod extractor;
mod prompts;
mod tags_and_communities;
