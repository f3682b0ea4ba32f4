//! Looking into a base: a node with its edges, lists, export, verification.
mod edges;

pub use edges::Seen;
