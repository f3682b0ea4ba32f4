//! What a write has taken out, noted until it ends.
use std::collections::BTreeSet;

use crate::store::Id;

/// One of the shared keys, by its number.
pub(super) type Bucket = u16;

/// What a write has taken out of what is shared, and which documents it has removed.
#[derive(Debug, Default)]
pub(in crate::store) struct Removals {
    /// Keys whose former values can be read; `None` until they are needed.
    pub(super) stale: Option<BTreeSet<Bucket>>,
    pub(in crate::store) documents: RemovedDocuments,
}

/// Documents that a write has removed, as far as others may quote them.
#[derive(Debug, Default)]
pub(crate) struct RemovedDocuments {
    /// Those with entities that a model described.
    pub(crate) described: BTreeSet<Id>,
    /// Whether any had tags.
    pub(crate) are_tagged: bool,
    /// Whether there are any.
    pub(crate) any: bool,
}
