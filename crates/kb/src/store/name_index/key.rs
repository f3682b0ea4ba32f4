//! Keys of what is kept of names.
use serde::{Deserialize, Serialize};

use crate::store::{Id, Row};

/// A name as it is compared with others: its form, and what the form does not say of it (capitals,
/// a bracket at its end), or a short form that a text gives it in brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct NameKey {
    pub(crate) form: Id,
    pub(crate) variant: u32,
}

/// Ids are hashes of forms and blocks, prints, and ids of units and merges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormKey {
    /// → [`FormsState`](super::FormsState)
    State,
    /// Chunk → [`ChunkForms`](super::ChunkForms)
    Chunk(Row),
    /// Document → [`DocumentNames`](super::DocumentNames)
    Document(Row),
    /// Form, and a chunk that has it.
    Mention(Id, Row),
    /// → [`NameRecord`](super::NameRecord)
    Name(NameKey),
    /// Block, and a name in it.
    Block(Id, NameKey),
    /// Two forms of which one may be short for the other in some document → number of documents. Both
    /// ways.
    Link(Id, Id),
    /// Form of what is to be resolved again.
    Touched(Id),
    /// Chunk that was extracted from, or no longer is → whether its names are entered here.
    ChangedChunk(Row),
    /// Unit of a pair of entities whose result is another.
    ChangedPair(Id),
    /// Unit of a pair of entities → their prints.
    Pair(Id),
    /// Print, and a unit of a pair with it.
    PairOfPrint(Id, Id),
    /// Print of a pair → its form.
    FormOfPrint(Id),
    /// Form, and a merge of entities with it.
    Merge(Id, Id),
    /// Form of an entity's name, and the entity.
    Entity(Id, Row),
}

impl FormKey {
    pub(super) fn bytes(self) -> Vec<u8> {
        let key = |kind: u8, parts: &[&[u8]]| {
            let mut key = Vec::with_capacity(21);
            key.push(kind);
            for part in parts {
                key.extend(*part);
            }
            key
        };
        match self {
            Self::State => key(b'i', &[]),
            Self::Chunk(row) => key(b'c', &[&row.to_be_bytes()]),
            Self::Document(row) => key(b'd', &[&row.to_be_bytes()]),
            Self::Mention(form, row) => key(b'm', &[&form.to_be_bytes(), &row.to_be_bytes()]),
            Self::Name(name) => key(b'v', &[&name.bytes()]),
            Self::Block(block, name) => key(b'b', &[&block.to_be_bytes(), &name.bytes()]),
            Self::Link(one, two) => key(b'l', &[&one.to_be_bytes(), &two.to_be_bytes()]),
            Self::Touched(form) => key(b't', &[&form.to_be_bytes()]),
            Self::ChangedChunk(row) => key(b'x', &[&row.to_be_bytes()]),
            Self::ChangedPair(unit) => key(b'y', &[&unit.to_be_bytes()]),
            Self::Pair(unit) => key(b'u', &[&unit.to_be_bytes()]),
            Self::PairOfPrint(print, unit) => {
                key(b'p', &[&print.to_be_bytes(), &unit.to_be_bytes()])
            }
            Self::FormOfPrint(print) => key(b'f', &[&print.to_be_bytes()]),
            Self::Merge(form, merge) => key(b'g', &[&form.to_be_bytes(), &merge.to_be_bytes()]),
            Self::Entity(form, row) => key(b'e', &[&form.to_be_bytes(), &row.to_be_bytes()]),
        }
    }

    /// The reverse of [`FormKey::bytes`].
    pub(super) fn parse(key: &[u8]) -> Option<Self> {
        let (kind, rest) = key.split_first()?;
        let row = |bytes: &[u8]| Some(Row::from_be_bytes(bytes.try_into().ok()?));
        let id = |bytes: &[u8]| Some(Id::from_be_bytes(bytes.try_into().ok()?));
        let pair = |bytes: &[u8]| {
            let (one, two) = bytes.split_at_checked(8)?;
            Some((id(one)?, two.to_vec()))
        };
        Some(match kind {
            b'i' => Self::State,
            b'c' => Self::Chunk(row(rest)?),
            b'd' => Self::Document(row(rest)?),
            b'm' => pair(rest).and_then(|(form, two)| Some(Self::Mention(form, row(&two)?)))?,
            b'v' => Self::Name(NameKey::parse(rest)?),
            b'b' => {
                let (block, name) = pair(rest)?;
                Self::Block(block, NameKey::parse(&name)?)
            }
            b'l' => pair(rest).and_then(|(one, two)| Some(Self::Link(one, id(&two)?)))?,
            b't' => Self::Touched(id(rest)?),
            b'x' => Self::ChangedChunk(row(rest)?),
            b'y' => Self::ChangedPair(id(rest)?),
            b'u' => Self::Pair(id(rest)?),
            b'p' => pair(rest).and_then(|(one, two)| Some(Self::PairOfPrint(one, id(&two)?)))?,
            b'f' => Self::FormOfPrint(id(rest)?),
            b'g' => pair(rest).and_then(|(form, two)| Some(Self::Merge(form, id(&two)?)))?,
            b'e' => pair(rest).and_then(|(form, two)| Some(Self::Entity(form, row(&two)?)))?,
            _ => return None,
        })
    }
}

impl NameKey {
    fn bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.form.to_be_bytes());
        bytes[8..].copy_from_slice(&self.variant.to_be_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (form, variant) = bytes.split_at_checked(8)?;
        let form = Id::from_be_bytes(form.try_into().ok()?);
        Some(Self { form, variant: u32::from_be_bytes(variant.try_into().ok()?) })
    }
}

/// What is known of all names together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FormsState {
    /// How names are taken apart and compared: with another version all of this is made again.
    pub(crate) version: u32,
    /// Whether all entities are to be resolved.
    pub(crate) everything: bool,
    /// Chunks that were extracted from.
    pub(crate) chunks: u64,
    /// Facts that they state.
    pub(crate) facts: u64,
    /// What was not kept of the replies: invented, with unknown ends, beyond the limit.
    pub(crate) left_out: [u64; 3],
    /// Entities by the model.
    pub(crate) entities: u64,
}

/// The names in a chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChunkForms {
    pub(crate) document: Row,
    /// Of each mention.
    pub(crate) names: Vec<NameKey>,
    /// Short forms in brackets: the name with them, and the form of the short one.
    pub(crate) aliases: Vec<(NameKey, Id)>,
    /// Forms that are said to be people: of these a last name alone may be short.
    pub(crate) people: Vec<Id>,
    pub(crate) facts: u32,
    pub(crate) left_out: [u32; 3],
}

/// What the names of a document say of each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DocumentNames {
    /// Chunks with names, ascending.
    pub(crate) chunks: Vec<Row>,
    /// Forms of which one may be short for the other.
    pub(crate) links: Vec<(Id, Id)>,
}

/// A name that chunks have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NameRecord {
    /// How many.
    pub(crate) chunks: u32,
    /// One of them.
    pub(crate) witness: Row,
    /// Blocks in which names that may be alike meet.
    pub(crate) blocks: Vec<Id>,
    /// The form of its last word, where it has several.
    pub(crate) last: Option<Id>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back() {
        let name = NameKey { form: 1 << 60, variant: 77 };
        for key in [
            FormKey::State,
            FormKey::Chunk(300),
            FormKey::Document(300),
            FormKey::Mention(9, 300),
            FormKey::Name(name),
            FormKey::Block(9, name),
            FormKey::Link(9, 1 << 50),
            FormKey::Touched(9),
            FormKey::ChangedChunk(300),
            FormKey::ChangedPair(9),
            FormKey::Pair(9),
            FormKey::PairOfPrint(9, 8),
            FormKey::FormOfPrint(9),
            FormKey::Merge(9, 8),
            FormKey::Entity(9, 300),
        ] {
            assert_eq!(FormKey::parse(&key.bytes()), Some(key));
        }
        assert_eq!(FormKey::parse(b"m12"), None);
        assert_eq!(FormKey::parse(b"?"), None);
    }
}
