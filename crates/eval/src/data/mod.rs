//! Data sets: questions with gold answers and gold passages, read from the official files.
//!
//! A format is one entry and one reader that makes an item of a record, both in one file.
mod answers;
mod arithmetic;
mod auslegal;
mod beside;
mod blendqa;
mod check;
mod contexts;
mod crag;
mod error;
mod fever;
mod folio;
mod format;
mod item;
mod lawbench;
mod load;
mod logiqa;
mod medmcqa;
mod medqa;
mod musique;
mod own;
mod pool;
mod records;
mod reference;
mod registry;
mod scifact;
mod strategyqa;

use beside::Beside;
pub use check::{Checked, KeyCount, check, recognise};
pub use error::DataError;
pub use format::Format;
pub use item::{DataSet, GoldPassage, Item, Passage, RefusedRecord};
pub use load::load;
pub use reference::reference;
pub use registry::{DATA_SETS, DataSetEntry, Pool, Split, entries};

#[cfg(test)]
mod tests;
