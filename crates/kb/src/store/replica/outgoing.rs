//! What a replica sends: the keys in its journal with the values that they have now.
use halma_store::seal::Slot;

use super::segment::{SegmentWriter, SharedEntry};
use crate::KbError;
use crate::store::databases::table::{META_PART, Table, VECTORS_PART, WIPES_PART};
use crate::store::schema::{of_row_key, row_key};
use crate::store::{At, Store, StoreReader};

/// What is sent in one push, in one view of the store.
pub(crate) struct Outgoing<'r> {
    /// The last transaction in it.
    pub(crate) transaction: u64,
    /// Slots of keys in it.
    pub(crate) slots: Slot,
    reader: &'r StoreReader<'r>,
    whole: bool,
}

impl Store {
    /// Calls `work` with what is to be sent: what was written since the last push, or `whole`.
    pub(crate) fn with_outgoing<T>(
        &self,
        whole: bool,
        work: impl FnOnce(&Outgoing<'_>) -> Result<T, KbError>,
    ) -> Result<T, KbError> {
        let done = self.read(|reader| {
            let transaction = reader.id() as u64;
            let slots = reader.meta("slots")?.unwrap_or_default();
            Ok(work(&Outgoing { transaction, slots, reader, whole }))
        });
        done?
    }
}

impl Outgoing<'_> {
    /// Whether it holds what was not sent before.
    pub(crate) fn has_unsent(&self) -> heed::Result<bool> {
        self.reader.has_unsent()
    }

    /// The keys that were wiped, for the shared folder of keys.
    pub(crate) fn wiped_slots(&self) -> heed::Result<Vec<Slot>> {
        let Some(replica) = self.reader.store.db.replica else { return Ok(vec![]) };
        let mut slots = vec![];
        for entry in replica.journal.prefix_iter(self.reader, &[WIPES_PART])? {
            let (key, _) = entry?;
            slots.extend(key[1..].try_into().map(Slot::from_le_bytes).ok());
        }
        Ok(slots)
    }

    /// Calls `send` with the segments, in sequence.
    pub(crate) fn segments(
        &self,
        send: &mut dyn FnMut(Vec<u8>) -> Result<(), KbError>,
    ) -> Result<(), KbError> {
        let store = self.reader.store;
        let mut packer = Packer { reader: self.reader, writer: SegmentWriter::default(), send };
        let mut pack = || -> heed::Result<Result<(), KbError>> {
            for (part, table) in store.db.shared() {
                let done =
                    if self.whole { packer.all(part, table) } else { packer.written(part, table) };
                if let Err(e) = done? {
                    return Ok(Err(e));
                }
            }
            Ok(packer.finish())
        };
        pack().map_err(|source| store.failed(source))?
    }
}

/// The error of the inner result is that of sending.
type Packed = heed::Result<Result<(), KbError>>;

struct Packer<'p, 'r> {
    reader: &'r StoreReader<'r>,
    writer: SegmentWriter,
    send: &'p mut dyn FnMut(Vec<u8>) -> Result<(), KbError>,
}

impl Packer<'_, '_> {
    /// Everything in a table.
    fn all(&mut self, part: u8, table: Table) -> Packed {
        if part == WIPES_PART {
            return Ok(Ok(()));
        }
        for entry in table.iter(self.reader)? {
            let (key, value) = entry?;
            if let Err(e) = self.add(part, key, Some(value))? {
                return Ok(Err(e));
            }
        }
        Ok(Ok(()))
    }

    /// What of a table is in the journal.
    fn written(&mut self, part: u8, table: Table) -> Packed {
        let Some(replica) = self.reader.store.db.replica else { return Ok(Ok(())) };
        for entry in replica.journal.prefix_iter(self.reader, &[part])? {
            let (key, _) = entry?;
            let value = table.get(self.reader, &key[1..])?;
            if let Err(e) = self.add(part, &key[1..], value)? {
                return Ok(Err(e));
            }
        }
        Ok(Ok(()))
    }

    fn add(&mut self, part: u8, key: &[u8], value: Option<&[u8]>) -> Packed {
        let sent = part != META_PART || std::str::from_utf8(key).is_ok_and(super::is_shared_value);
        if !sent {
            return Ok(Ok(()));
        }
        let vector = match (part, value) {
            (VECTORS_PART, Some(_)) => match self.sealed_vector(key)? {
                Some(vector) => Some(vector),
                // It cannot be read here: the others keep what they have.
                None => return Ok(Ok(())),
            },
            // What is to be wiped is, unless something was put in its place.
            (WIPES_PART, _) if self.is_replaced(key)? => return Ok(Ok(())),
            (WIPES_PART, _) => Some(vec![]),
            _ => None,
        };
        let value = vector.as_deref().or(value);
        self.writer.add(SharedEntry { part, key, value })?;
        if self.writer.is_full() { Ok(self.finish()) } else { Ok(Ok(())) }
    }

    fn is_replaced(&self, key: &[u8]) -> heed::Result<bool> {
        match of_row_key(key) {
            Some((embedder, layer, row)) => self.reader.has_vector(embedder, (layer, row)),
            None => Ok(false),
        }
    }

    /// The slot of a vector in its file, sealed with the key of its node, so that it is deleted
    /// wherever it was sent.
    fn sealed_vector(&self, key: &[u8]) -> heed::Result<Option<Vec<u8>>> {
        let Some((embedder, layer, row)) = of_row_key(key) else { return Ok(None) };
        let at: At = (layer, row);
        debug_assert_eq!(row_key(embedder, layer, row), key);
        let Some(slot) = self.reader.slot_of_node(at)? else { return Ok(None) };
        let Some(vector) = self.reader.stored_vector(embedder, at)? else { return Ok(None) };
        if !self.reader.store.has_key(slot)? {
            return Ok(None);
        }
        let mut sealed = vec![];
        self.reader.store.seal_onto(slot, &vector, &mut sealed)?;
        Ok(Some(sealed))
    }

    fn finish(&mut self) -> Result<(), KbError> {
        self.writer.take().map_or(Ok(()), |segment| (self.send)(segment))
    }
}
