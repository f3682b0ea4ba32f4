//! How former formats sealed values, and how what they sealed differs from what is sealed now.
use std::path::Path;

use halma_seal::former::{self, FormerKeys};
use halma_seal::{Keys, SealError, Slot, unseal};

use crate::store::{Entry, Task, UnitState, schema};

/// Layers whose records end in one list more than in format 5: fields of documents, chunks of rows,
/// other names of tags.
pub(in crate::store) const LENGTHENED: [&str; 3] = ["documents", "rows", "tags"];

/// The last format with the former cipher and the former key file.
const FORMER_CIPHER: u32 = 5;

/// The keys of a former store with its cipher.
pub(super) enum FormerSeal {
    /// Of format 5.
    Former(FormerKeys),
    /// Of format 6, which sealed as it is done now.
    Present(Keys),
}

impl FormerSeal {
    pub(super) fn open(format: u32, keys: &Path) -> Result<Self, SealError> {
        if format <= FORMER_CIPHER {
            return FormerKeys::read(keys).map(Self::Former);
        }
        Keys::open_read_only(keys).map(Self::Present)
    }

    /// Whether a slot has a key that can be read.
    pub(super) fn has_key(&self, slot: Slot) -> bool {
        match self {
            Self::Former(keys) => keys.key(slot).is_some(),
            Self::Present(keys) => matches!(keys.key(slot), Ok(Some(_))),
        }
    }

    /// A value in the clear, with its slot; `None` for one that cannot be opened.
    pub(super) fn open_value(&self, stored: &[u8]) -> Option<(Slot, Vec<u8>)> {
        let (slot, sealed) = stored.split_first_chunk()?;
        let slot = Slot::from_le_bytes(*slot);
        let value = match self {
            Self::Former(keys) => former::unseal(&keys.key(slot)?, sealed).ok()?,
            Self::Present(keys) => unseal(&keys.key(slot).ok()??, sealed).ok()?,
        };
        Some((slot, value))
    }
}

/// How the form of a value differs from the present one.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Same,
    /// It ends in one list less.
    Lengthened,
    /// Tags of a passage, each of which now has other names.
    Tags,
}

impl Form {
    /// That of an entry (its key and value) of a database of a format.
    pub(super) fn find(format: u32, database: &str, entry: (&[u8], &[u8])) -> Self {
        let tags = || {
            Entry::parse(entry)
                .is_some_and(|unit| unit.key.task == Task::Tag && unit.state == UnitState::Done)
        };
        match database {
            _ if format > FORMER_CIPHER => Self::Same,
            name if LENGTHENED.contains(&name) => Self::Lengthened,
            "ledger" if tags() => Self::Tags,
            _ => Self::Same,
        }
    }

    /// A value in the present form.
    pub(super) fn renew(self, mut value: Vec<u8>) -> Option<Vec<u8>> {
        match self {
            Self::Same => {}
            // An empty list is a zero.
            Self::Lengthened => value.push(0),
            Self::Tags => return tags(&value),
        }
        Some(value)
    }
}

fn tags(former: &[u8]) -> Option<Vec<u8>> {
    let former: Vec<(String, String)> = schema::decode(former).ok()?;
    let tags = former.into_iter().map(|(class, name)| (class, name, Vec::<String>::new()));
    schema::encode(&tags.collect::<Vec<_>>()).ok()
}
