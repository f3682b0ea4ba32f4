//! Marks of what changed in the ledger since names were last entered.
use super::{FormKey, FormsState};
use crate::store::ledger::{Task, UnitKey};
use crate::store::{Id, StoreReader, StoreWriter};

impl StoreReader<'_> {
    /// `None` where names were never entered, and all are still to be.
    pub(crate) fn forms_state(&self) -> heed::Result<Option<FormsState>> {
        self.form_entry(FormKey::State)
    }

    /// Whether entities are as what is stored says, so that there is nothing to resolve.
    pub(crate) fn is_resolved(&self) -> heed::Result<bool> {
        let none = |like| Ok::<_, heed::Error>(self.form_keys(like)?.next().is_none());
        Ok(self.forms_state()?.is_some_and(|state| !state.everything)
            && none(FormKey::Touched(0))?
            && none(FormKey::ChangedChunk(0))?
            && none(FormKey::ChangedPair(0))?)
    }
}

impl StoreWriter<'_> {
    /// Marks what a unit is about when its result comes, goes or is replaced, here or by another
    /// replica. Before names are entered nothing is marked: then everything is.
    pub(in crate::store) fn mark_unit(&mut self, key: UnitKey) -> heed::Result<()> {
        let mark = match key.task {
            Task::Facts => FormKey::ChangedChunk(key.row()),
            Task::SameEntity | Task::Near => FormKey::ChangedPair(key.at),
            _ => return Ok(()),
        };
        if self.has_form_entry(FormKey::State)? {
            self.put_form_entry(mark, &false)
        } else {
            Ok(())
        }
    }

    /// Marks a unit by its key as another replica sent it.
    pub(in crate::store) fn mark_received(&mut self, key: &[u8]) -> heed::Result<()> {
        UnitKey::parse(key).map_or(Ok(()), |key| self.mark_unit(key))
    }

    /// Everything is to be resolved: another replica changed what concerns all.
    pub(crate) fn touch_everything(&mut self) -> heed::Result<()> {
        let Some(state) = self.forms_state()? else { return Ok(()) };
        self.put_form_entry(FormKey::State, &FormsState { everything: true, ..state })
    }

    pub(crate) fn touch_form(&mut self, form: Id) -> heed::Result<()> {
        self.put_form_entry(FormKey::Touched(form), &())
    }

    /// Forgets all names: they are entered again when entities are resolved next.
    pub(crate) fn clear_forms(&mut self) -> heed::Result<()> {
        let Some(db) = self.forms() else { return Ok(()) };
        db.clear(self.txn())
    }
}
