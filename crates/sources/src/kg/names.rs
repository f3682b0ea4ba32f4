//! An index of the names of entities, by whole name and by word.
use std::collections::HashMap;

use halma_core::text::normalise_name;

use super::graph::Near;

/// Words of more names than this are not followed where the name has rarer ones.
const COMMON: usize = 20_000;

/// Entities by number, as the store counts them.
pub(crate) type Number = u32;

/// Labels and aliases, normalised.
#[derive(Debug, Default)]
pub(crate) struct Names {
    all: Vec<(Number, Box<str>)>,
    whole: HashMap<Box<str>, Vec<u32>>,
    words: HashMap<Box<str>, Vec<u32>>,
}

impl Names {
    pub(crate) fn add(&mut self, entity: Number, name: &str) {
        let name = normalise_name(name);
        let Ok(place) = u32::try_from(self.all.len()) else { return };
        if name.is_empty() {
            return;
        }
        let same = self.whole.entry(name.as_str().into()).or_default();
        if same.iter().any(|&other| self.all[other as usize].0 == entity) {
            return;
        }
        same.push(place);
        for word in name.split(' ') {
            let places = match self.words.get_mut(word) {
                Some(places) => places,
                None => self.words.entry(word.into()).or_default(),
            };
            if places.last() != Some(&place) {
                places.push(place);
            }
        }
        self.all.push((entity, name.into()));
    }

    /// Entities with such a name, those first whose names have the fewest other words, then by number.
    pub(crate) fn named(&self, name: &str, near: Near, limit: usize) -> Vec<Number> {
        let name = normalise_name(name);
        let places: Vec<(usize, u32)> = match near {
            Near::Same => {
                let same = self.whole.get(name.as_str()).into_iter().flatten();
                same.map(|&place| (0, place)).collect()
            }
            Near::AllWords => self.holding(&name, usize::MAX),
            Near::MostWords => {
                let words = name.split(' ').count();
                self.holding(&name, words / 2 + 1)
            }
        };
        let mut ranked: Vec<(usize, Number)> =
            places.into_iter().map(|(over, place)| (over, self.all[place as usize].0)).collect();
        ranked.sort_unstable();
        let mut seen = std::collections::HashSet::new();
        let numbers = ranked.into_iter().map(|(_, entity)| entity);
        numbers.filter(|entity| seen.insert(*entity)).take(limit).collect()
    }

    /// Names that have at least `least` of the words (all, if there are fewer), with the number of
    /// words that are missing or left over.
    fn holding(&self, name: &str, least: usize) -> Vec<(usize, u32)> {
        let mut words: Vec<&str> = name.split(' ').filter(|word| !word.is_empty()).collect();
        words.sort_unstable();
        words.dedup();
        let least = least.min(words.len());
        let mut lists: Vec<&[u32]> =
            words.iter().map(|word| self.words.get(*word).map_or(&[][..], Vec::as_slice)).collect();
        lists.sort_by_key(|list| list.len());
        if least == 0 {
            return vec![];
        }
        // A name that has `least` of the words is in one of the `n - least + 1` shortest lists.
        let leading = lists.len() - least + 1;
        let rare = lists.iter().any(|list| !list.is_empty() && list.len() <= COMMON);
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for (at, list) in lists.iter().enumerate() {
            if at < leading && !(rare && list.len() > COMMON) {
                for &place in *list {
                    *counts.entry(place).or_default() += 1;
                }
            } else {
                let is_listed = |place: &u32| list.binary_search(place).is_ok();
                counts.iter_mut().filter(|(place, _)| is_listed(place)).for_each(|(_, n)| *n += 1);
            }
        }
        let enough = counts.into_iter().filter(|(_, count)| *count >= least);
        let all = words.len();
        enough
            .map(|(place, count)| {
                let words = self.all[place as usize].1.split(' ').count();
                (all.saturating_sub(count) * 2 + words.saturating_sub(count), place)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_whole_and_by_their_words() {
        let mut names = Names::default();
        for (entity, name) in [
            (1, "Göttingen"),
            (2, "Michael Jordan"),
            (3, "Michael I. Jordan"),
            (4, "Michael B. Jordan"),
            (5, "The Jordan"),
            (2, "MJ"),
        ] {
            names.add(entity, name);
        }
        assert_eq!(names.named("Gottingen", Near::Same, 9), [1]);
        assert_eq!(names.named("michael jordan", Near::Same, 9), [2]);
        assert_eq!(names.named("Jordan, Michael", Near::AllWords, 9), [2, 3, 4]);
        assert_eq!(names.named("Michael Jordan", Near::AllWords, 1), [2]);
        assert_eq!(names.named("Michael Jordan Smith", Near::MostWords, 9), [2, 3, 4]);
        assert_eq!(names.named("Smith", Near::AllWords, 9), Vec::<Number>::new());
        assert_eq!(names.named("", Near::MostWords, 9), Vec::<Number>::new());
    }
}
