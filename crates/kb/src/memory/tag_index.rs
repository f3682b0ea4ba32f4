//! Everything that tags go by, and the words of questions that stand for them, looked up by stems
//! in the languages of the base.
use std::collections::{BTreeMap, BTreeSet, HashMap};

use halma_core::text::{count_name, is_cjk, normalise_name};
use halma_core::{Edge, Layer, Vector};

use crate::store::{QUESTION_CLASS, Row, StoreReader, TagRecord};
use crate::terms::Languages;

/// A name of a tag, or words of questions.
#[derive(Debug)]
struct Named {
    /// Each word by its stems in the languages of the base.
    words: Vec<Vec<String>>,
    /// Those of all words.
    stems: BTreeSet<String>,
    text: String,
    /// The name as it must stand in a text, where that is written without spaces.
    unspaced: Option<String>,
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
    languages: Languages,
}

impl TagIndex {
    pub(crate) fn load(reader: &StoreReader<'_>) -> heed::Result<Self> {
        let mut index = Self { languages: reader.languages()?, ..Self::default() };
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
                stems.extend(index.stems(name));
                index.add(name.clone(), vec![(row, 1.0)]);
            }
            index.tags.insert(row, stems);
        }
        Ok(index)
    }

    fn add(&mut self, text: String, tags: Vec<(Row, f32)>) {
        let words = self.languages.query_words(&text);
        let Some(first) = words.iter().min().cloned() else { return };
        for stem in first {
            self.by_stem.entry(stem).or_default().push(self.names.len());
        }
        let stems = words.iter().flatten().cloned().collect();
        let unspaced = text.chars().any(is_cjk).then(|| normalise_name(&text));
        self.names.push(Named { words, stems, text, unspaced, tags });
    }

    /// The stems of the words of a text, in all languages of the base.
    pub(crate) fn stems(&self, text: &str) -> BTreeSet<String> {
        self.languages.query_words(text).into_iter().flatten().collect()
    }

    /// The tags that a text names, by their own names or by words that were learned, the surest
    /// first. Where one name lies within another (`attack` in `heart attack`) only the longer counts.
    pub(crate) fn named_in(&self, text: &str) -> Vec<NamedTag> {
        let stems = self.stems(text);
        let form = normalise_name(text);
        let names: BTreeSet<usize> =
            stems.iter().filter_map(|stem| self.by_stem.get(stem)).flatten().copied().collect();
        let names = names.into_iter().map(|at| &self.names[at]);
        let names: Vec<&Named> = names.filter(|name| name.stands_in(&stems, &form)).collect();
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
        let (stems, form) = (self.stems(words), normalise_name(words));
        let names: BTreeSet<usize> =
            stems.iter().filter_map(|stem| self.by_stem.get(stem)).flatten().copied().collect();
        let names = names.into_iter().map(|at| &self.names[at]);
        let equal = |name: &&Named| {
            name.stems == stems && name.unspaced.as_ref().is_none_or(|unspaced| *unspaced == form)
        };
        best(names.filter(equal))
    }
}

impl Named {
    /// Whether a text with these stems, whose normalised form is `form`, has this name.
    fn stands_in(&self, stems: &BTreeSet<String>, form: &str) -> bool {
        let stands = |word: &Vec<String>| word.iter().any(|stem| stems.contains(stem));
        self.words.iter().all(stands)
            && self.unspaced.as_ref().is_none_or(|name| count_name(name, form) > 0)
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

/// Tags that one text is expanded by; those far less sure than the surest are left out.
const MAX_EXPANSION_TAGS: usize = 8;
const LEAST_SHARE: f32 = 0.25;

/// What the tags of one text add to it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expansion {
    /// The tags with how surely the text means them, the surest first.
    pub(crate) tags: Vec<NamedTag>,
    /// Stems of their names that the text does not have, each with its weight.
    pub(crate) terms: Vec<(String, f32)>,
}

/// Expands a text by tags that it names and by others that are near it.
pub(crate) fn expansion(index: &TagIndex, text: &str, near: Vec<NamedTag>) -> Expansion {
    let mut tags = index.named_in(text);
    for tag in near {
        match tags.iter_mut().find(|other| other.row == tag.row) {
            Some(other) if other.weight < tag.weight => *other = tag,
            Some(_) => {}
            None => tags.push(tag),
        }
    }
    tags.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.row.cmp(&b.row)));
    let highest = tags.first().map_or(0.0, |tag| tag.weight);
    tags.retain(|tag| tag.weight >= highest * LEAST_SHARE && index.tags.contains_key(&tag.row));
    tags.truncate(MAX_EXPANSION_TAGS);
    let stems = index.stems(text);
    let mut terms: HashMap<String, f32> = HashMap::new();
    for tag in &tags {
        for stem in index.tags[&tag.row].difference(&stems) {
            let weight = terms.entry(stem.clone()).or_default();
            *weight = weight.max(tag.weight);
        }
    }
    let mut terms: Vec<(String, f32)> = terms.into_iter().collect();
    terms.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Expansion { tags, terms }
}

/// A vector moved towards those of the tags, as a unit vector: `by` is what a tag that is named
/// outright counts for, next to the text itself.
pub(crate) fn moved(vector: &Vector, tags: &[(f32, Vector)], by: f32) -> Vector {
    let sum: f32 = tags.iter().map(|(weight, _)| weight).sum();
    let highest = tags.iter().map(|(weight, _)| *weight).fold(0.0, f32::max);
    let mut moved = vector.clone();
    for (weight, tag) in tags.iter().filter(|(_, tag)| tag.len() == vector.len()) {
        // Together they count for as much as the surest would alone.
        let share = by * highest * weight / sum.max(f32::EPSILON);
        moved.iter_mut().zip(tag).for_each(|(x, t)| *x += share * t);
    }
    let length = moved.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > f32::EPSILON {
        for x in &mut moved {
            *x /= length;
        }
    }
    moved
}
