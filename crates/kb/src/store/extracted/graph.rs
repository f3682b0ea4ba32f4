//! The graph of entities: records of merges, small changes to edges, and whether the communities
//! are those of the entities as they are.
use halma_core::Edge;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::schema::{At, at_key, edge_byte, edge_key, edge_of_key, encode};
use crate::store::sealed::shared_owner;
use crate::store::{Id, Link, StoreReader, StoreWriter};

/// The name under which undone merges are kept.
pub(crate) const UNDONE: &str = "undone";

/// The name under which the state of the communities is kept.
const COMMUNITIES: &str = "communities";

impl StoreReader<'_> {
    /// The record of how two entities became one.
    pub(crate) fn merge<T: DeserializeOwned>(&self, id: Id) -> heed::Result<Option<T>> {
        // It quotes any documents.
        if self.visibility.is_some() {
            return Ok(None);
        }
        let stored = self.store.db.merges.get(self, &id.to_be_bytes())?;
        stored.map_or(Ok(None), |stored| self.store.decode_sealed(stored))
    }

    pub(crate) fn merge_count(&self) -> heed::Result<u64> {
        self.store.db.merges.len(self)
    }

    /// Where the first few edges of a kind begin that end at a node.
    pub(crate) fn first_edges_to(&self, to: At, edge: Edge, limit: usize) -> heed::Result<Vec<At>> {
        let mut prefix = at_key(to).to_vec();
        prefix.push(edge_byte(edge));
        let mut sources = vec![];
        for entry in self.store.db.backlinks.prefix_iter(self, &prefix)?.take(limit) {
            sources.extend(edge_of_key(entry?.0).map(|(_, _, from)| from));
        }
        Ok(sources)
    }

    /// All records of merges with their ids, in the order of ids.
    pub(crate) fn all_merges<T: DeserializeOwned>(&self) -> heed::Result<Vec<(Id, T)>> {
        let mut merges = vec![];
        // They quote all documents.
        if self.visibility.is_some() {
            return Ok(merges);
        }
        for entry in self.store.db.merges.iter(self)? {
            let (key, merge) = entry?;
            let id = key.last_chunk().map_or(0, |id| Id::from_be_bytes(*id));
            merges.extend(self.store.decode_sealed(merge)?.map(|merge| (id, merge)));
        }
        Ok(merges)
    }

    /// The fingerprint of the graph that the communities were made of; `None` where it is another
    /// by now, or where they were never made.
    pub(crate) fn communities_made_of(&self) -> heed::Result<Option<Id>> {
        Ok(self.meta::<Option<Id>>(COMMUNITIES)?.flatten())
    }

    /// Whether the communities are those of the graph as it is.
    pub(crate) fn communities_are_current(&self) -> heed::Result<bool> {
        Ok(self.communities_made_of()?.is_some())
    }

    /// Whether communities were ever made.
    pub(crate) fn communities_exist(&self) -> heed::Result<bool> {
        Ok(self.meta::<Option<Id>>(COMMUNITIES)?.is_some())
    }
}

impl StoreWriter<'_> {
    /// Adds the weight of `added` to that of the edge between the same nodes, which is taken out
    /// when nothing is left of it.
    pub(crate) fn weigh_edge(&mut self, added: Link) -> heed::Result<()> {
        let Link { from, edge, to, .. } = added;
        let stored = self.store.db.edges.get(self, &edge_key(from, edge, to))?;
        let stored = stored.and_then(|weight| Some(f32::from_le_bytes(weight.try_into().ok()?)));
        let weight = stored.unwrap_or_default() + added.weight;
        let link = Link { from, edge, to, weight };
        // Weights are sums of whole numbers: less than a half is nothing.
        if weight < 0.5 { self.remove_edge(&link) } else { self.put_edge(link) }
    }

    /// Puts a record of how two entities became one, under its id.
    pub(crate) fn put_merge<T: Serialize>(&mut self, id: Id, merge: &T) -> heed::Result<()> {
        self.note_merge_replaced(id)?;
        self.seal_merge(id, &encode(merge)?)
    }

    pub(crate) fn remove_merge(&mut self, id: Id) -> heed::Result<()> {
        self.note_merge_replaced(id)?;
        self.store.db.merges.delete(self.txn(), &id.to_be_bytes()).map(|_| ())
    }

    fn note_merge_replaced(&mut self, id: Id) -> heed::Result<()> {
        let sealed = self.store.db.merges.get(self, &id.to_be_bytes())?.map(<[u8]>::to_vec);
        self.note_replaced(id, sealed.as_deref())
    }

    pub(in crate::store) fn seal_merge(&mut self, id: Id, merge: &[u8]) -> heed::Result<()> {
        let slot = self.slot_of(shared_owner(id))?;
        self.put_sealed(self.store.db.merges, &id.to_be_bytes(), slot, merge)
    }

    /// Notes what the communities were made of; `None` has them made again.
    pub(crate) fn set_communities_made_of(&mut self, made_of: Option<Id>) -> heed::Result<()> {
        self.set_meta(COMMUNITIES, &made_of)
    }

    /// Notes that the entities are others than those the communities were made of.
    pub(crate) fn mark_communities_stale(&mut self) -> heed::Result<()> {
        if self.communities_are_current()? { self.set_communities_made_of(None) } else { Ok(()) }
    }
}
