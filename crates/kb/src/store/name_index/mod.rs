//! Which chunks name what, so that a change of a few chunks is resolved by what it touches and not
//! by the whole base. Keys are hashes and rows, and no value holds words.
//!
//! Each machine has its own, made of the ledger. Where it is missing it is made again, and all
//! entities are resolved once.
mod key;

use std::ops::Bound;

pub(crate) use key::{ChunkForms, DocumentNames, FormKey, FormsState, NameKey, NameRecord};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Table;
use super::schema::{decode, encode};
use crate::store::ledger::{Task, UnitKey};
use crate::store::{Id, StoreReader, StoreWriter};

impl<'t> StoreReader<'t> {
    fn forms(&self) -> Table {
        self.store.db.forms
    }

    /// What is kept under a key.
    pub(crate) fn form_entry<T: DeserializeOwned>(&self, key: FormKey) -> heed::Result<Option<T>> {
        self.forms().get(self, &key.bytes())?.map(decode).transpose()
    }

    pub(crate) fn has_form_entry(&self, key: FormKey) -> heed::Result<bool> {
        Ok(self.forms().get(self, &key.bytes())?.is_some())
    }

    /// All keys of the kind of this one, ascending.
    pub(crate) fn form_keys(
        &self,
        like: FormKey,
    ) -> heed::Result<impl Iterator<Item = heed::Result<FormKey>>> {
        self.keys_under(&like.bytes()[..1])
    }

    /// The keys of the kind of this one from it on, ascending.
    pub(crate) fn form_keys_from(
        &self,
        first: FormKey,
    ) -> heed::Result<impl Iterator<Item = heed::Result<FormKey>>> {
        let first = first.bytes();
        let end = [first[0] + 1];
        let range = (Bound::Included(&first[..]), Bound::Excluded(&end[..]));
        Ok(self.forms().range(self, &range)?.filter_map(parsed))
    }

    /// The keys of the kind of this one that begin with the same form, block or print, ascending.
    pub(crate) fn form_keys_of(
        &self,
        like: FormKey,
    ) -> heed::Result<impl Iterator<Item = heed::Result<FormKey>>> {
        self.keys_under(&like.bytes()[..9])
    }

    fn keys_under<'r>(
        &'r self,
        prefix: &[u8],
    ) -> heed::Result<impl Iterator<Item = heed::Result<FormKey>> + use<'r, 't>> {
        Ok(self.forms().prefix_iter(self, prefix)?.filter_map(parsed))
    }
}

fn parsed(entry: heed::Result<(&[u8], &[u8])>) -> Option<heed::Result<FormKey>> {
    match entry {
        Ok((key, _)) => FormKey::parse(key).map(Ok),
        Err(e) => Some(Err(e)),
    }
}

impl StoreWriter<'_> {
    pub(crate) fn put_form_entry<T: Serialize>(
        &mut self,
        key: FormKey,
        value: &T,
    ) -> heed::Result<()> {
        let (forms, value) = (self.forms(), encode(value)?);
        forms.put(self.txn(), &key.bytes(), &value)
    }

    /// Whether there was such a key.
    pub(crate) fn delete_form_entry(&mut self, key: FormKey) -> heed::Result<bool> {
        let forms = self.forms();
        forms.delete(self.txn(), &key.bytes())
    }

    /// Deletes all keys of the kind of this one.
    pub(crate) fn delete_form_entries(&mut self, like: FormKey) -> heed::Result<()> {
        let forms = self.forms();
        let first = like.bytes()[0];
        let (from, to) = ([first], [first + 1]);
        let range = (Bound::Included(&from[..]), Bound::Excluded(&to[..]));
        forms.delete_range(self.txn(), &range).map(|_| ())
    }
}

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
        let forms = self.forms();
        forms.clear(self.txn())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn keys_are_found_by_kind_and_by_what_they_begin_with() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let name = |form| NameKey { form, variant: 9 };
        let keys = [
            FormKey::Mention(5, 1),
            FormKey::Mention(5, 2),
            FormKey::Mention(6, 1),
            FormKey::Name(name(5)),
            FormKey::Block(5, name(7)),
            FormKey::Link(5, 6),
            FormKey::Touched(5),
            FormKey::ChangedChunk(5),
            FormKey::Entity(5, 3),
            FormKey::Merge(5, 4),
        ];
        store
            .write(|writer| keys.iter().try_for_each(|key| writer.put_form_entry(*key, &true)))
            .unwrap();
        let read_keys = |reader: &StoreReader<'_>| {
            let all: Vec<FormKey> =
                reader.form_keys(FormKey::Mention(0, 0))?.collect::<heed::Result<_>>()?;
            let five: Vec<FormKey> =
                reader.form_keys_of(FormKey::Mention(5, 0))?.collect::<heed::Result<_>>()?;
            let blocks: Vec<FormKey> =
                reader.form_keys_of(FormKey::Block(5, name(0)))?.collect::<heed::Result<_>>()?;
            Ok((all, five, blocks))
        };
        let (all, five, blocks) = store.read(read_keys).unwrap();
        assert_eq!(all, keys[..3]);
        assert_eq!(five, keys[..2]);
        assert_eq!(blocks, keys[4..5]);
        store.write(|writer| writer.delete_form_entries(FormKey::Mention(0, 0))).unwrap();
        let (all, _, blocks) = store.read(read_keys).unwrap();
        assert_eq!((all.len(), blocks.len()), (0, 1));
    }
}
