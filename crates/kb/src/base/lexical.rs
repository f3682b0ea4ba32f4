//! The lexical indexes of a base, as its store has them.
use std::path::Path;

use halma_core::Layer;

use crate::KbError;
use crate::lexical::LexicalIndex;
use crate::store::Store;

/// The lexical index of a layer, up to date with the store. One that cannot be brought there is
/// built again: it may be the copy of one that was just being written. The caller holds the lock.
pub(super) fn caught_up(dir: &Path, layer: Layer, store: &Store) -> Result<LexicalIndex, KbError> {
    let mut index = LexicalIndex::open_or_rebuild(dir, layer)?;
    if !index.is_behind(store)? {
        return Ok(index);
    }
    match index.catch_up(store, &|_| ()) {
        Err(reason @ KbError::Lexical { .. }) => {
            tracing::warn!("{reason}: it is built again");
            drop(index);
            LexicalIndex::clear(dir)?;
            index = LexicalIndex::open(dir, layer)?;
            index.catch_up(store, &|_| ())?;
        }
        done => done?,
    }
    store.publish_here()?;
    Ok(index)
}
