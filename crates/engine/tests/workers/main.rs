//! Builds of a shared base whose calls are done by workers, against a real server of `PostgreSQL`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(unix)]
mod bench;
mod builds;
mod disk;
mod faults;
mod support;
