//! Segments on their way into a replica: while one is written, the next ones are unpacked, and those
//! after them fetched. What needs no transaction is done ahead of it.
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::mpsc::sync_channel;

use heed::RwTxn;

use super::segment::{SharedEntry, entries};
use super::{NextEach, UpstreamError};
use crate::KbError;
use crate::store::Store;
use crate::store::databases::table::{Table, VECTORS_PART};

/// Segments that are unpacked and not written yet, at most: about a megabyte.
const AHEAD: usize = 4;

/// A segment, with its vectors unsealed as far as their keys were on this machine by then.
pub(crate) struct Unpacked {
    segment: Vec<u8>,
    vectors: Vec<Option<Vec<u8>>>,
}

/// One entry of a segment.
pub(super) struct UnpackedEntry<'a> {
    pub(super) entry: SharedEntry<'a>,
    /// What a vector says, if its key was on this machine.
    pub(super) vector: Option<&'a [u8]>,
}

impl Unpacked {
    /// The entries in sequence.
    pub(super) fn entries(
        &self,
    ) -> heed::Result<impl Iterator<Item = heed::Result<UnpackedEntry<'_>>>> {
        let mut vectors = self.vectors.iter();
        Ok(entries(&self.segment)?.map(move |entry| {
            let entry = entry?;
            let vector = if is_vector(&entry) { vectors.next() } else { None };
            Ok(UnpackedEntry { vector: vector.and_then(Option::as_deref), entry })
        }))
    }
}

fn is_vector(entry: &SharedEntry<'_>) -> bool {
    entry.part == VECTORS_PART && entry.value.is_some()
}

impl Store {
    /// What cannot be read is read again, and complained of, when it is written.
    pub(crate) fn unpack(&self, segment: Vec<u8>) -> Unpacked {
        let vectors = entries(&segment).into_iter().flatten().flatten().filter(is_vector);
        let unsealed = |entry: SharedEntry<'_>| self.unsealed(entry.value?).ok().flatten();
        let vectors = vectors.map(unsealed).collect();
        Unpacked { segment, vectors }
    }

    /// Calls `write` with what `fetch` gives, unpacked, in sequence.
    pub(crate) fn unpack_ahead(
        &self,
        fetch: impl FnOnce(&mut NextEach<'_>) -> Result<(), KbError> + Send,
        write: &mut dyn FnMut(&Unpacked) -> Result<(), KbError>,
    ) -> Result<(), KbError> {
        let (sender, unpacked) = sync_channel(AHEAD);
        std::thread::scope(|scope| {
            let fetching = scope.spawn(move || {
                fetch(&mut |segment| {
                    let over = |_| UpstreamError::Interrupted.into();
                    sender.send(self.unpack(segment.to_vec())).map_err(over)
                })
            });
            let written = unpacked.iter().try_for_each(|unpacked| write(&unpacked));
            // Who fetches hears that nothing more is written.
            drop(unpacked);
            let fetched = fetching.join();
            let fetched = fetched.map_err(|panic| KbError::worker_panicked("fetching", &panic))?;
            written.and(fetched)
        })
    }
}

/// The last key of each table, to which keys that come in sequence are appended: most of what fills
/// a replica.
#[derive(Default)]
pub(super) struct LastKeys(BTreeMap<u8, Vec<u8>>);

impl LastKeys {
    pub(super) fn receive(
        &mut self,
        txn: &mut RwTxn<'_>,
        (part, table): (u8, &Table),
        (key, value): (&[u8], Option<&[u8]>),
    ) -> heed::Result<()> {
        let Some(value) = value else { return table.receive(txn, key, None) };
        let last = match self.0.entry(part) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                unknown.insert(table.last(txn)?.map_or_else(Vec::new, |(key, _)| key.to_vec()))
            }
        };
        if key.cmp(last.as_slice()) != Ordering::Greater {
            return table.receive(txn, key, Some(value));
        }
        last.clear();
        last.extend_from_slice(key);
        table.append(txn, key, value)
    }
}
