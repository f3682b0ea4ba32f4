//! Vectors of the searched layers, apart for each embedder. LMDB lists the rows that have one; the
//! vectors themselves are in files (`file.rs`).
mod file;
pub(super) mod files;
mod layers;
mod mapped;
mod positioned;
mod repair;
mod rounding;
mod slot;

use std::sync::Arc;

use halma_core::{Layer, Vector};

pub(crate) use self::file::{Comparand, Slots, VectorFile};
pub(super) use self::files::{VectorFiles, VectorKey};
use self::layers::queued_layers;
pub(crate) use self::rounding::rounded;
pub(crate) use self::slot::Precision;
use super::changes::Changed;
use super::nodes::searched;
use super::schema::{row_key, row_of, row_prefix};
use super::{At, EmbedderRecord, Row, StoreReader, StoreWriter, Task, UnitKey};

impl StoreReader<'_> {
    /// The embedders the base has known, in the order of their numbers.
    pub(crate) fn embedders(&self) -> heed::Result<Vec<EmbedderRecord>> {
        Ok(self.meta("embedders")?.unwrap_or_default())
    }

    /// The number of an embedder.
    pub(crate) fn embedder(&self, model: &str) -> heed::Result<Option<(u8, EmbedderRecord)>> {
        let embedders = self.embedders()?;
        let at = embedders.iter().position(|record| record.model == model);
        Ok(at.and_then(|at| Some((u8::try_from(at).ok()?, embedders[at].clone()))))
    }

    /// The embedder whose vectors are searched, with its number.
    pub(crate) fn active_embedder(&self) -> heed::Result<Option<(u8, EmbedderRecord)>> {
        let Some(number) = self.meta::<u8>("active")? else { return Ok(None) };
        let record = self.embedders()?.into_iter().nth(usize::from(number));
        Ok(record.map(|record| (number, record)))
    }

    /// The embedder that texts get vectors of, by name.
    pub(crate) fn target_model(&self) -> heed::Result<Option<String>> {
        self.meta("aim")
    }

    /// The number of [`Self::target_model`], where the base has vectors of it.
    pub(in crate::store) fn target_number(&self) -> heed::Result<Option<u8>> {
        let Some(model) = self.target_model()? else { return Ok(None) };
        Ok(self.embedder(&model)?.map(|(number, _)| number))
    }

    /// How vectors of this base are stored.
    pub(crate) fn precision(&self) -> heed::Result<Precision> {
        Ok(self.meta("precision")?.unwrap_or(Precision::Int8))
    }

    /// The file of the vectors of a layer; `None` where there is none.
    pub(crate) fn vector_file(
        &self,
        embedder: u8,
        layer: Layer,
    ) -> heed::Result<Option<Arc<VectorFile>>> {
        let Some(dimensions) = self.dimensions(embedder)? else { return Ok(None) };
        self.store.vectors.open(VectorKey { embedder, layer, dimensions })
    }

    fn dimensions(&self, embedder: u8) -> heed::Result<Option<usize>> {
        let embedders = self.embedders()?;
        Ok(embedders.get(usize::from(embedder)).map(|record| record.dimensions as usize))
    }

    /// The vector of a node; `None` also where it cannot be read any more.
    pub(crate) fn vector(
        &self,
        embedder: u8,
        layer: Layer,
        row: Row,
    ) -> heed::Result<Option<Vector>> {
        if !self.has_vector(embedder, (layer, row))? {
            return Ok(None);
        }
        let Some(file) = self.vector_file(embedder, layer)? else { return Ok(None) };
        file.get(row).map_err(heed::Error::Io)
    }

    /// The slot of a vector; `None` where it is empty or damaged.
    pub(in crate::store) fn stored_vector(
        &self,
        embedder: u8,
        (layer, row): At,
    ) -> heed::Result<Option<Vec<u8>>> {
        let Some(file) = self.vector_file(embedder, layer)? else { return Ok(None) };
        file.stored(row).map_err(heed::Error::Io)
    }

    /// Whether a node has a vector of this embedder.
    pub(crate) fn has_vector(&self, embedder: u8, (layer, row): At) -> heed::Result<bool> {
        Ok(self.store.db.vectors.get(self, &row_key(embedder, layer, row))?.is_some())
    }

    /// Whether any node has a vector of this embedder.
    pub(super) fn has_any_vector(&self, embedder: u8) -> heed::Result<bool> {
        let mut entries = self.store.db.vectors.prefix_iter(self, &[embedder])?;
        Ok(entries.next().transpose()?.is_some())
    }

    /// Every row of a layer with a vector of this embedder, in order.
    pub(crate) fn rows_with_vector(&self, embedder: u8, layer: Layer) -> heed::Result<Vec<Row>> {
        let mut rows = vec![];
        for entry in self.store.db.vectors.prefix_iter(self, &row_prefix(embedder, layer))? {
            rows.push(row_of(entry?.0));
        }
        Ok(rows)
    }

    /// Calls `each` with these rows of a layer, which are in order and have vectors, and their
    /// vectors; with `None` for one that cannot be read.
    pub(crate) fn each_vector_of(
        &self,
        embedder: u8,
        layer: Layer,
        rows: &[Row],
        each: &mut dyn FnMut(Row, Option<&[f32]>),
    ) -> heed::Result<()> {
        if let Some(file) = self.vector_file(embedder, layer)? {
            return file.each(rows, each).map_err(heed::Error::Io);
        }
        for row in rows {
            each(*row, None);
        }
        Ok(())
    }

    /// Rows of a layer whose vectors are listed and cannot be read.
    pub(crate) fn lost_vectors(&self, embedder: u8, layer: Layer) -> heed::Result<Vec<Row>> {
        let rows = self.rows_with_vector(embedder, layer)?;
        let mut lost = vec![];
        self.each_vector_of(embedder, layer, &rows, &mut |row, vector| {
            lost.extend(vector.is_none().then_some(row));
        })?;
        Ok(lost)
    }

    pub(crate) fn count_vectors(&self, embedder: u8, layer: Layer) -> heed::Result<u64> {
        // All but those that wait for one; looking at every vector would take a while.
        let target = self.target_model()?;
        let counted = self.embedders()?.into_iter().nth(usize::from(embedder));
        let same = target.is_some() && target == counted.map(|record| record.model);
        if same && searched(layer) && self.vector_layers()?.holds(layer) {
            let waiting = self.open_rows(Task::Embed, layer)?.len() as u64;
            return Ok(self.count(layer)?.saturating_sub(waiting));
        }
        let mut count = 0;
        for entry in self.store.db.vectors.prefix_iter(self, &row_prefix(embedder, layer))? {
            entry?;
            count += 1;
        }
        Ok(count)
    }

    pub(crate) fn has_vectors(&self, embedder: u8, layer: Layer) -> heed::Result<bool> {
        let mut entries = self.store.db.vectors.prefix_iter(self, &row_prefix(embedder, layer))?;
        Ok(entries.next().transpose()?.is_some())
    }

    /// Every text that waits for a vector, or could not be embedded.
    pub(crate) fn awaiting_vector(&self) -> heed::Result<Vec<At>> {
        let mut texts = vec![];
        for layer in queued_layers() {
            let rows = self.open_rows(Task::Embed, layer)?;
            texts.extend(rows.into_iter().map(|row| (layer, row)));
        }
        Ok(texts)
    }

    /// Rows of a layer that have no vector of this embedder, in order.
    pub(crate) fn without_vector(
        &self,
        embedder: Option<u8>,
        layer: Layer,
    ) -> heed::Result<Vec<Row>> {
        let mut rows = self.all_rows(layer)?;
        if let Some(embedder) = embedder {
            let listed = self.rows_with_vector(embedder, layer)?;
            rows.retain(|row| listed.binary_search(row).is_err());
        }
        Ok(rows)
    }
}

impl StoreWriter<'_> {
    /// What has no vector of this embedder waits for one; `None` is one that the base has none of.
    fn await_vectors(&mut self, embedder: Option<u8>) -> heed::Result<()> {
        queued_layers().try_for_each(|layer| self.await_vectors_of(embedder, layer))
    }

    /// Notes that texts could not be embedded; what was replaced meanwhile needs no vector.
    pub(crate) fn embedding_failed(&mut self, texts: &[At], reason: &str) -> heed::Result<()> {
        let mut keys = texts.iter().map(|text| UnitKey::of(Task::Embed, *text));
        keys.try_for_each(|key| self.put_failed(key, 0, reason))
    }

    /// Texts get vectors of this embedder from now on. What another one had begun and never
    /// finished is thrown away.
    pub(crate) fn set_build_target(&mut self, model: &str) -> heed::Result<()> {
        if self.target_model()?.as_deref() == Some(model) {
            return Ok(());
        }
        self.set_meta("aim", &model)?;
        let number = self.embedder(model)?.map(|(number, _)| number);
        self.forget_others(number)?;
        self.await_vectors(number)
    }

    /// The dimensions of the vectors that the base has of an embedder, where they are not so many.
    pub(crate) fn other_dimensions(
        &self,
        model: &str,
        dimensions: usize,
    ) -> heed::Result<Option<usize>> {
        let Some((number, record)) = self.embedder(model)? else { return Ok(None) };
        let stored = record.dimensions as usize;
        Ok((stored != dimensions && self.has_any_vector(number)?).then_some(stored))
    }

    /// The number of the embedder that texts get vectors of, which gets one when it has none. Vectors of
    /// other dimensions under the same name are thrown away: they are of another space.
    pub(crate) fn register_embedder(&mut self, model: &str, dimensions: usize) -> heed::Result<u8> {
        let dimensions = u32::try_from(dimensions).unwrap_or(u32::MAX);
        let mut models = self.embedders()?;
        let at = models.iter().position(|record| record.model == model).unwrap_or(models.len());
        let number = u8::try_from(at)
            .map_err(|_| heed::Error::Encoding("a base knows at most 256 embedders".into()))?;
        match models.get_mut(at) {
            Some(record) if record.dimensions == dimensions => return Ok(number),
            Some(record) => record.dimensions = dimensions,
            None => models.push(EmbedderRecord {
                model: model.to_owned(),
                dimensions,
                origin: String::new(),
            }),
        }
        self.set_meta("embedders", &models)?;
        self.forget_vectors(number)?;
        self.await_vectors(Some(number))?;
        self.publish()?;
        // The first one is searched from its first vector on: there is nothing else to search.
        if self.active_embedder()?.is_none() {
            self.set_meta("active", &number)?;
        }
        Ok(number)
    }

    /// Notes how an embedder is opened.
    pub(crate) fn set_origin(&mut self, number: u8, origin: &str) -> heed::Result<()> {
        let mut embedders = self.embedders()?;
        match embedders.get_mut(usize::from(number)) {
            Some(record) if record.origin != origin => {
                origin.clone_into(&mut record.origin);
                self.set_meta("embedders", &embedders)
            }
            _ => Ok(()),
        }
    }

    /// Lets searches use the vectors of the embedder that texts get vectors of, if every text has one.
    /// Returns whether they were not used before.
    pub(crate) fn switch_when_complete(&mut self) -> heed::Result<bool> {
        let Some(model) = self.target_model()? else { return Ok(false) };
        let Some((number, _)) = self.embedder(&model)? else { return Ok(false) };
        let active = self.active_embedder()?.map(|(active, _)| active);
        if active == Some(number) || self.entries(Task::Embed)?.next().is_some() {
            return Ok(false);
        }
        self.set_meta("active", &number)?;
        self.publish()?;
        Ok(true)
    }

    /// Throws away the vectors of every embedder that is neither searched nor `kept`.
    pub(crate) fn forget_others(&mut self, kept: Option<u8>) -> heed::Result<()> {
        let active = self.active_embedder()?.map(|(active, _)| active);
        for number in (0..=u8::MAX).take(self.embedders()?.len()) {
            if Some(number) != active && Some(number) != kept {
                self.forget_vectors(number)?;
            }
        }
        Ok(())
    }

    /// Stores what came for a text that waits for a vector of the embedder that texts get vectors of.
    pub(crate) fn embedded(&mut self, embedder: u8, text: At, vector: &[f32]) -> heed::Result<()> {
        self.forget_unit(UnitKey::of(Task::Embed, text))?;
        self.put_vector(embedder, text, vector)
    }

    /// Stores the vector of a node; nothing happens when that is gone.
    pub(crate) fn put_vector(
        &mut self,
        embedder: u8,
        (layer, row): At,
        vector: &[f32],
    ) -> heed::Result<()> {
        if !self.holds((layer, row))? {
            return Ok(());
        }
        let key = VectorKey { embedder, layer, dimensions: vector.len() };
        let file = self.file_to_write(key)?;
        VectorFiles::put(&file, row, vector)?;
        let key = row_key(embedder, layer, row);
        self.store.db.wipes.delete(self.txn(), &key)?;
        self.store.db.vectors.put(self.txn(), &key, &[])?;
        self.changes.add(Changed::Vector, (layer, row));
        self.has_put_vectors = true;
        Ok(())
    }

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

    /// The file that vectors go into, which is made where there is none.
    fn file_to_write(&mut self, key: VectorKey) -> heed::Result<Arc<VectorFile>> {
        if let Some((_, file)) = self.vector_file.as_ref().filter(|(open, _)| *open == key) {
            return Ok(Arc::clone(file));
        }
        let file = self.store.vectors.create(key, self.precision()?)?;
        self.vector_file = Some((key, Arc::clone(&file)));
        Ok(file)
    }

    /// Takes out the vectors of a node that is removed or says something else now. They are
    /// overwritten after the commit.
    pub(crate) fn remove_vectors(&mut self, (layer, row): At) -> heed::Result<()> {
        for embedder in (0..=u8::MAX).take(self.embedders()?.len()) {
            let key = row_key(embedder, layer, row);
            let was_listed = self.store.db.vectors.delete(self.txn(), &key)?;
            if was_listed {
                self.changes.add(Changed::Vector, (layer, row));
            }
            // A process that died may have written it without listing it.
            if was_listed || self.vector_file(embedder, layer)?.is_some() {
                self.store.db.wipes.put(self.txn(), &key, &[])?;
            }
        }
        Ok(())
    }

    /// Throws away the vectors of one embedder.
    fn forget_vectors(&mut self, embedder: u8) -> heed::Result<()> {
        let end = [embedder, u8::MAX];
        let range =
            (std::ops::Bound::Included(&[embedder][..]), std::ops::Bound::Excluded(&end[..]));
        let gone = self.store.db.vectors.delete_range(self.txn(), &range)?;
        if gone > 0 {
            self.changes.add_everything();
            self.store.db.wipes.put(self.txn(), &[embedder], &[])?;
        }
        Ok(())
    }

    /// How vectors are stored from now on; those that are there stay as they are.
    pub(crate) fn set_precision(&mut self, precision: Precision) -> heed::Result<()> {
        if self.precision()? == precision { Ok(()) } else { self.set_meta("precision", &precision) }
    }
}
