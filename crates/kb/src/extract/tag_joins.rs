//! Which spellings are one tag: those with the same stems, and within a class those of which one is
//! another name of the other.
use std::collections::{BTreeMap, HashMap};

use halma_core::text::cjk_runs;

use crate::store::{ChunkTag, Id, hash};
use crate::terms::{form, query_terms};

/// A class, and what the spellings of a tag have in common.
type TagKey = (String, String);

/// A tag with everything that it is called.
#[derive(Debug, Default)]
pub(crate) struct JoinedTag {
    pub(crate) class: String,
    pub(crate) keys: Vec<String>,
    /// The most frequent spelling.
    pub(crate) name: String,
    /// The other names, each in one spelling.
    pub(crate) also: Vec<String>,
}

/// What tags that are one have in common: the stems of their words in any order. What is written
/// without spaces counts as one word, since the order of its characters says what it is.
pub(crate) fn tag_key(tag: &str) -> String {
    let (mut stems, mut rest, mut from) = (vec![], String::new(), 0);
    for run in cjk_runs(tag) {
        rest.push_str(&tag[from..run.start]);
        rest.push(' ');
        from = run.end;
        stems.push(tag[run].to_owned());
    }
    rest.push_str(&tag[from..]);
    let has_words = rest.chars().any(char::is_alphanumeric);
    stems.extend(query_terms(&rest).into_iter().filter(|_| has_words));
    stems.sort();
    if stems.is_empty() { form(tag) } else { stems.join(" ") }
}

pub(crate) fn tag_id(class: &str, key: &str) -> Id {
    hash(&[class.as_bytes(), key.as_bytes()])
}

#[derive(Default)]
struct Spellings {
    written: BTreeMap<String, usize>,
    also: BTreeMap<String, usize>,
}

impl Spellings {
    fn count(&self) -> usize {
        self.written.values().sum()
    }
}

/// Counts the tags of all texts, then joins those that are one.
#[derive(Default)]
pub(crate) struct TagJoiner {
    spelled: BTreeMap<TagKey, Spellings>,
}

impl TagJoiner {
    pub(crate) fn add(&mut self, tag: &ChunkTag) {
        let key = (tag.class.clone(), tag_key(&tag.name));
        let spellings = self.spelled.entry(key).or_default();
        *spellings.written.entry(tag.name.clone()).or_default() += 1;
        for name in &tag.also {
            *spellings.also.entry(name.clone()).or_default() += 1;
        }
    }

    /// The tags, in the order of their classes and keys.
    pub(crate) fn joined(self) -> Vec<JoinedTag> {
        let keys: Vec<&TagKey> = self.spelled.keys().collect();
        let mut sets = DisjointSets::new(keys.len());
        for (one, two) in self.same(&keys) {
            sets.join(one, two);
        }
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in 0..keys.len() {
            groups.entry(sets.find(at)).or_default().push(at);
        }
        let spellings: Vec<&Spellings> = self.spelled.values().collect();
        let joined = groups.into_values().map(|mut group| {
            // The most frequent comes first and gives the name.
            group.sort_by_key(|at| (std::cmp::Reverse(spellings[*at].count()), *at));
            let mut joined = JoinedTag { class: keys[group[0]].0.clone(), ..JoinedTag::default() };
            let mut names: Vec<(String, String)> = vec![];
            for at in &group {
                joined.keys.push(keys[*at].1.clone());
                names.extend(commonest_spelling(&spellings[*at].written).map(|n| (tag_key(&n), n)));
            }
            for at in &group {
                names.extend(spellings[*at].also.keys().map(|name| (tag_key(name), name.clone())));
            }
            let mut seen: Vec<String> = vec![];
            for (key, name) in names {
                if !seen.contains(&key) {
                    seen.push(key);
                    joined.also.push(name);
                }
            }
            joined.name = joined.also.remove(0);
            joined
        });
        joined.collect()
    }

    /// Pairs of tags of a class of which one is another name of the other. A name that several tags
    /// go by, as an abbreviation may be, says nothing about which of them is meant.
    fn same(&self, keys: &[&TagKey]) -> Vec<(usize, usize)> {
        let places: HashMap<&TagKey, usize> =
            keys.iter().enumerate().map(|(at, key)| (*key, at)).collect();
        let mut called: BTreeMap<TagKey, Vec<usize>> = BTreeMap::new();
        for (at, ((class, own_key), spellings)) in self.spelled.iter().enumerate() {
            for name in spellings.also.keys() {
                let key = tag_key(name);
                let tags = called.entry((class.clone(), key.clone())).or_default();
                if key != *own_key && !tags.contains(&at) {
                    tags.push(at);
                }
            }
        }
        let mut pairs = vec![];
        for (key, tags) in &called {
            if let ([one], Some(two)) = (tags.as_slice(), places.get(key)) {
                pairs.push((*one, *two));
            }
        }
        pairs
    }
}

fn commonest_spelling(written: &BTreeMap<String, usize>) -> Option<String> {
    let best = written.iter().max_by_key(|(name, count)| (**count, std::cmp::Reverse(*name)));
    best.map(|(name, _)| name.clone())
}

struct DisjointSets(Vec<usize>);

impl DisjointSets {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn find(&mut self, at: usize) -> usize {
        let mut root = at;
        while self.0[root] != root {
            root = self.0[root];
        }
        self.0[at] = root;
        root
    }

    fn join(&mut self, one: usize, two: usize) {
        let (one, two) = (self.find(one), self.find(two));
        self.0[one.max(two)] = one.min(two);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(tags: &[(&str, &str, &[&str])]) -> Vec<String> {
        let mut joiner = TagJoiner::default();
        for (class, name, also) in tags {
            let also = also.iter().map(ToString::to_string).collect();
            let tag = ChunkTag { class: (*class).to_owned(), name: (*name).to_owned(), also };
            joiner.add(&tag);
        }
        let line =
            |tag: JoinedTag| format!("{}: {} [{}]", tag.class, tag.name, tag.also.join(", "));
        joiner.joined().into_iter().map(line).collect()
    }

    #[test]
    fn other_names_join_tags_of_one_class() {
        let lines = joined(&[
            ("disease", "myocardial infarction", &["heart attack"]),
            ("disease", "Myocardial infarctions", &[]),
            ("disease", "MI", &["myocardial infarction"]),
            ("drug", "MI", &[]),
        ]);
        assert_eq!(lines, ["disease: Myocardial infarctions [MI, heart attack]", "drug: MI []"]);
    }

    #[test]
    fn words_of_the_same_characters_are_two_tags() {
        assert_ne!(tag_key("故事"), tag_key("事故"));
        assert_eq!(tag_key("心脏病 heart attacks"), tag_key("Attack heart 心脏病"));
        let lines = joined(&[("类", "故事", &[]), ("类", "事故", &[]), ("类", "故事", &[])]);
        assert_eq!(lines, ["类: 事故 []", "类: 故事 []"]);
    }

    #[test]
    fn a_name_that_two_tags_go_by_joins_neither() {
        let lines = joined(&[
            ("disease", "myocardial infarction", &["MI"]),
            ("disease", "mitral insufficiency", &["MI"]),
            ("disease", "MI", &[]),
        ]);
        assert_eq!(lines.len(), 3, "{lines:?}");
    }
}
