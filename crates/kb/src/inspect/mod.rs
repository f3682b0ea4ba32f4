//! Looking into a base: a node with its edges, lists, export, verification.
mod dates;
mod entities;
mod export;
mod list;
mod records;
mod show;
mod stats;
mod timeline;
mod verify;

pub use entities::{EntityQuery, ListedEntity};
pub use list::{ListQuery, ListedDocument, ListedNode};
pub use show::{EdgeEnd, Shown, Unit};
pub use stats::{Figures, Sizes, Stats, VectorStats};
pub use timeline::{Timeline, TimelineEvent, TimelineQuery};
pub use verify::{Problem, Verified};

use crate::Base;

/// Looks into a base; changes nothing.
pub struct Inspector<'a> {
    base: &'a Base,
}

impl Base {
    /// To look into the base.
    pub fn inspector(&self) -> Inspector<'_> {
        Inspector { base: self }
    }
}

#[cfg(test)]
mod tests;
