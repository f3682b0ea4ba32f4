//! Which nodes have vectors: those of the layers that the base was made with, if they say something
//! that another node's vector does not say.
use halma_core::Layer;

use crate::settings::VectorLayers;
use crate::store::nodes::searched;
use crate::store::schema::{number, row_prefix};
use crate::store::{At, LayerRecord, Row, StoreReader, StoreWriter, Task, UnitKey};

/// Where the layers are stored, one bit each by their numbers.
const KEY: &str = "vector layers";

/// Whether nodes of a layer wait in the ledger for their vectors. Tags do not: they get theirs when
/// the collection of tags is made.
pub(super) fn is_queued(layer: Layer) -> bool {
    layer != Layer::Tag
}

/// The layers with queued nodes, those that are searched most first.
pub(super) fn queued_layers() -> impl Iterator<Item = Layer> {
    let others = Layer::ALL.into_iter().filter(|layer| !searched(*layer) && is_queued(*layer));
    [Layer::Chunk, Layer::Atom].into_iter().chain(others)
}

impl StoreReader<'_> {
    /// The layers whose nodes have vectors.
    pub(crate) fn vector_layers(&self) -> heed::Result<VectorLayers> {
        let bits = self.meta::<u16>(KEY)?;
        let holds = |bits: u16| VectorLayers::from_holds(|layer| bits >> number(layer) & 1 == 1);
        Ok(bits.map_or_else(VectorLayers::of_new_bases, holds))
    }

    /// Whether a node has a vector of its own when all are embedded.
    pub(crate) fn wants_vector(&self, at: At) -> heed::Result<bool> {
        if !self.vector_layers()?.holds(at.0) {
            return Ok(false);
        }
        if searched(at.0) {
            return self.holds(at);
        }
        Ok(self.record(at)?.is_some_and(|record| record.has_vector()))
    }
}

impl StoreWriter<'_> {
    /// Nodes of these layers have vectors from now on. What that adds waits for them; the vectors
    /// of other layers are thrown away.
    pub(crate) fn set_vector_layers(&mut self, layers: &VectorLayers) -> heed::Result<()> {
        let former = self.vector_layers()?;
        let bits = layers.layers().fold(0_u16, |bits, layer| bits | 1 << number(layer));
        if self.meta::<u16>(KEY)? != Some(bits) {
            self.set_meta(KEY, &bits)?;
        }
        let target = self.target_number()?;
        for layer in Layer::ALL {
            match (former.holds(layer), layers.holds(layer)) {
                (false, true) if is_queued(layer) => self.await_vectors_of(target, layer)?,
                (true, false) => self.forget_vectors_of(layer)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// What of a layer has no vector of this embedder waits for one.
    pub(in crate::store) fn await_vectors_of(
        &mut self,
        embedder: Option<u8>,
        layer: Layer,
    ) -> heed::Result<()> {
        self.forget_waiting(layer)?;
        for row in self.without_vector(embedder, layer)? {
            if self.wants_vector((layer, row))? {
                self.put_pending(UnitKey::of(Task::Embed, (layer, row)))?;
            }
        }
        Ok(())
    }

    fn forget_waiting(&mut self, layer: Layer) -> heed::Result<()> {
        for row in self.open_rows(Task::Embed, layer)? {
            self.forget_unit(UnitKey::of(Task::Embed, (layer, row)))?;
        }
        Ok(())
    }

    fn forget_vectors_of(&mut self, layer: Layer) -> heed::Result<()> {
        self.forget_waiting(layer)?;
        for embedder in (0..=u8::MAX).take(self.embedders()?.len()) {
            let [begin, end] = [row_prefix(embedder, layer), row_prefix(embedder, layer)];
            let end = [end[0], end[1] + 1];
            let range =
                (std::ops::Bound::Included(&begin[..]), std::ops::Bound::Excluded(&end[..]));
            self.store.db.vectors.delete_range(self.txn(), &range)?;
        }
        Ok(())
    }

    /// What a node said before has no vector any more; what it says now waits for one.
    pub(crate) fn renew_vector<N: LayerRecord>(&mut self, row: Row, node: &N) -> heed::Result<()> {
        let at = (N::LAYER, row);
        self.remove_vectors(at)?;
        self.forget_unit(UnitKey::of(Task::Embed, at))?;
        self.await_vector(row, node)
    }

    /// [`StoreWriter::renew_vector`] of a node whose record has not changed, but what it is
    /// embedded by.
    pub(crate) fn renew_vector_of(&mut self, at: At) -> heed::Result<()> {
        self.remove_vectors(at)?;
        self.forget_unit(UnitKey::of(Task::Embed, at))?;
        if is_queued(at.0) && self.wants_vector(at)? {
            self.put_pending(UnitKey::of(Task::Embed, at))?;
        }
        Ok(())
    }

    /// A node waits for its vector, if it gets one.
    pub(in crate::store) fn await_vector<N: LayerRecord>(
        &mut self,
        row: Row,
        node: &N,
    ) -> heed::Result<()> {
        let layer = N::LAYER;
        if is_queued(layer) && node.has_vector() && self.vector_layers()?.holds(layer) {
            self.put_pending(UnitKey::of(Task::Embed, (layer, row)))?;
        }
        Ok(())
    }
}
