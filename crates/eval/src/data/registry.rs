//! What is known about a data set. `halma data`, the reference page, the loader and the choice of
//! metrics all read it. Each entry stands beside the reader of its records.
use std::collections::BTreeSet;

use super::load::ReadItem;
use super::{
    Format, arithmetic, auslegal, blendqa, contexts, crag, fever, folio, lawbench, logiqa, medmcqa,
    medqa, musique, own, scifact, strategyqa,
};
use crate::Metric;
use crate::metrics::Profile;

/// All data sets, in the order of the reference. A new one is a variant of [`Format`], a file with
/// its reader and its entry, and a line here.
pub const DATA_SETS: &[DataSetEntry] = &[
    contexts::HOTPOTQA,
    contexts::TWO_WIKI,
    musique::MUSIQUE,
    musique::MUSIQUE_FULL,
    strategyqa::ENTRY,
    medqa::ENTRY,
    medmcqa::ENTRY,
    scifact::SCIFACT,
    scifact::SCIFACT_PAIRS,
    fever::ENTRY,
    logiqa::ENTRY,
    folio::ENTRY,
    arithmetic::GSM8K,
    arithmetic::MAWPS,
    lawbench::LAWBENCH_1_1,
    lawbench::LAWBENCH_1_2,
    lawbench::LAWBENCH_3_1,
    lawbench::LAWBENCH_3_2,
    lawbench::LAWBENCH_3_6,
    lawbench::LAWBENCH_3_8,
    auslegal::ENTRY,
    crag::ENTRY,
    blendqa::ENTRY,
    own::ENTRY,
];

/// What is known about one data set.
#[derive(Debug, Clone, Copy)]
pub struct DataSetEntry {
    pub format: Format,
    /// The name on the command line.
    pub name: &'static str,
    /// The name its authors gave it.
    pub title: &'static str,
    /// The paper that describes it.
    pub paper: &'static str,
    /// Where its authors publish the files.
    pub source: &'static str,
    /// As publicly stated.
    pub licence: &'static str,
    /// What a file looks like.
    pub shape: &'static str,
    /// How an answer is scored when it is judged without a model.
    pub metric: Metric,
    /// What is searched.
    pub pool: Pool,
    /// The files with answers, as published.
    pub splits: &'static [Split],
    /// A file that is read too where it lies in the same folder.
    pub beside: Option<&'static str>,
    /// Keys that every record has; `a|b` is either.
    pub(super) keys: &'static [&'static str],
    /// Keys of others that share the rest.
    pub(super) without: &'static [&'static str],
    /// Lines of cells parted by tabs, named by the first line.
    pub(super) table: bool,
    pub(super) read: ReadItem,
}

/// What a base for the set is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    /// The passages of all questions together.
    Pooled,
    /// Each question's own passages: those of the others would answer what is unanswerable.
    EachAlone,
    /// A corpus that is published beside the questions; the text says where.
    Corpus(&'static str),
    /// Nothing: the question holds what is needed.
    Nothing,
}

/// One published file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// Its name as published.
    pub file: &'static str,
    /// The records in it.
    pub records: usize,
    /// SHA-256 in hexadecimal digits, where we have computed it from the published file.
    pub sha256: Option<&'static str>,
}

impl DataSetEntry {
    /// Whether a record with these keys can be of this format.
    pub(super) fn fits(&self, keys: &BTreeSet<String>) -> bool {
        let has = |key: &&str| key.split('|').any(|key| keys.contains(key));
        self.keys.iter().all(has) && !self.without.iter().any(has)
    }

    /// Its keys for a sentence: "`id`, `question`, `answers` or `answer`".
    pub(super) fn shape_in_words(&self) -> String {
        let key = |key: &&str| format!("`{}`", key.replace('|', "` or `"));
        self.keys.iter().map(key).collect::<Vec<_>>().join(", ")
    }
}

/// All data sets, in the order of the reference.
pub fn entries() -> &'static [DataSetEntry] {
    DATA_SETS
}

pub(super) const fn split(file: &'static str, records: usize) -> Split {
    Split { file, records, sha256: None }
}

pub(super) const fn known(file: &'static str, records: usize, sha256: &'static str) -> Split {
    Split { file, records, sha256: Some(sha256) }
}

/// What most entries share.
pub(super) const COMMON: DataSetEntry = DataSetEntry {
    format: Format::Own,
    name: "own",
    title: "Questions of one's own",
    paper: "",
    source: "",
    licence: "",
    shape: "",
    metric: Metric::Span(Profile::Squad),
    pool: Pool::Pooled,
    splits: &[],
    beside: None,
    keys: &["question", "answers|answer"],
    without: &[],
    table: false,
    read: own::item,
};
