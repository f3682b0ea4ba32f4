//! Everything that tags go by, and the words of questions that stand for them, looked up by stems.
use std::collections::{BTreeMap, BTreeSet, HashMap};

use halma_core::{Edge, Layer};

use crate::extract::QUESTION_CLASS;
use crate::lexical::query_terms;
use crate::store::{Row, StoreReader, TagRecord};

/// A name of a tag, or words of questions.
#[derive(Debug)]
struct Named {
    stems: BTreeSet<String>,
    text: String,
    /// What it stands for, and how surely: 1 for a tag's own name.
    tags: Vec<(Row, f32)>,
}

/// A tag that a text names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NamedTag {
    pub(crate) row: Row,
    /// 1 for a name of the tag itself, else how surely samples map the words to it.
    pub(crate) weight: f32,
    /// The words that stand for it.
    pub(crate) through: String,
}

/// The tags of one generation of a base.
#[derive(Debug, Default)]
pub(crate) struct TagIndex {
    names: Vec<Named>,
    /// Names by their first stem.
    by_stem: HashMap<String, Vec<usize>>,
    /// The tags of the corpus with the stems of all their names.
    pub(crate) tags: BTreeMap<Row, BTreeSet<String>>,
}

impl TagIndex {
    pub(crate) fn load(reader: &StoreReader<'_>) -> heed::Result<Self> {
        let mut index = Self::default();
        for node in reader.nodes::<TagRecord>()? {
            let (row, tag) = node?;
            if tag.class == QUESTION_CLASS {
                let links = reader.edges_from((Layer::Tag, row), Some(Edge::MapsTo))?;
                let tags = links.into_iter().map(|link| (link.to.1, link.weight)).collect();
                index.add(tag.name, tags);
                continue;
            }
            let mut stems = BTreeSet::new();
            for name in std::iter::once(&tag.name).chain(&tag.also) {
                stems.extend(query_terms(name));
                index.add(name.clone(), vec![(row, 1.0)]);
            }
            index.tags.insert(row, stems);
        }
        Ok(index)
    }

    fn add(&mut self, text: String, tags: Vec<(Row, f32)>) {
        let stems: BTreeSet<String> = query_terms(&text).into_iter().collect();
        if let Some(first) = stems.first() {
            self.by_stem.entry(first.clone()).or_default().push(self.names.len());
            self.names.push(Named { stems, text, tags });
        }
    }

    /// The tags that a text names, by their own names or by words that were learned, the surest
    /// first. Where one name lies within another (`attack` in `heart attack`) only the longer counts.
    pub(crate) fn named_in(&self, text: &str) -> Vec<NamedTag> {
        let held: BTreeSet<String> = query_terms(text).into_iter().collect();
        let names = held.iter().filter_map(|stem| self.by_stem.get(stem)).flatten();
        let names = names.map(|at| &self.names[*at]).filter(|name| name.stems.is_subset(&held));
        let names: Vec<&Named> = names.collect();
        let longest = |name: &&&Named| {
            let within = |other: &&Named| {
                other.stems.len() > name.stems.len() && name.stems.is_subset(&other.stems)
            };
            !names.iter().any(within)
        };
        best(names.iter().filter(longest).copied())
    }

    /// The tags that these words are a name of, or stand for.
    pub(crate) fn called(&self, words: &str) -> Vec<NamedTag> {
        let stems: BTreeSet<String> = query_terms(words).into_iter().collect();
        let names = stems.first().and_then(|first| self.by_stem.get(first));
        let names = names.into_iter().flatten().map(|at| &self.names[*at]);
        best(names.filter(|name| name.stems == stems))
    }
}

/// Each tag once, by the name that stands for it most surely.
fn best<'a>(names: impl Iterator<Item = &'a Named>) -> Vec<NamedTag> {
    let mut tags: BTreeMap<Row, NamedTag> = BTreeMap::new();
    for name in names {
        for (row, weight) in &name.tags {
            let through = || NamedTag { row: *row, weight: *weight, through: name.text.clone() };
            let tag = tags.entry(*row).or_insert_with(through);
            if *weight > tag.weight {
                *tag = through();
            }
        }
    }
    let mut tags: Vec<NamedTag> = tags.into_values().collect();
    tags.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.row.cmp(&b.row)));
    tags
}
