//! A base of a former format becomes one of this format. The new store is made next to the old
//! one, and takes its place when it is complete; killed at any time, it is done again or finished.
use std::fs::{self, File};
use std::path::Path;

use serde::Serialize;

use crate::base::store_dir;
use crate::lock::WriterLock;
use crate::store::{self, ConvertOptions, FIRST_CONVERTED, FORMAT, Precision, Store};
use crate::{Base, KbError};

/// The new store until it is complete, and the old one until it is removed.
const NEW: &str = "store.new";
const OLD: &str = "store.old";

/// What converting a base did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Converted {
    /// The format it had and the one it has.
    pub from: u32,
    pub to: u32,
    /// Values that were sealed again.
    pub values: u64,
    /// Values that could not be read any more and were left out; `halma kb verify` lists what lacks
    /// them.
    pub damaged: u64,
}

impl Base {
    /// Whether a conversion of the base in `dir` was interrupted.
    pub(crate) fn is_half_converted(dir: &Path) -> bool {
        !store_dir(dir).exists() && dir.join(OLD).exists() && dir.join(NEW).exists()
    }

    /// Converts the base in `dir` to the present format; `progress` is called with the values so
    /// far. Waits for a build that is running. The base must not be open in this program. One that
    /// has this format already is left as it is. With `keep_f32` vectors keep their four bytes a
    /// dimension.
    pub fn convert(
        dir: &Path,
        keep_f32: bool,
        progress: &dyn Fn(u64),
    ) -> Result<Converted, KbError> {
        if !Self::exists(dir) && !Self::is_half_converted(dir) {
            return Err(KbError::NoBase { dir: dir.to_owned() });
        }
        let _lock = WriterLock::take(dir)?;
        let (store, new, old) = (store_dir(dir), dir.join(NEW), dir.join(OLD));
        if Self::is_half_converted(dir) {
            rename(&new, &store)?;
        }
        let found = store::format_of(&store)?.unwrap_or(FORMAT);
        let same = Converted { from: found, to: found, values: 0, damaged: 0 };
        if found == FORMAT {
            // What a conversion that was killed has left.
            remove(&new)?;
            destroy(&old)?;
            return Ok(same);
        }
        if found > FORMAT {
            return Err(KbError::Newer { dir: dir.to_owned(), found, known: FORMAT });
        }
        if found < FIRST_CONVERTED {
            let from = FIRST_CONVERTED;
            return Err(KbError::NotConverted { dir: dir.to_owned(), found, from });
        }
        remove(&new)?;
        fs::create_dir(&new).map_err(|e| KbError::io(&new, "create", e))?;
        let precision = if keep_f32 { Precision::Float32 } else { Precision::Int8 };
        let counts = store::convert(&store, &new, ConvertOptions { precision, progress })?;
        sync(&new)?;
        // From here on the new store counts.
        rename(&store, &old)?;
        rename(&new, &store)?;
        drop(Store::open(&store)?);
        destroy(&old)?;
        Ok(Converted { to: FORMAT, values: counts.values, damaged: counts.damaged, ..same })
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), KbError> {
    fs::rename(from, to).map_err(|e| KbError::io(from, "rename", e))?;
    to.parent().map_or(Ok(()), sync)
}

fn sync(dir: &Path) -> Result<(), KbError> {
    let synced = File::open(dir).and_then(|folder| folder.sync_all());
    synced.map_err(|e| KbError::io(dir, "write", e))
}

fn remove(dir: &Path) -> Result<(), KbError> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(KbError::io(dir, "remove", e)),
        _ => Ok(()),
    }
}

/// Removes a former store, its keys and their copy first: its records hold what may be deleted from
/// the new one.
fn destroy(dir: &Path) -> Result<(), KbError> {
    for keys in ["keys", "keys.copy"].map(|name| dir.join(name)) {
        if keys.exists() {
            halma_seal::former::FormerKeys::destroy(&keys)?;
        }
    }
    remove(dir)
}

#[cfg(test)]
#[path = "convert_tests.rs"]
mod tests;
