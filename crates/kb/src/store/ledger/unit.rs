//! Units of work: what is done in one, how it is named, and what the ledger says of it.
use halma_core::Layer;
use serde::{Deserialize, Serialize};

use crate::store::schema::{byte, layer_of};
use crate::store::{At, Id, Row};

/// What is done in a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Task {
    /// Atoms of a chunk.
    Atoms,
    /// The vector of a text.
    Embed,
    /// Hyperlinks of a document that has got another name.
    Links,
    /// Where a hyperlink leads, whether a document is there or not: see `link_targets.rs`.
    LinkTarget,
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
    /// Which words of a sample question stand for which tags.
    MapTags,
    /// Rows of the tables that are asked for, of a chunk.
    Rows,
    /// A summary of a section, a document, or a part of one.
    Summarise,
    /// Title and summary of a community.
    Community,
}

/// Every task with its letter, which is that of the format and never changes, and its name.
pub(super) const TASKS: [(Task, u8, &str); 14] = [
    (Task::Atoms, b'a', "atoms"),
    (Task::Embed, b'e', "embed"),
    (Task::Links, b'l', "links"),
    (Task::LinkTarget, b'w', "link_target"),
    (Task::Facts, b'f', "facts"),
    (Task::Graph, b'g', "graph"),
    (Task::SameEntity, b's', "same_entity"),
    (Task::Near, b'n', "near"),
    (Task::TagClasses, b'k', "tag_classes"),
    (Task::Tag, b't', "tag"),
    (Task::MapTags, b'p', "map_tags"),
    (Task::Rows, b'r', "rows"),
    (Task::Summarise, b'u', "summarise"),
    (Task::Community, b'm', "community"),
];

impl Task {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        TASKS.into_iter().map(|(task, ..)| task)
    }

    pub(crate) fn name(self) -> &'static str {
        TASKS[self as usize].2
    }

    pub(super) fn letter(self) -> u8 {
        TASKS[self as usize].1
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
    pub(crate) fn of(task: Task, node: At) -> Self {
        Self::part(task, node, 0)
    }

    /// One of several units of a node.
    pub(crate) fn part(task: Task, (layer, row): At, part: u32) -> Self {
        Self { task, layer, at: u64::from(row) << 32 | u64::from(part) }
    }

    pub(crate) fn with_id(task: Task, layer: Layer, id: Id) -> Self {
        Self { task, layer, at: id }
    }

    /// The row of the node it is about.
    pub(crate) fn row(self) -> Row {
        Row::try_from(self.at >> 32).unwrap_or(Row::MAX)
    }

    /// The node that it is about and deleted with; `None` for what is about several.
    pub(in crate::store) fn node(self) -> Option<At> {
        let layers = [Layer::Document, Layer::Section, Layer::Chunk, Layer::Atom, Layer::Table];
        let belongs_to_node = self.task == Task::Embed || layers.contains(&self.layer);
        belongs_to_node.then(|| (self.layer, self.row()))
    }

    pub(in crate::store) fn bytes(self) -> [u8; 10] {
        let mut key = [self.task.letter(), byte(self.layer), 0, 0, 0, 0, 0, 0, 0, 0];
        key[2..].copy_from_slice(&self.at.to_be_bytes());
        key
    }

    /// The reverse of [`UnitKey::bytes`].
    pub(in crate::store) fn parse(key: &[u8]) -> Option<Self> {
        let (task, ..) = TASKS.into_iter().find(|(_, letter, _)| key.first() == Some(letter))?;
        let layer = layer_of(*key.get(1)?)?;
        let at = key.get(2..)?.try_into().ok()?;
        Some(Self { task, layer, at: u64::from_be_bytes(at) })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UnitState {
    Pending,
    Done,
    Failed,
}

impl UnitState {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    fn parse(letter: u8) -> Option<Self> {
        [Self::Pending, Self::Done, Self::Failed].into_iter().find(|state| *state as u8 == letter)
    }
}

/// Why a unit failed the last time, and how often it did in sequence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) reason: String,
    pub(crate) attempts: u32,
}

/// What the ledger says of a unit. State and input are stored in the clear, so that units are
/// counted without unsealing their results.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) key: UnitKey,
    pub(crate) state: UnitState,
    /// Hash of the prompt and of what it was given: a unit with another one is to be done again.
    pub(crate) input: Id,
    /// The result or the [`Failure`]; empty for a pending unit.
    pub(in crate::store) sealed: &'a [u8],
}

impl<'a> Entry<'a> {
    /// `None` for what is not an entry.
    pub(in crate::store) fn parse((key, value): (&[u8], &'a [u8])) -> Option<Self> {
        let (state, value) = value.split_first()?;
        let (input, sealed) = value.split_first_chunk()?;
        let (state, input) = (UnitState::parse(*state)?, Id::from_be_bytes(*input));
        Some(Self { key: UnitKey::parse(key)?, state, input, sealed })
    }

    pub(crate) fn is_done(&self, input: Id) -> bool {
        self.state == UnitState::Done && self.input == input
    }

    /// Whether it is shown and counted. Texts wait for a vector where there is no embedder, and
    /// links for documents that may never come: neither is late.
    pub(crate) fn is_reported(&self) -> bool {
        let waits = [Task::Embed, Task::Links, Task::LinkTarget].contains(&self.key.task);
        self.state != UnitState::Pending || !waits
    }
}

/// Units of one task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct UnitCounts {
    pub(crate) done: u64,
    pub(crate) pending: u64,
    pub(crate) failed: u64,
}
