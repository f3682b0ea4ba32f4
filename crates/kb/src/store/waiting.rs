//! What waits for a stage of the build: lists of rows, kept with every change, so that a run finds
//! its work without looking at all that is done.
use halma_core::Layer;

use super::nodes::searched;
use super::schema::{row_key, row_of, row_prefix};
use super::{Row, StoreReader, StoreWriter};

/// A stage that rows wait for. The numbers are those of the format and are only ever added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Chunks: their atoms.
    Atoms = 0,
    /// Texts that are searched: a vector of the embedder that texts get vectors of.
    Vector = 1,
    /// Documents: hyperlinks that lead to other documents, followed again in every build.
    Links = 2,
}

impl StoreReader<'_> {
    /// The rows of a layer that wait, in order.
    pub(crate) fn waiting(&self, work: Work, layer: Layer) -> heed::Result<Vec<Row>> {
        let mut rows = vec![];
        for entry in self.store.db.waiting.prefix_iter(self, &row_prefix(work as u8, layer))? {
            rows.push(row_of(entry?.0));
        }
        Ok(rows)
    }

    /// Everything that waits for a vector: layer and row.
    pub(crate) fn awaiting_vector(&self) -> heed::Result<Vec<(Layer, Row)>> {
        let mut texts = vec![];
        for layer in Layer::ALL.into_iter().filter(|layer| searched(*layer)) {
            let rows = self.waiting(Work::Vector, layer)?;
            texts.extend(rows.into_iter().map(|row| (layer, row)));
        }
        Ok(texts)
    }

    /// Whether anything waits for a vector.
    pub(super) fn any_awaits_vector(&self) -> heed::Result<bool> {
        let mut found = self.store.db.waiting.prefix_iter(self, &[Work::Vector as u8])?;
        Ok(found.next().transpose()?.is_some())
    }
}

impl StoreWriter<'_> {
    pub(crate) fn wait_for(&mut self, work: Work, (layer, row): (Layer, Row)) -> heed::Result<()> {
        self.store.db.waiting.put(self.txn(), &row_key(work as u8, layer, row), &[])
    }

    pub(crate) fn done_with(&mut self, work: Work, (layer, row): (Layer, Row)) -> heed::Result<()> {
        self.store.db.waiting.delete(self.txn(), &row_key(work as u8, layer, row)).map(|_| ())
    }

    pub(super) fn forget_waiting(&mut self, work: Work, layer: Layer) -> heed::Result<()> {
        for row in self.waiting(work, layer)? {
            self.done_with(work, (layer, row))?;
        }
        Ok(())
    }

    /// Makes the list of what waits for a vector one about this embedder; `None` is one that the
    /// base has no vectors of.
    pub(super) fn await_vectors(&mut self, embedder: Option<u8>) -> heed::Result<()> {
        self.store.db.unembedded.clear(self.txn())?;
        for layer in Layer::ALL.into_iter().filter(|layer| searched(*layer)) {
            self.forget_waiting(Work::Vector, layer)?;
            for row in self.without_vector(embedder, layer)? {
                self.wait_for(Work::Vector, (layer, row))?;
            }
        }
        Ok(())
    }
}
