//! The calls by store and transaction, for the stages of a build.
use halma_core::{Edge, Layer};
use serde::Serialize;
use serde::de::DeserializeOwned;

use halma_seal::Slot;

use super::documents::Put;
use super::*;

impl Reader<'_> {
    pub(crate) fn unit(&self, chunk: Row) -> heed::Result<Option<AtomUnit>> {
        self.store.unit(self, chunk)
    }

    /// The rows of a chunk's atoms.
    pub(crate) fn atoms_of(&self, chunk: Row) -> heed::Result<std::ops::Range<Row>> {
        self.store.atoms_of(self, chunk)
    }

    pub(crate) fn unembedded(&self, at: At) -> heed::Result<Option<State>> {
        self.store.unembedded(self, at)
    }

    pub(crate) fn each_unit(&self, each: impl FnMut(&'static str, &State)) -> heed::Result<()> {
        self.store.each_unit(self, each)
    }

    pub(crate) fn ledger_counts(&self) -> heed::Result<ledger::LedgerCounts> {
        self.store.ledger_counts(self)
    }
}

impl Store {
    pub(crate) fn samenesses(
        &self,
        txn: &Reader<'_>,
        document: Row,
    ) -> heed::Result<Vec<(Id, Row)>> {
        txn.samenesses(document)
    }

    pub(crate) fn carry(&self, txn: &mut Writer<'_>, old: Row, new: Row) -> heed::Result<usize> {
        txn.carry(old, new)
    }

    pub(crate) fn holds(&self, txn: &Reader<'_>, (layer, row): At) -> heed::Result<bool> {
        txn.holds((layer, row))
    }

    pub(crate) fn named(&self, txn: &Reader<'_>, name: &str) -> heed::Result<Option<Row>> {
        txn.named(name)
    }

    pub(crate) fn put_document(
        &self,
        txn: &mut Writer<'_>,
        draft: &DocumentDraft<'_>,
        atoms: crate::Atoms,
    ) -> heed::Result<Put> {
        txn.put_document(draft, atoms)
    }

    pub(crate) fn add_name(
        &self,
        txn: &mut Writer<'_>,
        row: Row,
        (name, origin): (&str, &str),
        first: bool,
    ) -> heed::Result<()> {
        txn.add_name(row, (name, origin), first)
    }

    pub(crate) fn remove_name(
        &self,
        txn: &mut Writer<'_>,
        row: Row,
        name: &str,
    ) -> heed::Result<()> {
        txn.remove_name(row, name)
    }

    pub(crate) fn take_name(
        &self,
        txn: &mut Writer<'_>,
        row: Row,
        name: &str,
    ) -> heed::Result<bool> {
        txn.take_name(row, name)
    }

    pub(crate) fn put_edge(&self, txn: &mut Writer<'_>, link: Link) -> heed::Result<()> {
        txn.put_edge(link)
    }

    pub(crate) fn remove_edge(&self, txn: &mut Writer<'_>, link: &Link) -> heed::Result<()> {
        txn.remove_edge(link)
    }

    pub(crate) fn edges_from(
        &self,
        txn: &Reader<'_>,
        from: At,
        edge: Option<Edge>,
    ) -> heed::Result<Vec<Link>> {
        txn.edges_from(from, edge)
    }

    pub(crate) fn edges_to(
        &self,
        txn: &Reader<'_>,
        to: At,
        edge: Option<Edge>,
    ) -> heed::Result<Vec<Link>> {
        txn.edges_to(to, edge)
    }

    pub(crate) fn is_led_to(&self, txn: &Reader<'_>, to: At, edge: Edge) -> heed::Result<bool> {
        txn.is_led_to(to, edge)
    }

    pub(crate) fn each_edge(&self, txn: &Reader<'_>, each: impl FnMut(Link)) -> heed::Result<()> {
        txn.each_edge(each)
    }

    pub(crate) fn file(&self, txn: &Reader<'_>, key: FileKey) -> heed::Result<Option<FileRecord>> {
        txn.file(key)
    }

    pub(crate) fn put_file(
        &self,
        txn: &mut Writer<'_>,
        key: FileKey,
        record: &FileRecord,
    ) -> heed::Result<()> {
        txn.put_file(key, record)
    }

    pub(crate) fn forget_file(&self, txn: &mut Writer<'_>, key: FileKey) -> heed::Result<()> {
        txn.forget_file(key)
    }

    #[cfg(test)]
    pub(crate) fn file_count(&self, txn: &Reader<'_>) -> heed::Result<u64> {
        txn.file_count()
    }

    pub(crate) fn history(&self, txn: &Reader<'_>) -> heed::Result<History> {
        txn.history()
    }

    pub(crate) fn add_history(&self, txn: &mut Writer<'_>, seen: &History) -> heed::Result<()> {
        txn.add_history(seen)
    }

    pub(crate) fn linked_to(&self, txn: &Reader<'_>, version: u32) -> heed::Result<Row> {
        txn.linked_to(version)
    }

    pub(crate) fn set_linked_to(
        &self,
        txn: &mut Writer<'_>,
        version: u32,
        row: Row,
    ) -> heed::Result<()> {
        txn.set_linked_to(version, row)
    }

    pub(crate) fn referred_to(&self, txn: &Reader<'_>) -> heed::Result<Row> {
        txn.referred_to()
    }

    pub(crate) fn set_referred_to(&self, txn: &mut Writer<'_>, row: Row) -> heed::Result<()> {
        txn.set_referred_to(row)
    }

    pub(crate) fn weigh_edge(
        &self,
        txn: &mut Writer<'_>,
        (from, edge, to): (At, Edge, At),
        by: f32,
    ) -> heed::Result<()> {
        txn.weigh_edge((from, edge, to), by)
    }

    pub(crate) fn first_edges_to(
        &self,
        txn: &Reader<'_>,
        to: At,
        edge: Edge,
        most: usize,
    ) -> heed::Result<Vec<At>> {
        txn.first_edges_to(to, edge, most)
    }

    pub(crate) fn remove_vectors(&self, txn: &mut Writer<'_>, node: At) -> heed::Result<()> {
        txn.remove_vectors(node)
    }

    pub(crate) fn put_merge<T: Serialize>(
        &self,
        txn: &mut Writer<'_>,
        id: Id,
        merge: &T,
    ) -> heed::Result<()> {
        txn.put_merge(id, merge)
    }

    pub(crate) fn remove_merge(&self, txn: &mut Writer<'_>, id: Id) -> heed::Result<()> {
        txn.remove_merge(id)
    }

    pub(crate) fn all_merges<T: DeserializeOwned>(
        &self,
        txn: &Reader<'_>,
    ) -> heed::Result<Vec<(Id, T)>> {
        txn.all_merges()
    }

    pub(crate) fn node<N: Node>(&self, txn: &Reader<'_>, row: Row) -> heed::Result<Option<N>> {
        txn.node(row)
    }

    pub(crate) fn linked<N: Node>(&self, txn: &Reader<'_>, row: Row) -> heed::Result<N> {
        txn.linked(row)
    }

    pub(crate) fn put_node<N: Node>(
        &self,
        txn: &mut Writer<'_>,
        row: Row,
        node: &N,
    ) -> heed::Result<()> {
        txn.put_node(row, node)
    }

    pub(crate) fn remove_node<N: Node>(&self, txn: &mut Writer<'_>, row: Row) -> heed::Result<()> {
        txn.remove_node::<N>(row)
    }

    pub(crate) fn find(&self, txn: &Reader<'_>, layer: Layer, id: Id) -> heed::Result<Option<Row>> {
        txn.find(layer, id)
    }

    pub(crate) fn count(&self, txn: &Reader<'_>, layer: Layer) -> heed::Result<u64> {
        txn.count(layer)
    }

    pub(crate) fn ids(&self, txn: &Reader<'_>, layer: Layer) -> heed::Result<Vec<Id>> {
        txn.ids(layer)
    }

    pub(crate) fn next_row(&self, txn: &Reader<'_>, layer: Layer) -> heed::Result<Row> {
        txn.next_row(layer)
    }

    pub(crate) fn take_rows(
        &self,
        txn: &mut Writer<'_>,
        layer: Layer,
        count: usize,
    ) -> heed::Result<Row> {
        txn.take_rows(layer, count)
    }

    pub(crate) fn rows(
        &self,
        txn: &Reader<'_>,
        layer: Layer,
        from: Row,
        most: usize,
    ) -> heed::Result<Vec<Row>> {
        txn.rows(layer, from, most)
    }

    pub(crate) fn chunk_text(&self, txn: &Reader<'_>, chunk: &ChunkRecord) -> heed::Result<String> {
        txn.chunk_text(chunk)
    }

    pub(crate) fn searched_text(
        &self,
        txn: &Reader<'_>,
        layer: Layer,
        row: Row,
    ) -> heed::Result<Option<String>> {
        txn.searched_text(layer, row)
    }

    pub(crate) fn remove_document(&self, txn: &mut Writer<'_>, row: Row) -> heed::Result<Gone> {
        txn.remove_document(row)
    }

    pub(crate) fn put_sealed(
        &self,
        txn: &mut Writer<'_>,
        (db, key): (Db, &[u8]),
        slot: Slot,
        value: &[u8],
    ) -> heed::Result<()> {
        txn.put_sealed((db, key), slot, value)
    }

    pub(crate) fn slot_of_node(
        &self,
        txn: &Reader<'_>,
        (layer, row): At,
    ) -> heed::Result<Option<Slot>> {
        txn.slot_of_node((layer, row))
    }

    pub(crate) fn slot_of(&self, txn: &mut Writer<'_>, owner: At) -> heed::Result<Slot> {
        txn.slot_of(owner)
    }

    pub(crate) fn forget_owner(&self, txn: &mut Writer<'_>, owner: At) -> heed::Result<()> {
        txn.forget_owner(owner)
    }

    pub(crate) fn renew_key(&self, txn: &mut Writer<'_>, owner: At) -> heed::Result<()> {
        txn.renew_key(owner)
    }

    pub(crate) fn embedder(
        &self,
        txn: &Reader<'_>,
        model: &str,
    ) -> heed::Result<Option<(u8, EmbedderRecord)>> {
        txn.embedder(model)
    }

    pub(crate) fn active_embedder(
        &self,
        txn: &Reader<'_>,
    ) -> heed::Result<Option<(u8, EmbedderRecord)>> {
        txn.active_embedder()
    }

    pub(crate) fn aim(&self, txn: &Reader<'_>) -> heed::Result<Option<String>> {
        txn.aim()
    }

    pub(crate) fn aim_at(&self, txn: &mut Writer<'_>, model: &str) -> heed::Result<()> {
        txn.aim_at(model)
    }

    pub(crate) fn register_embedder(
        &self,
        txn: &mut Writer<'_>,
        model: &str,
        dimensions: usize,
    ) -> heed::Result<u8> {
        txn.register_embedder(model, dimensions)
    }

    pub(crate) fn set_origin(
        &self,
        txn: &mut Writer<'_>,
        number: u8,
        origin: &str,
    ) -> heed::Result<()> {
        txn.set_origin(number, origin)
    }

    pub(crate) fn switch_when_complete(&self, txn: &mut Writer<'_>) -> heed::Result<bool> {
        txn.switch_when_complete()
    }

    pub(crate) fn forget_others(&self, txn: &mut Writer<'_>, kept: Option<u8>) -> heed::Result<()> {
        txn.forget_others(kept)
    }

    pub(crate) fn embedded(
        &self,
        txn: &mut Writer<'_>,
        embedder: u8,
        text: (Layer, Row),
        vector: &[f32],
    ) -> heed::Result<()> {
        txn.embedded(embedder, text, vector)
    }

    pub(crate) fn put_vector(
        &self,
        txn: &mut Writer<'_>,
        embedder: u8,
        (layer, row): (Layer, Row),
        vector: &[f32],
    ) -> heed::Result<()> {
        txn.put_vector(embedder, (layer, row), vector)
    }

    pub(crate) fn each_vector(
        &self,
        txn: &Reader<'_>,
        embedder: u8,
        layer: Layer,
        each: impl FnMut(Row, &[f32]),
    ) -> heed::Result<()> {
        txn.each_vector(embedder, layer, each)
    }

    pub(crate) fn has_vectors(
        &self,
        txn: &Reader<'_>,
        embedder: u8,
        layer: Layer,
    ) -> heed::Result<bool> {
        txn.has_vectors(embedder, layer)
    }

    pub(crate) fn without_vector(
        &self,
        txn: &Reader<'_>,
        embedder: Option<u8>,
        layer: Layer,
    ) -> heed::Result<Vec<Row>> {
        txn.without_vector(embedder, layer)
    }

    pub(crate) fn meta<T: DeserializeOwned>(
        &self,
        txn: &Reader<'_>,
        key: &str,
    ) -> heed::Result<Option<T>> {
        txn.meta(key)
    }

    pub(crate) fn set_meta<T: Serialize>(
        &self,
        txn: &mut Writer<'_>,
        key: &str,
        value: &T,
    ) -> heed::Result<()> {
        txn.set_meta(key, value)
    }

    pub(crate) fn publish(&self, txn: &mut Writer<'_>) -> heed::Result<()> {
        txn.publish()
    }
}
