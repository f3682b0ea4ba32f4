//! Data sets: questions with gold answers and gold passages, read from the official files.
//!
//! A format is one file in `data_sets/`: what is known about it, and either a mapping from the
//! fields of a record or the name of a reader in `readers/`.
mod answers;
mod check;
mod companion;
mod companion_files;
mod data_set;
mod entry;
mod error;
mod format;
mod item;
mod load;
mod raw_record;
mod readers;
mod records;
mod reference;
mod selection;

pub use crate::metrics::GoldPassage;
pub use check::{Checked, KeyCount, check, recognise};
pub use companion::{Companion, CompanionContent};
pub use data_set::DataSet;
pub use entry::{DataSetEntry, Pool, PublishedFile, entries};
pub use error::DataError;
pub use format::Format;
pub use item::{Item, Passage, RefusedRecord};
pub use load::load;
pub use reference::reference;
pub use selection::{Condition, ConditionError, Sample, Selection};

#[cfg(test)]
mod tests;
