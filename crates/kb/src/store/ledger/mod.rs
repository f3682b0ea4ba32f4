//! The ledger: the one record of which units of work are pending, done or failed, for all stages.
//!
//! ```text
//! (not noted) ──► pending ──► done, with its result, under the hash of what it was asked with
//!      │             │          ▲
//!      └─────────────┴──► failed, with the reason and how often
//! ```
//!
//! Stages that ask a model find their units in the documents: one that is not noted, that failed,
//! or that was asked with another prompt or text is to be done. A text that waits for a vector is
//! noted until it has one.
mod link_targets;
mod unit;

use halma_core::Layer;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(crate) use link_targets::LinkTarget;
pub(crate) use unit::{Entry, Failure, Task, UnitCounts, UnitKey, UnitState};

use super::schema::{byte, encode};
use super::{At, Id, Row, StoreReader, StoreWriter};

impl StoreReader<'_> {
    pub(crate) fn entry(&self, key: UnitKey) -> heed::Result<Option<Entry<'_>>> {
        let bytes = key.bytes();
        if !self.sees_unit(key)? {
            return Ok(None);
        }
        let value = self.store.db.ledger.get(self, &bytes)?;
        Ok(value.and_then(|value| Entry::parse((&bytes, value))))
    }

    /// All entries of a task, in the order of keys.
    pub(crate) fn entries(
        &self,
        task: Task,
    ) -> heed::Result<impl Iterator<Item = heed::Result<Entry<'_>>>> {
        let entries = self.store.db.ledger.prefix_iter(self, &[task.letter()])?;
        let parsed = entries.filter_map(|entry| entry.map(Entry::parse).transpose());
        Ok(parsed.filter_map(move |entry| match entry {
            Ok(entry) => match self.sees_unit(entry.key) {
                Ok(visible) => visible.then_some(Ok(entry)),
                Err(e) => Some(Err(e)),
            },
            Err(e) => Some(Err(e)),
        }))
    }

    /// Whether a unit is of a node that this reader may see.
    fn sees_unit(&self, key: UnitKey) -> heed::Result<bool> {
        match key.node() {
            _ if self.visibility.is_none() => Ok(true),
            Some(node) => self.sees(node),
            None => Ok(false),
        }
    }

    /// Every entry of a node, of all tasks.
    pub(crate) fn entries_of(&self, node: At) -> heed::Result<Vec<Entry<'_>>> {
        let mut entries = vec![];
        if !self.sees(node)? {
            return Ok(entries);
        }
        for task in Task::all() {
            // The part of a unit is the rest of its key.
            let first = UnitKey::of(task, node).bytes();
            for entry in self.store.db.ledger.prefix_iter(self, &first[..6])? {
                entries.extend(Entry::parse(entry?));
            }
        }
        Ok(entries)
    }

    /// The rows of a layer with a unit of this task that is pending or failed, in order.
    pub(crate) fn open_rows(&self, task: Task, layer: Layer) -> heed::Result<Vec<Row>> {
        let mut rows = vec![];
        for entry in self.store.db.ledger.prefix_iter(self, &[task.letter(), byte(layer)])? {
            let entry = Entry::parse(entry?).filter(|entry| entry.state != UnitState::Done);
            rows.extend(entry.map(|entry| entry.key.row()));
        }
        Ok(rows)
    }

    /// The result of a unit, with what it was asked with.
    pub(crate) fn result_of<T: DeserializeOwned>(
        &self,
        key: UnitKey,
    ) -> heed::Result<Option<(Id, T)>> {
        let done = self.entry(key)?.filter(|entry| entry.state == UnitState::Done);
        let Some(entry) = done else { return Ok(None) };
        Ok(self.store.decode_sealed(entry.sealed)?.map(|result| (entry.input, result)))
    }

    /// The result of a unit when it was asked with this input.
    pub(crate) fn done<T: DeserializeOwned>(
        &self,
        key: UnitKey,
        input: Id,
    ) -> heed::Result<Option<T>> {
        let done = self.entry(key)?.filter(|entry| entry.is_done(input));
        done.map_or(Ok(None), |entry| self.store.decode_sealed(entry.sealed))
    }

    /// Whether a unit has been done with this input.
    pub(crate) fn is_done(&self, key: UnitKey, input: Id) -> heed::Result<bool> {
        Ok(self.entry(key)?.is_some_and(|entry| entry.is_done(input)))
    }

    pub(crate) fn failure(&self, entry: &Entry<'_>) -> heed::Result<Option<Failure>> {
        match entry.state {
            UnitState::Failed => self.store.decode_sealed(entry.sealed),
            UnitState::Pending | UnitState::Done => Ok(None),
        }
    }

    /// The result or failure of an entry as it is sealed; `None` for a pending one.
    pub(super) fn content(&self, entry: &Entry<'_>) -> heed::Result<Option<Vec<u8>>> {
        if entry.sealed.is_empty() { Ok(None) } else { self.store.unsealed(entry.sealed) }
    }

    /// Every done unit of a task with its result, in the order of keys.
    pub(crate) fn results<T: DeserializeOwned>(
        &self,
        task: Task,
    ) -> heed::Result<impl Iterator<Item = heed::Result<(UnitKey, T)>>> {
        let result = |entry: Entry<'_>| {
            let done = entry.state == UnitState::Done;
            let result = if done { self.store.decode_sealed(entry.sealed)? } else { None };
            Ok(result.map(|result| (entry.key, result)))
        };
        Ok(self.entries(task)?.filter_map(move |entry| entry.and_then(result).transpose()))
    }

    /// How many units of a task are in each state; of atoms, those of another kind than is wanted
    /// are pending.
    pub(crate) fn unit_counts(&self, task: Task) -> heed::Result<UnitCounts> {
        let wanted = if task == Task::Atoms { self.wanted_atoms()? } else { None };
        let mut counts = UnitCounts::default();
        for entry in self.entries(task)? {
            let entry = entry?;
            match entry.state {
                _ if !entry.is_reported() => {}
                UnitState::Done if wanted.is_none_or(|kind| kind == entry.input) => {
                    counts.done += 1;
                }
                UnitState::Pending | UnitState::Done => counts.pending += 1,
                UnitState::Failed => counts.failed += 1,
            }
        }
        Ok(counts)
    }
}

impl StoreWriter<'_> {
    /// Notes that a unit is to be done.
    pub(crate) fn put_pending(&mut self, key: UnitKey) -> heed::Result<()> {
        let entry = Entry { key, state: UnitState::Pending, input: 0, sealed: &[] };
        self.put_entry(&entry, None)
    }

    /// Notes that a unit is done, with its result, so that it is never paid for twice.
    pub(crate) fn put_done<T: Serialize>(
        &mut self,
        key: UnitKey,
        input: Id,
        result: &T,
    ) -> heed::Result<()> {
        let entry = Entry { key, state: UnitState::Done, input, sealed: &[] };
        self.put_entry(&entry, Some(&encode(result)?))
    }

    /// Notes a failure. What an earlier input gave is kept no longer: it is out of date.
    pub(crate) fn put_failed(&mut self, key: UnitKey, input: Id, reason: &str) -> heed::Result<()> {
        let before = self.entry(key)?.map_or(Ok(None), |entry| self.failure(&entry))?;
        let attempts = before.map_or(0, |failure| failure.attempts) + 1;
        let failure = Failure { reason: reason.to_owned(), attempts };
        let entry = Entry { key, state: UnitState::Failed, input, sealed: &[] };
        self.put_entry(&entry, Some(&encode(&failure)?))
    }

    /// A unit of a node is sealed as that is, and not stored when that is gone; the others share
    /// keys (`sealed/shared.rs`).
    pub(super) fn put_entry(
        &mut self,
        entry: &Entry<'_>,
        content: Option<&[u8]>,
    ) -> heed::Result<()> {
        self.note_unit_replaced(entry.key)?;
        self.mark_unit(entry.key)?;
        self.seal_entry(entry, content)
    }

    pub(crate) fn forget_unit(&mut self, key: UnitKey) -> heed::Result<()> {
        self.note_unit_replaced(key)?;
        self.mark_unit(key)?;
        self.store.db.ledger.delete(self.txn(), &key.bytes()).map(|_| ())
    }

    /// Forgets all units of a node.
    pub(crate) fn forget_units(&mut self, node: At) -> heed::Result<()> {
        let keys: Vec<UnitKey> = self.entries_of(node)?.iter().map(|entry| entry.key).collect();
        keys.into_iter().try_for_each(|key| self.forget_unit(key))
    }

    /// Notes the units of one node under another: its text went there. They are sealed again, so
    /// that they can also stay where they are when the node has another owner.
    pub(crate) fn move_units(&mut self, from: At, to: At) -> heed::Result<()> {
        let mut moved = vec![];
        for entry in self.entries_of(from)? {
            let content = self.content(&entry)?;
            moved.push((Entry { sealed: &[], ..entry }, content));
        }
        for (entry, content) in moved {
            let part = u32::try_from(entry.key.at & u64::from(u32::MAX)).unwrap_or_default();
            let key = UnitKey::part(entry.key.task, to, part);
            self.put_entry(&Entry { key, ..entry }, content.as_deref())?;
            if key != entry.key {
                self.forget_unit(entry.key)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
