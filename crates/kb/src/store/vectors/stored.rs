//! Vectors as they are stored, for replicas: a slot is copied from file to file.
use super::files::{VectorFiles, VectorKey};
use crate::store::{At, StoreReader, StoreWriter};

impl StoreReader<'_> {
    /// The slot of a vector; `None` where it is empty or damaged.
    pub(in crate::store) fn stored_vector(
        &self,
        embedder: u8,
        (layer, row): At,
    ) -> heed::Result<Option<Vec<u8>>> {
        let Some(file) = self.vector_file(embedder, layer)? else { return Ok(None) };
        file.stored(row).map_err(heed::Error::Io)
    }
}

impl StoreWriter<'_> {
    /// Puts the slot of a vector into its file; one of another size is left out.
    pub(in crate::store) fn put_stored_vector(
        &mut self,
        embedder: u8,
        (layer, row): At,
        slot: &[u8],
    ) -> heed::Result<bool> {
        let Some(dimensions) = self.dimensions(embedder)? else { return Ok(false) };
        let key = VectorKey { embedder, layer, dimensions };
        let file = self.store.vectors.create(key, self.precision()?)?;
        self.has_put_vectors = true;
        VectorFiles::put_stored(&file, row, slot)
    }
}
