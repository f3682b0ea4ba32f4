//! How much each word weighs, estimated over the texts at hand.
use std::collections::{HashMap, HashSet};

use crate::lexicon::Lexicon;
use crate::words::{Sentence, Shape};

/// Names and numbers tell more than other words of the same rarity.
const NAME_BONUS: f32 = 1.5;

/// Inverse document frequencies over a handful of texts.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    texts: f32,
    holding: HashMap<String, f32>,
}

impl Weights {
    pub(crate) fn over<'a>(texts: impl Iterator<Item = &'a str>, lexicon: &Lexicon) -> Self {
        let mut weights = Self::default();
        for text in texts {
            weights.texts += 1.0;
            for stem in lexicon.content(text).into_iter().collect::<HashSet<_>>() {
                *weights.holding.entry(stem).or_default() += 1.0;
            }
        }
        weights
    }

    pub(crate) fn of(&self, stem: &str) -> f32 {
        let holding = self.holding.get(stem).copied().unwrap_or_default();
        ((self.texts + 1.0) / (holding + 0.5)).ln().max(0.1)
    }
}

/// The words a question is about, each with its weight, in order and without repeats.
pub(crate) fn mass(question: &Sentence, weights: &Weights) -> Vec<(String, f32)> {
    let mut seen = HashSet::new();
    let mut mass = vec![];
    for (i, word) in question.words.iter().enumerate() {
        if word.stop || !seen.insert(word.stem.clone()) {
            continue;
        }
        let named = word.shape == Shape::Digit || (word.shape == Shape::Capital && i > 0);
        let bonus = if named { NAME_BONUS } else { 1.0 };
        mass.push((word.stem.clone(), bonus * weights.of(&word.stem)));
    }
    mass
}

/// The share of the mass that `held` covers, in `[0, 1]`.
pub(crate) fn covered(mass: &[(String, f32)], stems: &HashSet<String>) -> f32 {
    let all: f32 = mass.iter().map(|(_, weight)| weight).sum();
    if all <= 0.0 {
        return 0.0;
    }
    mass.iter().filter(|(stem, _)| stems.contains(stem)).map(|(_, weight)| weight).sum::<f32>()
        / all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_and_names_weigh_more() {
        let lexicon = Lexicon::new();
        let texts = ["the mill is old", "the mill burnt", "the mill of Brandt"];
        let weights = Weights::over(texts.into_iter(), &lexicon);
        let question = Sentence::new("Who owned the mill of Brandt, the mill?", &lexicon);
        let mass = mass(&question, &weights);
        let stems: Vec<&str> = mass.iter().map(|(stem, _)| stem.as_str()).collect();
        assert_eq!(stems, ["own", "mill", "brandt"]);
        assert!(mass[2].1 > mass[1].1);
        let stems = HashSet::from(["brandt".to_owned()]);
        assert!(covered(&mass, &stems) > 0.3);
    }
}
