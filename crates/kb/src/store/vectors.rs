//! Vectors of the searched layers, apart for each embedder.
use halma_core::{Layer, Vector};
use heed::RwTxn;

use super::schema::{row_key, row_of, row_prefix};
use super::{EmbedderRecord, Reading, Row, Store};

impl Store {
    /// The embedders the base has known, in the order of their numbers.
    pub(crate) fn embedders(&self, txn: &Reading<'_>) -> heed::Result<Vec<EmbedderRecord>> {
        Ok(self.meta(txn, "embedders")?.unwrap_or_default())
    }

    /// The number of an embedder.
    pub(crate) fn embedder(
        &self,
        txn: &Reading<'_>,
        model: &str,
    ) -> heed::Result<Option<(u8, EmbedderRecord)>> {
        let known = self.embedders(txn)?;
        let at = known.iter().position(|record| record.model == model);
        Ok(at.and_then(|at| Some((u8::try_from(at).ok()?, known[at].clone()))))
    }

    /// The number of an embedder, which gets one when it has none. Vectors of other dimensions
    /// under the same name are thrown away: they are of another space.
    pub(crate) fn register_embedder(
        &self,
        txn: &mut RwTxn<'_>,
        model: &str,
        dimensions: usize,
    ) -> heed::Result<u8> {
        let dimensions = u32::try_from(dimensions).unwrap_or(u32::MAX);
        let mut known = self.embedders(txn)?;
        let at = known.iter().position(|record| record.model == model).unwrap_or(known.len());
        let number = u8::try_from(at)
            .map_err(|_| heed::Error::Encoding("a base knows at most 256 embedders".into()))?;
        match known.get_mut(at) {
            Some(record) if record.dimensions == dimensions => return Ok(number),
            Some(record) => record.dimensions = dimensions,
            None => known.push(EmbedderRecord { model: model.to_owned(), dimensions }),
        }
        self.forget_vectors(txn, number)?;
        self.set_meta(txn, "embedders", &known)?;
        Ok(number)
    }

    /// Stores the vector of a node; nothing happens when that is gone.
    pub(crate) fn put_vector(
        &self,
        txn: &mut RwTxn<'_>,
        embedder: u8,
        (layer, row): (Layer, Row),
        vector: &[f32],
    ) -> heed::Result<()> {
        self.db.unembedded.delete(txn, &row_key(0, layer, row))?;
        let Some(slot) = self.slot_of_node(txn, (layer, row))? else { return Ok(()) };
        let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
        let key = row_key(embedder, layer, row);
        self.put_sealed(txn, (self.db.vectors, &key), slot, &bytes)
    }

    pub(crate) fn vector(
        &self,
        txn: &Reading<'_>,
        embedder: u8,
        layer: Layer,
        row: Row,
    ) -> heed::Result<Option<Vector>> {
        let Some(stored) = self.db.vectors.get(txn, &row_key(embedder, layer, row))? else {
            return Ok(None);
        };
        Ok(self.unsealed(stored)?.map(|bytes| floats(&bytes)))
    }

    /// Calls `each` with every row's vector of a layer, in the order of rows.
    pub(crate) fn each_vector(
        &self,
        txn: &Reading<'_>,
        embedder: u8,
        layer: Layer,
        mut each: impl FnMut(Row, &[f32]),
    ) -> heed::Result<()> {
        for entry in self.db.vectors.prefix_iter(txn, &row_prefix(embedder, layer))? {
            let (key, stored) = entry?;
            if let Some(bytes) = self.unsealed(stored)? {
                each(row_of(key), &floats(&bytes));
            }
        }
        Ok(())
    }

    pub(crate) fn count_vectors(
        &self,
        txn: &Reading<'_>,
        embedder: u8,
        layer: Layer,
    ) -> heed::Result<u64> {
        let mut count = 0;
        for entry in self.db.vectors.prefix_iter(txn, &row_prefix(embedder, layer))? {
            entry?;
            count += 1;
        }
        Ok(count)
    }

    pub(crate) fn has_vectors(
        &self,
        txn: &Reading<'_>,
        embedder: u8,
        layer: Layer,
    ) -> heed::Result<bool> {
        let mut found = self.db.vectors.prefix_iter(txn, &row_prefix(embedder, layer))?;
        Ok(found.next().transpose()?.is_some())
    }

    /// Rows of a layer that have no vector of this embedder, in order.
    pub(crate) fn without_vector(
        &self,
        txn: &Reading<'_>,
        embedder: Option<u8>,
        layer: Layer,
    ) -> heed::Result<Vec<Row>> {
        let mut rows = self.rows(txn, layer, 0, usize::MAX)?;
        let Some(embedder) = embedder else { return Ok(rows) };
        let mut have = self.db.vectors.prefix_iter(txn, &row_prefix(embedder, layer))?;
        let mut at = have.next().transpose()?.map(|(key, _)| row_of(key));
        let mut missing = vec![];
        for row in rows.drain(..) {
            while at.is_some_and(|at| at < row) {
                at = have.next().transpose()?.map(|(key, _)| row_of(key));
            }
            if at != Some(row) {
                missing.push(row);
            }
        }
        Ok(missing)
    }

    /// Throws away the vectors of one embedder.
    pub(crate) fn forget_vectors(&self, txn: &mut RwTxn<'_>, embedder: u8) -> heed::Result<()> {
        let end = [embedder, u8::MAX];
        let range =
            (std::ops::Bound::Included(&[embedder][..]), std::ops::Bound::Excluded(&end[..]));
        self.db.vectors.delete_range(txn, &range).map(|_| ())
    }
}

fn floats(bytes: &[u8]) -> Vector {
    bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
}
