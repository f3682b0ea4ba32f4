//! Looking into a base: a node with its edges, lists, export, verification.
mod edges;
mod export;
mod figures;
mod graphml;
mod list;
mod records;
mod show;
mod told;
mod verify;

pub use edges::Seen;
pub use export::ExportFormat;
pub use figures::Figures;
pub use list::{ListQuery, Listed, ListedDocument};
pub use show::{Shown, Unit};
pub use told::{EntityLine, FactLine, ToldFacts};
pub use verify::{Problem, Verified};

#[cfg(test)]
#[path = "inspect_tests.rs"]
mod tests;
