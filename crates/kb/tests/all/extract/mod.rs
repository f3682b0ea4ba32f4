//! What a model takes from documents: entities, facts, tags, summaries and communities.
#![expect(clippy::unwrap_used, reason = "these are tests")]
mod aliases;
mod entities;
mod prompts;
mod tags_and_communities;
