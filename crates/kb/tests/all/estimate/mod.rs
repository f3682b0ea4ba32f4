//! What a build would cost is said before it, and comes true.
#![expect(clippy::unwrap_used, reason = "these are tests")]
mod complete;
mod parts;
