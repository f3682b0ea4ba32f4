//! Which property of a graph is meant by some words, and in which direction.
use std::sync::Arc;

use super::graph::Property;
use super::synonyms::{Sense, SynonymSide, Synonyms};
use super::words::Phrase;

/// The words are the property's own.
const SAME: f32 = 1.0;
/// Both name one relation of the list.
const SYNONYM: f32 = 0.95;
/// The same words in another form or order.
const SAME_STEMS: f32 = 0.9;
/// One describes the other's head more closely. Below it nothing counts: no answer is better than
/// one to another question.
const NARROWER: f32 = 0.7;

/// What fits worse than the best by more than this is not meant.
const SLACK: f32 = 0.1;

/// The kind of value that the words ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    Any,
    /// A point of time: `discovered` means the date of discovery.
    Time,
}

/// A property that the words may mean.
#[derive(Debug, Clone)]
pub(crate) struct PropertyMatch {
    pub(crate) property: Arc<Property>,
    /// Between 0 and 1.
    pub(crate) score: f32,
    pub(crate) side: SynonymSide,
}

/// The properties that these words mean, best first, those of one score by label.
pub(crate) fn meant(
    synonyms: &Synonyms,
    words: &str,
    properties: &[Arc<Property>],
    wanted: Expected,
) -> Vec<PropertyMatch> {
    let phrase = Phrase::new(words);
    if phrase.content.is_empty() {
        return vec![];
    }
    let relation = Relation { senses: synonyms.senses(&phrase), phrase: &phrase };
    let compare = |property: &Arc<Property>| {
        let (score, side) = compared(synonyms, &relation, property, wanted)?;
        Some(PropertyMatch { property: Arc::clone(property), score, side })
    };
    let mut matches: Vec<PropertyMatch> = properties.iter().filter_map(compare).collect();
    matches.sort_by(|a, b| {
        let by_score = b.score.total_cmp(&a.score);
        by_score
            .then_with(|| a.property.label().cmp(b.property.label()))
            .then_with(|| a.property.id.cmp(&b.property.id))
    });
    let least = matches.first().map_or(0.0, |best| best.score - SLACK);
    matches.retain(|meant| meant.score >= least);
    matches
}

/// The words that name a relation, with what they may mean.
struct Relation<'a> {
    phrase: &'a Phrase,
    senses: &'a [Sense],
}

fn compared(
    synonyms: &Synonyms,
    relation: &Relation<'_>,
    property: &Property,
    wanted: Expected,
) -> Option<(f32, SynonymSide)> {
    let Relation { phrase, senses } = relation;
    let label_senses: Vec<&[Sense]> =
        property.phrases.iter().map(|label| synonyms.senses(label)).collect();
    let pairs = property.phrases.iter().zip(&label_senses);
    let scored = pairs.filter_map(|(label, theirs)| {
        if label.all == phrase.all {
            let both = theirs.iter().any(|(_, side)| *side == SynonymSide::Both);
            return Some((SAME, if both { SynonymSide::Both } else { SynonymSide::Forward }));
        }
        if let Some(side) = shared(senses, theirs) {
            return Some((SYNONYM, side));
        }
        let (score, side) = alike(phrase, label, wanted)?;
        // Two phrases of which each is known to mean something else are not the same by chance.
        let apart = !senses.is_empty() && !theirs.is_empty() && wanted == Expected::Any;
        (!apart).then_some((score, side))
    });
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0).then(prefers(b.1).cmp(&prefers(a.1))))?;
    // What is known to be another relation by its other names does not become this one.
    let has_senses = label_senses.iter().any(|theirs| !theirs.is_empty());
    let elsewhere = has_senses && !senses.is_empty() && wanted == Expected::Any;
    (best.0 >= SYNONYM || !elsewhere).then_some(best)
}

/// Of two readings that fit equally well, the one from head to tail.
fn prefers(side: SynonymSide) -> u8 {
    match side {
        SynonymSide::Both => 0,
        SynonymSide::Forward => 1,
        SynonymSide::Backward => 2,
    }
}

/// How the words are read where both they and the property's name one relation.
fn shared(ours: &[Sense], theirs: &[Sense]) -> Option<SynonymSide> {
    let pairs = ours.iter().flat_map(|(line, side)| {
        theirs.iter().filter(move |(other, _)| other == line).map(move |(_, other)| (side, other))
    });
    let sides = pairs.map(|(our_side, their_side)| match (our_side, their_side) {
        (SynonymSide::Both, _) | (_, SynonymSide::Both) => SynonymSide::Both,
        (our_side, their_side) if our_side == their_side => SynonymSide::Forward,
        _ => SynonymSide::Backward,
    });
    sides.min_by_key(|side| prefers(*side))
}

fn alike(phrase: &Phrase, label: &Phrase, wanted: Expected) -> Option<(f32, SynonymSide)> {
    let side = if phrase.faces(label) { SynonymSide::Backward } else { SynonymSide::Forward };
    if phrase.content == label.content {
        return Some((SAME_STEMS, side));
    }
    if wanted == Expected::Time {
        let (phrase, label) = (phrase.timeless(), label.timeless());
        if !phrase.is_empty() && phrase == label {
            return Some((SAME_STEMS, SynonymSide::Forward));
        }
    }
    phrase.narrows(label).then_some((NARROWER, side))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph() -> Vec<Arc<Property>> {
        let of = |labels: &[&str]| {
            let labels: Vec<String> = labels.iter().map(|&label| label.to_owned()).collect();
            Arc::new(Property::new(labels[0].replace(' ', "_"), labels, String::new()))
        };
        vec![
            of(&["place of birth"]),
            of(&["date of birth"]),
            of(&["discovered by", "discoverer"]),
            of(&["date of discovery"]),
            of(&["child"]),
            of(&["capital"]),
            of(&["sibling"]),
            of(&["mean radius"]),
            of(&["population density"]),
            of(&["keeper of the light"]),
        ]
    }

    fn read(words: &str, wanted: Expected) -> Vec<(String, SynonymSide)> {
        let matches = meant(&Synonyms::new(), words, &graph(), wanted);
        matches.into_iter().map(|meant| (meant.property.label().to_owned(), meant.side)).collect()
    }

    fn one(words: &str) -> (String, SynonymSide) {
        let matches = read(words, Expected::Any);
        assert_eq!(matches.len(), 1, "{words}: {matches:?}");
        matches[0].clone()
    }

    #[test]
    fn words_mean_the_property_that_they_name_otherwise() {
        for (words, label, side) in [
            ("birthplace", "place of birth", SynonymSide::Forward),
            ("was born in", "place of birth", SynonymSide::Forward),
            ("birthday", "date of birth", SynonymSide::Forward),
            ("discovered", "discovered by", SynonymSide::Backward),
            ("found by", "discovered by", SynonymSide::Forward),
            ("capital of", "capital", SynonymSide::Backward),
            ("parents", "child", SynonymSide::Backward),
            ("sons", "child", SynonymSide::Forward),
            ("sister of", "sibling", SynonymSide::Both),
            ("radius", "mean radius", SynonymSide::Forward),
            ("light keeper", "keeper of the light", SynonymSide::Forward),
        ] {
            assert_eq!(one(words), (label.to_owned(), side), "{words}");
        }
    }

    #[test]
    fn what_means_nothing_here_finds_nothing() {
        for words in ["population", "date", "place", "favourite colour", "of the", "", "spouse"] {
            assert_eq!(read(words, Expected::Any), [], "{words}");
        }
    }

    #[test]
    fn a_point_of_time_is_told_from_who_and_where() {
        let matches = read("discovered", Expected::Time);
        assert!(matches.iter().any(|(label, _)| label == "date of discovery"), "{matches:?}");
        let born = read("born", Expected::Time);
        assert!(born.iter().any(|(label, _)| label == "date of birth"), "{born:?}");
    }
}
