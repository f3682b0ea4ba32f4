//! What a build would cost is said before it, and comes true.
#![expect(clippy::unwrap_used, reason = "these are tests")]
#[path = "../common/mod.rs"]
mod common;
mod complete;
mod parts;
