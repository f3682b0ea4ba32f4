//! The ledger of extracted knowledge: what a model was asked for, what it replied or why it failed.
//! What is not here is still to do.
use halma_core::Layer;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::schema::{byte, decode, encode};
use super::{At, Id, Row, StoreReader, StoreWriter};

/// Whose key seals what belongs to no single node; no node ever has this row.
pub(super) const SHARED: At = (Layer::Community, Row::MAX);

/// What is asked of a model for a unit. The letter is that of the format and never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Task {
    /// Entities and facts of a chunk.
    Facts,
    /// What the facts of a chunk were made into: no model is asked.
    Graph,
    /// Whether two entities are one.
    SameEntity,
    /// How near two descriptions are: the embedder is asked.
    Near,
    /// The classes of tags of the corpus.
    TagClasses,
    /// Tags of a chunk.
    Tag,
    /// A summary of a section, a document, or a part of one.
    Summarise,
    /// Title and summary of a community.
    Community,
}

impl Task {
    pub(crate) const ALL: [Self; 8] = [
        Self::Facts,
        Self::Graph,
        Self::SameEntity,
        Self::Near,
        Self::TagClasses,
        Self::Tag,
        Self::Summarise,
        Self::Community,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Facts => "facts",
            Self::Graph => "graph",
            Self::SameEntity => "same_entity",
            Self::Near => "near",
            Self::TagClasses => "tag_classes",
            Self::Tag => "tag",
            Self::Summarise => "summarise",
            Self::Community => "community",
        }
    }

    fn letter(self) -> u8 {
        match self {
            Self::Facts => b'f',
            Self::Graph => b'g',
            Self::SameEntity => b's',
            Self::Near => b'n',
            Self::TagClasses => b'k',
            Self::Tag => b't',
            Self::Summarise => b'u',
            Self::Community => b'm',
        }
    }
}

/// A unit of work: a task for a node, by its row, or for something that has an id only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct UnitKey {
    pub(crate) task: Task,
    pub(crate) layer: Layer,
    /// The row of the node in the upper half where the unit is about one, and which part of it in
    /// the lower half; otherwise an id.
    pub(crate) at: u64,
}

impl UnitKey {
    /// The unit of a node.
    pub(crate) fn of(task: Task, (layer, row): (Layer, Row)) -> Self {
        Self::part(task, (layer, row), 0)
    }

    /// One of several units of a node.
    pub(crate) fn part(task: Task, (layer, row): (Layer, Row), part: u32) -> Self {
        Self { task, layer, at: u64::from(row) << 32 | u64::from(part) }
    }

    pub(crate) fn with_id(task: Task, layer: Layer, id: Id) -> Self {
        Self { task, layer, at: id }
    }

    /// The row of the node it is about.
    pub(crate) fn row(self) -> Row {
        Row::try_from(self.at >> 32).unwrap_or(Row::MAX)
    }

    fn bytes(self) -> [u8; 10] {
        let mut key = [self.task.letter(), byte(self.layer), 0, 0, 0, 0, 0, 0, 0, 0];
        key[2..].copy_from_slice(&self.at.to_be_bytes());
        key
    }
}

/// What came of a unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unit {
    /// Hash of the prompt and of what it was given: a unit with another one is to be done again.
    pub(crate) input: Id,
    pub(crate) state: UnitState,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum UnitState {
    /// With the reply as it was understood, so that it is never paid for twice.
    Done(Vec<u8>),
    Failed {
        reason: String,
        attempts: u32,
    },
}

/// Units of one task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct UnitCounts {
    pub(crate) done: u64,
    pub(crate) failed: u64,
}

impl StoreReader<'_> {
    /// What is kept of a unit, whatever it was asked with.
    pub(crate) fn unit_of<T: DeserializeOwned>(
        &self,
        key: UnitKey,
    ) -> heed::Result<Option<(Id, T)>> {
        match self.raw_unit(key)? {
            Some(Unit { input, state: UnitState::Done(kept) }) => Ok(Some((input, decode(&kept)?))),
            _ => Ok(None),
        }
    }

    /// What came of a unit when it was asked with this input.
    pub(crate) fn done<T: DeserializeOwned>(
        &self,
        key: UnitKey,
        input: Id,
    ) -> heed::Result<Option<T>> {
        let kept = self.unit_of(key)?;
        Ok(kept.filter(|(with, _)| *with == input).map(|(_, kept)| kept))
    }

    /// Whether a unit has been done with this input.
    pub(crate) fn is_done(&self, key: UnitKey, input: Id) -> heed::Result<bool> {
        let unit = self.raw_unit(key)?;
        Ok(unit.is_some_and(|unit| unit.input == input && matches!(unit.state, UnitState::Done(_))))
    }

    fn raw_unit(&self, key: UnitKey) -> heed::Result<Option<Unit>> {
        match self.store.db.units.get(self, &key.bytes())? {
            Some(stored) => self.store.decode_sealed(stored),
            None => Ok(None),
        }
    }

    /// Calls `each` with every done unit of a task, in the order of keys.
    pub(crate) fn each_done<T: DeserializeOwned>(
        &self,
        (task, layer): (Task, Layer),
        mut each: impl FnMut(UnitKey, Id, T) -> heed::Result<()>,
    ) -> heed::Result<()> {
        for entry in self.store.db.units.prefix_iter(self, &[task.letter(), byte(layer)])? {
            let (key, unit) = entry?;
            let Some(unit) = self.store.decode_sealed::<Unit>(unit)? else { continue };
            let at = key.last_chunk().map_or(0, |at| u64::from_be_bytes(*at));
            if let UnitState::Done(kept) = unit.state {
                each(UnitKey { task, layer, at }, unit.input, decode(&kept)?)?;
            }
        }
        Ok(())
    }

    /// Calls `each` with the key and input of every unit of a task, and whether it is done.
    pub(crate) fn each_asked(
        &self,
        (task, layer): (Task, Layer),
        mut each: impl FnMut(UnitKey, Id, bool),
    ) -> heed::Result<()> {
        for entry in self.store.db.units.prefix_iter(self, &[task.letter(), byte(layer)])? {
            let (key, unit) = entry?;
            let Some(unit) = self.store.decode_sealed::<Unit>(unit)? else { continue };
            let at = key.last_chunk().map_or(0, |at| u64::from_be_bytes(*at));
            each(UnitKey { task, layer, at }, unit.input, matches!(unit.state, UnitState::Done(_)));
        }
        Ok(())
    }

    /// Every unit of a node, of all tasks.
    pub(crate) fn units_of(&self, (layer, row): (Layer, Row)) -> heed::Result<Vec<UnitKey>> {
        let mut keys = vec![];
        for task in Task::ALL {
            let first = UnitKey::of(task, (layer, row)).bytes();
            // The part of a unit is the rest of its key.
            for entry in self.store.db.units.prefix_iter(self, &first[..6])? {
                let at = entry?.0.last_chunk().map_or(0, |at| u64::from_be_bytes(*at));
                keys.push(UnitKey { task, layer, at });
            }
        }
        Ok(keys)
    }

    /// How many units of each task are done, and how many failed.
    pub(crate) fn unit_counts(&self) -> heed::Result<Vec<(Task, UnitCounts)>> {
        let mut counts = Task::ALL.map(|task| (task, UnitCounts::default()));
        for (task, count) in &mut counts {
            for entry in self.store.db.units.prefix_iter(self, &[task.letter()])? {
                match self.store.decode_sealed::<Unit>(entry?.1)?.map(|unit| unit.state) {
                    Some(UnitState::Done(_)) => count.done += 1,
                    Some(UnitState::Failed { .. }) => count.failed += 1,
                    None => {}
                }
            }
        }
        Ok(counts.into_iter().filter(|(_, count)| *count != UnitCounts::default()).collect())
    }

    /// A value that is about the base as a whole.
    pub(crate) fn meta_value<T: DeserializeOwned>(&self, name: &str) -> heed::Result<Option<T>> {
        self.meta(name)
    }
}

impl StoreWriter<'_> {
    /// A unit of a node is sealed as that is; the others share a key (see [`Store::reseal_shared`]).
    fn put_unit_of(&mut self, key: UnitKey, unit: &Unit) -> heed::Result<()> {
        let slot = match key.layer {
            Layer::Document | Layer::Section | Layer::Chunk => {
                self.slot_of_node((key.layer, key.row()))?
            }
            _ => Some(self.slot_of(SHARED)?),
        };
        let Some(slot) = slot else { return Ok(()) };
        self.put_sealed((self.store.db.units, &key.bytes()), slot, &encode(unit)?)
    }

    /// Gives what shares a key (units of no single node, merges) another one, so that what was
    /// taken out of it cannot be read any more.
    pub(crate) fn reseal_shared(&mut self) -> heed::Result<()> {
        let mut units = vec![];
        for entry in self.store.db.units.iter(self)? {
            let (key, stored) = entry?;
            let of_a_node = |layer: &u8| {
                [Layer::Document, Layer::Section, Layer::Chunk].iter().any(|l| byte(*l) == *layer)
            };
            if key.get(1).is_some_and(|layer| !of_a_node(layer)) {
                units.extend(self.store.unsealed(stored)?.map(|value| (key.to_vec(), value)));
            }
        }
        let mut merges = vec![];
        for entry in self.store.db.merges.iter(self)? {
            let (key, stored) = entry?;
            merges.extend(self.store.unsealed(stored)?.map(|value| (key.to_vec(), value)));
        }
        self.forget_owner(SHARED)?;
        if units.is_empty() && merges.is_empty() {
            return Ok(());
        }
        let slot = self.slot_of(SHARED)?;
        for (db, values) in [(self.store.db.units, units), (self.store.db.merges, merges)] {
            for (key, value) in values {
                self.put_sealed((db, &key), slot, &value)?;
            }
        }
        Ok(())
    }

    pub(crate) fn put_done<T: Serialize>(
        &mut self,
        key: UnitKey,
        input: Id,
        reply: &T,
    ) -> heed::Result<()> {
        let unit = Unit { input, state: UnitState::Done(encode(reply)?) };
        self.put_unit_of(key, &unit)
    }

    /// Notes a failure. What an earlier input gave is kept no longer: it is out of date.
    pub(crate) fn put_failed(&mut self, key: UnitKey, input: Id, reason: &str) -> heed::Result<()> {
        let attempts = match self.raw_unit(key)? {
            Some(Unit { state: UnitState::Failed { attempts, .. }, .. }) => attempts + 1,
            _ => 1,
        };
        let unit = Unit { input, state: UnitState::Failed { reason: reason.to_owned(), attempts } };
        self.put_unit_of(key, &unit)
    }

    pub(crate) fn forget_unit(&mut self, key: UnitKey) -> heed::Result<()> {
        self.store.db.units.delete(self.txn(), &key.bytes()).map(|_| ())
    }

    /// Hangs the units of one node on another: its text went there.
    pub(crate) fn move_units(&mut self, from: (Layer, Row), to: (Layer, Row)) -> heed::Result<()> {
        for key in self.units_of(from)? {
            let part = u32::try_from(key.at & u64::from(u32::MAX)).unwrap_or_default();
            if let Some(unit) = self.raw_unit(key)? {
                let new = UnitKey::part(key.task, to, part);
                self.put_unit_of(new, &unit)?;
                self.forget_unit(key)?;
            }
        }
        Ok(())
    }

    pub(crate) fn set_meta_value<T: Serialize>(
        &mut self,
        name: &str,
        value: &T,
    ) -> heed::Result<()> {
        self.set_meta(name, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn a_unit_is_done_only_with_the_input_it_was_done_with() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let key = UnitKey::of(Task::Tag, (Layer::Tag, 3));
        store.write(|writer| writer.put_failed(key, 7, "down")).unwrap();
        store.write(|writer| writer.put_failed(key, 7, "down again")).unwrap();
        let failed = store.read(|reader| reader.raw_unit(key)).unwrap().unwrap();
        assert_eq!(failed.state, UnitState::Failed { reason: "down again".into(), attempts: 2 });
        store.write(|writer| writer.put_done(key, 7, &vec!["tag"])).unwrap();
        let done = |input| store.read(|reader| reader.done::<Vec<String>>(key, input)).unwrap();
        assert_eq!(done(7), Some(vec!["tag".to_owned()]));
        assert_eq!(done(8), None);
    }

    #[test]
    fn units_move_with_their_node_and_with_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let at = |row| (Layer::Tag, row);
        store
            .write(|writer| {
                writer.put_done(UnitKey::of(Task::Tag, at(1)), 5, &1_u8)?;
                writer.put_done(UnitKey::part(Task::Summarise, at(1), 9), 5, &2_u8)?;
                writer.put_done(UnitKey::of(Task::Tag, at(256)), 5, &3_u8)?;
                writer.move_units(at(1), at(70_000))
            })
            .unwrap();
        let keys = |row| store.read(|reader| reader.units_of(at(row))).unwrap();
        assert_eq!((keys(1).len(), keys(256).len(), keys(70_000).len()), (0, 1, 2));
        assert!(keys(70_000).iter().all(|key| key.row() == 70_000));
        let counts = store.read(|reader| reader.unit_counts()).unwrap();
        assert_eq!(counts.iter().map(|(_, count)| count.done).sum::<u64>(), 3);
    }
}
