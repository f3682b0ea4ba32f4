//! Names of documents that other machines have removed, noted in the transaction in which this was
//! taken in, until what was made of them outside the base is deleted here as well. They are sealed,
//! each note under a key of its own, which is wiped with it.
use std::path::Path;

use halma_store::seal::{KeyFolder, seal, unseal};

use crate::KbError;
use crate::store::schema::{decode, encode};
use crate::store::sealed::broken;
use crate::store::{Store, StoreReader, StoreWriter};

/// The folder of the keys, below that of the replica.
const FOLDER: &str = "removals";

/// What the keys of the notes begin with, in the database of the replica's state.
const PREFIX: &[u8] = b"removed/";

/// The notes of a replica.
pub(crate) struct Removals {
    keys: KeyFolder,
}

/// A note as it is stored.
struct Note {
    id: String,
    sealed: Vec<u8>,
}

impl Removals {
    pub(super) fn new(dir: &Path) -> Self {
        Self { keys: KeyFolder::new(&dir.join(FOLDER)) }
    }

    /// Notes names, as part of the transaction.
    pub(super) fn note(&self, writer: &mut StoreWriter<'_>, names: &[String]) -> heed::Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        let mut id = [0; 8];
        getrandom::fill(&mut id).map_err(|e| heed::Error::Encoding(e.to_string().into()))?;
        let id = format!("{:016x}", u64::from_le_bytes(id));
        // On the disk before what it seals.
        let key = self.keys.give(&id).map_err(broken)?;
        let mut sealed = vec![];
        seal(&key, &encode(&names)?, &mut sealed);
        writer.put_removal(&id, &sealed)
    }

    /// Calls `tell` with the names that are noted, if there are any, and forgets them if it returns
    /// that nothing is left to be done; returns whether that is so.
    pub(super) fn tell(
        &self,
        store: &Store,
        tell: impl FnOnce(&[String]) -> bool,
    ) -> Result<bool, KbError> {
        let notes = store.read(|reader| reader.removals())?;
        if notes.is_empty() {
            return Ok(true);
        }
        let mut names: Vec<String> = vec![];
        for Note { id, sealed } in &notes {
            // Without its key it was told, and its program ended before it was forgotten.
            let Some(key) = self.keys.key(id)? else { continue };
            let bytes =
                unseal(&key, sealed).map_err(|e| store.failed(heed::Error::Decoding(e.into())))?;
            names.extend(decode::<Vec<String>>(&bytes).map_err(|e| store.failed(e))?);
        }
        if !names.is_empty() && !tell(&names) {
            return Ok(false);
        }
        notes.iter().try_for_each(|note| self.keys.wipe(&note.id))?;
        let forget = |writer: &mut StoreWriter<'_>| {
            notes.iter().try_for_each(|note| writer.delete_removal(&note.id))
        };
        store.write_here(forget).map(|()| true)
    }
}

fn key_of(id: &str) -> Vec<u8> {
    [PREFIX, id.as_bytes()].concat()
}

impl StoreReader<'_> {
    fn removals(&self) -> heed::Result<Vec<Note>> {
        let Some(replica) = self.store.db.replica else { return Ok(vec![]) };
        let mut notes = vec![];
        for entry in replica.state.prefix_iter(self, PREFIX)? {
            let (key, sealed) = entry?;
            let id = String::from_utf8_lossy(&key[PREFIX.len()..]).into_owned();
            notes.push(Note { id, sealed: sealed.to_vec() });
        }
        Ok(notes)
    }
}

impl StoreWriter<'_> {
    fn put_removal(&mut self, id: &str, sealed: &[u8]) -> heed::Result<()> {
        let Some(replica) = self.store.db.replica else { return Ok(()) };
        replica.state.put(self.txn(), &key_of(id), sealed)
    }

    fn delete_removal(&mut self, id: &str) -> heed::Result<()> {
        let Some(replica) = self.store.db.replica else { return Ok(()) };
        replica.state.delete(self.txn(), &key_of(id)).map(drop)
    }
}
