//! Whether the communities are those of the entities as they are.
use super::{Id, StoreReader, StoreWriter};

/// The name under which the state is kept.
const KEY: &str = "communities";

impl StoreReader<'_> {
    /// The fingerprint of the graph that the communities were made of; `None` where it is another
    /// by now, or where they were never made.
    pub(crate) fn communities_made_of(&self) -> heed::Result<Option<Id>> {
        Ok(self.meta::<Option<Id>>(KEY)?.flatten())
    }

    /// Whether the communities are those of the graph as it is.
    pub(crate) fn communities_are_current(&self) -> heed::Result<bool> {
        Ok(self.communities_made_of()?.is_some())
    }

    /// Whether communities were ever made.
    pub(crate) fn communities_exist(&self) -> heed::Result<bool> {
        Ok(self.meta::<Option<Id>>(KEY)?.is_some())
    }
}

impl StoreWriter<'_> {
    /// Notes what the communities were made of; `None` has them made again.
    pub(crate) fn set_communities_made_of(&mut self, made_of: Option<Id>) -> heed::Result<()> {
        self.set_meta(KEY, &made_of)
    }

    /// Notes that the entities are others than those the communities were made of.
    pub(crate) fn mark_communities_stale(&mut self) -> heed::Result<()> {
        if self.communities_are_current()? { self.set_communities_made_of(None) } else { Ok(()) }
    }
}
