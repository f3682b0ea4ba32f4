//! Loading what searches hold in memory before the first of them needs it.
use halma_core::Layer;

use crate::{Base, KbError};

impl Base {
    /// Loads what a search of chunks by graph, the default, holds in memory: names with their
    /// sentences, and the codes of the vectors of chunks and atoms. It blocks, for some seconds with
    /// a million chunks, on all cores; a search that begins meanwhile waits for it instead of
    /// loading the same. Nothing is embedded and no model is called.
    pub fn preload(&self) -> Result<(), KbError> {
        let held = self.held.refresh(&self.store)?;
        held.graph()?;
        for layer in [Layer::Chunk, Layer::Atom] {
            if let Some(space) = self.space(layer)? {
                held.matrix(space.number, layer)?;
            }
        }
        Ok(())
    }
}
