//! Records of merged entities, and small changes to edges and vectors that distilling needs.
use halma_core::Edge;
use heed::RwTxn;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::schema::{At, at_key, edge_byte, edge_key, edge_of_key, encode, row_key};
use super::units::SHARED;
use super::{Id, Link, Reading, Store};

impl Store {
    /// Adds to the weight of an edge, which is taken out when nothing is left of it.
    pub(crate) fn weigh_edge(
        &self,
        txn: &mut RwTxn<'_>,
        (from, edge, to): (At, Edge, At),
        by: f32,
    ) -> heed::Result<()> {
        let held = self.db.edges.get(txn, &edge_key(from, edge, to))?;
        let held = held.and_then(|weight| Some(f32::from_le_bytes(weight.try_into().ok()?)));
        let weight = held.unwrap_or_default() + by;
        let link = Link { from, edge, to, weight };
        // Weights are sums of whole numbers: less than a half is nothing.
        if weight < 0.5 { self.remove_edge(txn, &link) } else { self.put_edge(txn, link) }
    }

    /// Where the first few edges of a kind begin that end at a node.
    pub(crate) fn first_edges_to(
        &self,
        txn: &Reading<'_>,
        to: At,
        edge: Edge,
        most: usize,
    ) -> heed::Result<Vec<At>> {
        let mut prefix = at_key(to).to_vec();
        prefix.push(edge_byte(edge));
        let mut found = vec![];
        for entry in self.db.backlinks.prefix_iter(txn, &prefix)?.take(most) {
            found.extend(edge_of_key(entry?.0).map(|(_, _, from)| from));
        }
        Ok(found)
    }

    /// Takes out the vectors of a node that is removed or says something else now.
    pub(crate) fn remove_vectors(&self, txn: &mut RwTxn<'_>, node: At) -> heed::Result<()> {
        for embedder in 0..self.embedders(txn)?.len() {
            let embedder = u8::try_from(embedder).unwrap_or(u8::MAX);
            self.db.vectors.delete(txn, &row_key(embedder, node.0, node.1))?;
        }
        Ok(())
    }

    /// Puts a record of how two entities became one, under its id.
    pub(crate) fn put_merge<T: Serialize>(
        &self,
        txn: &mut RwTxn<'_>,
        id: Id,
        merge: &T,
    ) -> heed::Result<()> {
        let slot = self.slot_of(txn, SHARED)?;
        self.put_sealed(txn, (self.db.merges, &id.to_be_bytes()), slot, &encode(merge)?)
    }

    pub(crate) fn remove_merge(&self, txn: &mut RwTxn<'_>, id: Id) -> heed::Result<()> {
        self.db.merges.delete(txn, &id.to_be_bytes()).map(|_| ())
    }

    /// All records of merges with their ids, in the order of ids.
    pub(crate) fn all_merges<T: DeserializeOwned>(
        &self,
        txn: &Reading<'_>,
    ) -> heed::Result<Vec<(Id, T)>> {
        let mut merges = vec![];
        for entry in self.db.merges.iter(txn)? {
            let (key, merge) = entry?;
            let id = key.last_chunk().map_or(0, |id| Id::from_be_bytes(*id));
            merges.extend(self.decode_sealed(merge)?.map(|merge| (id, merge)));
        }
        Ok(merges)
    }

    /// Whether any record still has these bytes, whatever their case.
    #[cfg(test)]
    pub(crate) fn holds_text(&self, text: &str) -> bool {
        let held = |bytes: &[u8]| String::from_utf8_lossy(bytes).to_lowercase().contains(text);
        let db = &self.db;
        let sealed = [db.texts, db.units, db.merges, db.atomizing];
        let found = self.read(|txn| {
            for table in db.nodes.iter().chain(&sealed) {
                for entry in table.iter(txn)? {
                    let (key, value) = entry?;
                    if held(key) || self.unsealed(value)?.is_some_and(|value| held(&value)) {
                        return Ok(true);
                    }
                }
            }
            Ok(false)
        });
        found.unwrap()
    }
}
