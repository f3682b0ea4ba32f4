//! What makes an item of a record, for data sets whose records need more than a mapping.
mod blendqa;
mod contexts;
mod crag;
mod cut_answers;
mod fever;
mod frames;
mod longmemeval;
mod mapping;
mod musique;
mod options;
mod scifact;
mod strategyqa;
mod user;

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
    ("frames", frames::item),
    ("gsm8k", cut_answers::gsm8k),
    ("hotpotqa", contexts::item),
    ("lawbench_articles", cut_answers::lawbench_articles),
    ("logiqa", options::logiqa),
    ("logiqa2", options::logiqa2),
    ("longmemeval", longmemeval::item),
    ("medmcqa", options::medmcqa),
    ("medmcqa_from_0", options::medmcqa_from_0),
    ("medqa", options::medqa),
    ("musique", musique::answerable),
    ("musique_full", musique::full),
    ("own", user::item),
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
