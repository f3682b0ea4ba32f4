//! What was stored, entered where words are searched.
use halma_core::Layer;

use crate::{Base, KbError, Progress, Stage, Step};

/// Brings the word index of a layer up to the truth. The caller holds the lock.
pub(super) fn words(base: &Base, layer: Layer, progress: &Progress) -> Result<(), KbError> {
    let count = base.store.read(|txn| base.store.count(txn, layer))?;
    let total = usize::try_from(count).unwrap_or(usize::MAX);
    let told = |done| progress(Step { stage: Stage::Store, done, total });
    base.lexical_on_disk(layer)?.catch_up(&base.store, &told)
}
