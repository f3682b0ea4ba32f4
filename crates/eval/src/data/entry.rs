//! What is known about each data set: the files of `data_sets/`, in the order of their names.
//! `halma data`, the reference page, the loader and the choice of metrics all read it.
use std::collections::BTreeSet;
use std::sync::LazyLock;

use include_dir::{Dir, include_dir};
use serde::Deserialize;

use super::companion::Companion;
use super::format::Format;
use super::readers::{self, Mapping, ReadItem};
use crate::metrics::Metric;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/data_sets");

static ENTRIES: LazyLock<Vec<DataSetEntry>> = LazyLock::new(|| {
    let mut files: Vec<_> = FILES.files().collect();
    files.sort_by_key(|file| file.path());
    let entry = |file: &&include_dir::File<'_>| {
        let text = file.contents_utf8().expect("the shipped files are text");
        toml::from_str(text).unwrap_or_else(|error| panic!("{}: {error}", file.path().display()))
    };
    files.iter().map(entry).collect()
});

/// What is known about one data set.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSetEntry {
    /// The name on the command line.
    pub name: String,
    /// The name its authors gave it.
    pub title: String,
    /// The paper that describes it.
    #[serde(default)]
    pub paper: String,
    /// Where its authors publish the files.
    pub source: String,
    /// As publicly stated.
    pub licence: String,
    /// What a file looks like.
    pub shape: String,
    /// How an answer is scored when no model judges it.
    pub metric: Metric,
    /// What a base for the set is made of.
    pub searched: Pool,
    /// The files with answers, as published.
    #[serde(default)]
    pub files: Vec<PublishedFile>,
    /// A file that is read too where it lies in the same folder.
    #[serde(default)]
    pub companion: Option<Companion>,
    /// Keys that every record has; `a|b` is either.
    pub(super) keys: Vec<String>,
    /// Keys of other sets that share the rest.
    #[serde(default)]
    pub(super) without: Vec<String>,
    /// Lines of cells separated by tabs, named by the first line.
    #[serde(default)]
    pub(super) table: bool,
    /// The reader in code ([`readers::READERS`]) that makes items of its records.
    #[serde(default)]
    pub(super) reader: Option<String>,
    /// Where no code is needed: how the fields of a record make an item.
    #[serde(default)]
    pub(super) record: Option<Mapping>,
}

/// What a base for the set is made of.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pool {
    /// The passages of all questions together.
    Pooled,
    /// Each question's own passages: those of the others would answer what is unanswerable.
    EachAlone,
    /// A corpus that is published next to the questions; the text says where.
    Corpus(String),
    /// Nothing: the question holds what is needed.
    Nothing,
}

/// One published file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedFile {
    /// Its name as published.
    pub file: String,
    /// The records in it.
    pub records: usize,
    /// SHA-256 in hexadecimal digits, where we have computed it from the published file.
    #[serde(default)]
    pub sha256: Option<String>,
}

/// All data sets, in the order of the reference.
pub fn entries() -> &'static [DataSetEntry] {
    &ENTRIES
}

impl DataSetEntry {
    pub fn format(&'static self) -> Format {
        Format::new(self)
    }

    pub(super) fn reader(&self) -> ReadItem<'_> {
        if let Some(mapping) = &self.record {
            return ReadItem::Mapping(mapping);
        }
        let named = |(name, _): &&(&str, _)| Some(*name) == self.reader.as_deref();
        let reader = readers::READERS.iter().find(named);
        ReadItem::Code(reader.expect("a test reads a file of every format").1)
    }

    /// Whether a record with these keys can be of this format.
    pub(super) fn fits(&self, keys: &BTreeSet<String>) -> bool {
        let has = |key: &String| key.split('|').any(|key| keys.contains(key));
        self.keys.iter().all(has) && !self.without.iter().any(has)
    }

    /// Its keys for a sentence: "`id`, `question`, `answers` or `answer`".
    pub(super) fn shape_in_words(&self) -> String {
        let key = |key: &String| format!("`{}`", key.replace('|', "` or `"));
        self.keys.iter().map(key).collect::<Vec<_>>().join(", ")
    }
}
