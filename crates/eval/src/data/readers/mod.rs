//! What makes an item of a record, for data sets whose records need more than a mapping.
mod blendqa;
mod contexts;
mod crag;
mod fever;
mod gsm8k;
mod lawbench;
mod logiqa;
mod mapping;
mod medmcqa;
mod medqa;
mod musique;
mod own;
mod scifact;
mod strategyqa;

pub(super) use mapping::Mapping;

use super::companion::CompanionFiles;
use super::item::Item;
use super::raw_record::{Fault, RawRecord};

/// A reader in code: makes an item of one record.
pub(super) type Reader = fn(&RawRecord, &CompanionFiles) -> Result<Item, Fault>;

/// By the name in the data set's file.
pub(super) const READERS: &[(&str, Reader)] = &[
    ("blendqa", blendqa::item),
    ("crag", crag::item),
    ("fever", fever::item),
    ("gsm8k", gsm8k::gsm8k),
    ("hotpotqa", contexts::item),
    ("lawbench_articles", lawbench::lawbench_articles),
    ("logiqa", logiqa::first),
    ("logiqa2", logiqa::second),
    ("medmcqa", medmcqa::from_one),
    ("medmcqa_from_0", medmcqa::from_zero),
    ("medqa", medqa::item),
    ("musique", musique::answerable),
    ("musique_full", musique::full),
    ("own", own::item),
    ("scifact", scifact::claim),
    ("strategyqa", strategyqa::item),
];

/// Makes an item of one record.
#[derive(Clone, Copy)]
pub(super) enum ReadItem<'a> {
    Code(Reader),
    Mapping(&'a Mapping),
}

impl ReadItem<'_> {
    pub(super) fn item(self, raw: &RawRecord, companion: &CompanionFiles) -> Result<Item, Fault> {
        match self {
            Self::Code(reader) => reader(raw, companion),
            Self::Mapping(mapping) => mapping.item(raw),
        }
    }
}
