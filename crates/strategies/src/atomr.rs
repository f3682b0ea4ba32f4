//! AtomR: a question becomes a tree of atomic operations over heterogeneous knowledge.
//!
//! Departures from the paper: see `docs/strategies/atomr.md`.
mod plan;

pub use plan::{Call, Node, Plan, Refusal, Repair, RepairKind, Step};
