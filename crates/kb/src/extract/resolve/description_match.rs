//! Whether two descriptions may be of one thing: what speaks for it, what against.
use std::collections::BTreeSet;

use crate::terms::query_terms;
use halma_core::text::words;

/// What something is, coarsely; free words of a model are put into these.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum EntityKind {
    #[default]
    Unknown,
    Person,
    Organisation,
    Place,
    Work,
    Event,
    Concept,
    Date,
    Quantity,
}

impl EntityKind {
    pub(crate) fn parse(word: &str) -> Self {
        let said = words(word);
        let has = |list: &[&str]| {
            said.iter().any(|word| list.iter().any(|prefix| word.starts_with(prefix)))
        };
        if has(&["person", "people", "human", "artist", "author", "actor", "politician", "athlete"])
        {
            Self::Person
        } else if has(&[
            "organi",
            "company",
            "agency",
            "institution",
            "team",
            "band",
            "party",
            "club",
        ]) {
            Self::Organisation
        } else if has(&[
            "place", "location", "city", "country", "geo", "region", "river", "building",
        ]) {
            Self::Place
        } else if has(&["work", "book", "film", "movie", "song", "album", "product", "publication"])
        {
            Self::Work
        } else if has(&["event", "war", "battle", "award", "election"]) {
            Self::Event
        } else if has(&["date", "time", "year", "period"]) {
            Self::Date
        } else if has(&["quantity", "number", "amount", "money", "percent", "duration"]) {
            Self::Quantity
        } else if has(&["concept", "term", "method", "disease", "substance", "law"]) {
            Self::Concept
        } else {
            Self::Unknown
        }
    }

    /// Whether one thing may be called both. Models often confuse what is a place and who is
    /// there, and what is a work and a concept.
    pub(crate) fn fits(self, other: Self) -> bool {
        let pair = (self.min(other), self.max(other));
        pair.0 == pair.1
            || pair.0 == Self::Unknown
            || matches!(
                pair,
                (Self::Organisation, Self::Place | Self::Concept)
                    | (Self::Work, Self::Event | Self::Concept)
                    | (Self::Place | Self::Event, Self::Concept)
                    | (Self::Date, Self::Quantity)
            )
    }

    /// Things whose name says all: there is one 1963 only.
    fn named_fully(self) -> bool {
        matches!(self, Self::Date | Self::Quantity)
    }

    /// Things that rarely share a name with others of their kind in one library.
    fn rarely_shared(self) -> bool {
        matches!(self, Self::Place | Self::Event | Self::Concept)
    }
}

/// A description, read once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Described {
    /// Stems of its words, without those of the name.
    stems: BTreeSet<String>,
    /// Names in it.
    names: BTreeSet<String>,
    /// Years of birth.
    born: BTreeSet<String>,
}

impl Described {
    pub(crate) fn new(name: &str, description: &str) -> Self {
        // Most names come without a description; making terms of nothing costs something.
        if description.trim().is_empty() {
            return Self::default();
        }
        let of_name: BTreeSet<String> = query_terms(name).into_iter().collect();
        let stems = query_terms(description).into_iter().filter(|stem| !of_name.contains(stem));
        let mut names = BTreeSet::new();
        for (i, word) in description.split_whitespace().enumerate() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            if i > 0 && bare.chars().next().is_some_and(char::is_uppercase) {
                names.extend(query_terms(bare).into_iter().filter(|stem| !of_name.contains(stem)));
            }
        }
        Self { stems: stems.collect(), names, born: born(description) }
    }

    pub(crate) fn stems(&self) -> impl Iterator<Item = &str> {
        self.stems.iter().map(String::as_str)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.stems.is_empty()
    }
}

/// Years that stand right after "born" or after a bracket with a span of years.
fn born(description: &str) -> BTreeSet<String> {
    let words = words(description);
    let year = |word: &&String| word.len() == 4 && word.chars().all(|c| c.is_ascii_digit());
    let mut years = BTreeSet::new();
    for (i, word) in words.iter().enumerate() {
        if word == "born" {
            years.extend(words[i + 1..].iter().take(5).find(year).cloned());
        }
    }
    if let Some((_, bracket)) = description.split_once('(') {
        let inner: Vec<&str> = bracket.split(')').next().unwrap_or("").split(['-', '–']).collect();
        if let [from, _to] = inner.as_slice() {
            let from = halma_core::text::words(from);
            years.extend(from.iter().find(year).cloned());
        }
    }
    years
}

/// What two descriptions say about each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Agreement {
    /// They share what they say, by this much in `[0, 1]`.
    Same(f32),
    /// One of them says nothing.
    Unknown,
    /// They say different things, which may both be true.
    Unclear,
    /// They contradict each other.
    Apart,
}

/// Compares what two things of these kinds are said to be.
pub(crate) fn agreement(one: (EntityKind, &Described), two: (EntityKind, &Described)) -> Agreement {
    if !one.0.fits(two.0) {
        return Agreement::Apart;
    }
    if one.0.named_fully() && two.0.named_fully() {
        return Agreement::Unknown;
    }
    let (a, b) = (one.1, two.1);
    if !a.born.is_empty() && !b.born.is_empty() && a.born.is_disjoint(&b.born) {
        return Agreement::Apart;
    }
    if a.is_empty() || b.is_empty() {
        return Agreement::Unknown;
    }
    let shared = a.stems.intersection(&b.stems).count();
    let least = a.stems.len().min(b.stems.len());
    #[expect(clippy::cast_precision_loss, reason = "descriptions have few words")]
    let share = shared as f32 / least as f32;
    // One shared word is chance: namesakes are often of one country or trade.
    if shared == least && (shared > 1 || a.stems == b.stems) || shared > 1 && share >= 0.3 {
        return Agreement::Same(share);
    }
    let names_clash = !a.names.is_empty() && !b.names.is_empty() && a.names.is_disjoint(&b.names);
    if one.0.rarely_shared() && two.0.rarely_shared() && !names_clash {
        return Agreement::Unknown;
    }
    Agreement::Unclear
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(kinds: (&str, &str), one: &str, two: &str) -> Agreement {
        let described = |text: &str| Described::new("John Smith", text);
        let (one, two) = (described(one), described(two));
        agreement((EntityKind::parse(kinds.0), &one), (EntityKind::parse(kinds.1), &two))
    }

    #[test]
    fn what_is_said_alike_agrees_and_namesakes_do_not() {
        let person = ("person", "person");
        let agree = compare(
            person,
            "John Smith is an English footballer who played for Leeds.",
            "A footballer who played for Leeds United in England.",
        );
        assert!(matches!(agree, Agreement::Same(share) if share > 0.5), "{agree:?}");
        let unclear = compare(person, "An English footballer.", "An English politician.");
        assert_eq!(unclear, Agreement::Unclear);
        assert_eq!(compare(person, "A footballer.", ""), Agreement::Unknown);
        assert_eq!(compare(("person", "place"), "", ""), Agreement::Apart);
        let (one, two) = ("A footballer (1950 – 2001).", "A footballer of Leeds, born in 1978.");
        assert_eq!(compare(person, one, two), Agreement::Apart);
    }

    #[test]
    fn places_are_told_apart_by_the_names_in_their_descriptions() {
        let place = ("place", "city");
        assert_eq!(compare(place, "A large town.", "Where he was born."), Agreement::Unknown);
        let clash = compare(place, "A city in Illinois.", "A city in Missouri.");
        assert_eq!(clash, Agreement::Unclear);
    }

    #[test]
    fn free_words_find_their_kind() {
        for (word, kind) in [
            ("PERSON", EntityKind::Person),
            ("Organization", EntityKind::Organisation),
            ("film", EntityKind::Work),
            ("drug", EntityKind::Unknown),
            ("", EntityKind::Unknown),
        ] {
            assert_eq!(EntityKind::parse(word), kind, "{word}");
        }
    }
}
