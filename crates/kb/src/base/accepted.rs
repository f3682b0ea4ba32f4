//! What was accepted from answers, as searches of a base see it.
use std::sync::Arc;

use halma_core::{Filter, Layer};

use super::Base;
use crate::error::run_blocking;
use crate::feedback::FeedbackIndex;
use crate::store::{RowSet, StoreReader};
use crate::{FeedbackSettings, KbError};

impl Base {
    /// The same base for readers to whom what was accepted from answers is not there.
    pub fn without_feedback(self: &Arc<Self>) -> Arc<Self> {
        let feedback = FeedbackSettings { search: false, ..self.feedback_settings };
        self.view(self.store.clone(), feedback)
    }

    /// Questions that were accepted or marked wrong, loaded by the first search.
    pub(crate) async fn feedback_index(&self) -> Result<Arc<FeedbackIndex>, KbError> {
        let cell = Arc::clone(&self.caches().feedback);
        let store = self.store.clone();
        let load = || run_blocking("loading feedback", move || store.read(FeedbackIndex::load));
        let loaded = cell.get_or_try_init(|| async { load().await.map(Arc::new) }).await?;
        Ok(Arc::clone(loaded))
    }

    /// The rows of a layer that were accepted from answers and that the rest of a filter lets in.
    pub(super) fn accepted(
        &self,
        reader: &StoreReader<'_>,
        filter: &Filter,
        layer: Layer,
    ) -> heed::Result<Arc<RowSet>> {
        let mut rows = RowSet::default();
        if layer == Layer::Atom {
            let rest = Filter { feedback: None, ..filter.clone() };
            let others = self.allowed(reader, &rest, layer)?;
            let admitted = reader.accepted_atoms()?.into_iter();
            admitted
                .filter(|row| others.as_ref().is_none_or(|others| others.contains(*row)))
                .for_each(|row| rows.insert(row));
        }
        Ok(Arc::new(rows))
    }
}
