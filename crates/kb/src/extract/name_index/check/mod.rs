//! Whether what is kept of names is what was extracted: the names of every chunk are taken again from
//! its extract, and everything else follows from them.
mod chunks;
mod resolved;

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use self::chunks::ChunkCheck;
use super::{DOUBTED, VERSION};
use crate::store::{At, FormKey, FormsState, StoreReader};

/// What is kept of names, as [`check`] found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// There are none, or they are as they should be, or a build makes all of them again.
    Sound,
    /// Something else than was extracted is kept.
    Damaged,
    /// They were found damaged before, and no build has made them again since.
    Doubted,
}

/// Compares what is kept of names with what was extracted. What waits to be entered or resolved is
/// left out.
pub(crate) fn check(
    reader: &StoreReader<'_>,
    report: &mut dyn FnMut(Option<At>, String),
) -> heed::Result<Names> {
    let state: FormsState = match entry(reader, FormKey::State)? {
        Some(state) => state,
        None if !reader.has_form_entry(FormKey::State)? => return Ok(Names::Sound),
        None => {
            report(None, "the state of the index of names cannot be read".into());
            return Ok(Names::Damaged);
        }
    };
    match state.version {
        DOUBTED => return Ok(Names::Doubted),
        VERSION if !reader.is_restricted() => {}
        _ => return Ok(Names::Sound),
    }
    let mut differences = Differences { report, is_any: false, kinds: BTreeMap::new() };
    let totals = ChunkCheck::new(reader, &mut differences).check()?;
    let sums = [state.chunks, state.facts, state.left_out[0], state.left_out[1], state.left_out[2]];
    if sums != totals {
        differences.note("totals");
    }
    resolved::check_pairs(reader, &mut differences)?;
    if reader.is_resolved()? {
        resolved::check_entities(reader, state.entities, &mut differences)?;
        resolved::check_merges(reader, &mut differences)?;
    }
    Ok(if differences.tell() { Names::Damaged } else { Names::Sound })
}

/// What is not as it should be.
pub(super) struct Differences<'a> {
    report: &'a mut dyn FnMut(Option<At>, String),
    is_any: bool,
    /// Entries that are missing, wrong or left over, by what they are about.
    kinds: BTreeMap<&'static str, u64>,
}

impl Differences<'_> {
    /// A chunk whose names are not those of its extract.
    fn report_chunk(&mut self, at: At, what: &str) {
        self.is_any = true;
        (self.report)(Some(at), what.to_owned());
    }

    fn note(&mut self, kind: &'static str) {
        self.note_many(kind, 1);
    }

    fn note_many(&mut self, kind: &'static str, count: u64) {
        if count > 0 {
            *self.kinds.entry(kind).or_default() += count;
        }
    }

    /// Of entries that must be as many as are held; each of them was looked for.
    fn compare_counts(&mut self, kind: &'static str, expected: usize, stored: usize) {
        self.note_many(kind, stored.saturating_sub(expected) as u64);
    }

    /// Reports what was noted. Returns whether anything was.
    fn tell(self) -> bool {
        for (kind, count) in &self.kinds {
            let what =
                format!("{count} entries of the index of names are not as extracted: {kind}");
            (self.report)(None, what);
        }
        self.is_any || !self.kinds.is_empty()
    }
}

/// What is kept under a key; `None` also where it cannot be read.
fn entry<T: DeserializeOwned>(reader: &StoreReader<'_>, key: FormKey) -> heed::Result<Option<T>> {
    readable(reader.form_entry(key)).map(Option::flatten)
}

/// What was read; `None` where it is there and cannot be read, which is reported elsewhere.
fn readable<T>(read: heed::Result<T>) -> heed::Result<Option<T>> {
    match read {
        Err(heed::Error::Decoding(_)) => Ok(None),
        read => read.map(Some),
    }
}

/// How many keys of the kind of this one there are.
fn count(reader: &StoreReader<'_>, like: FormKey) -> heed::Result<usize> {
    let mut count = 0;
    for key in reader.form_keys(like)? {
        key?;
        count += 1;
    }
    Ok(count)
}
