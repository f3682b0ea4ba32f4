//! How well an entity fits a name, and a description of it.
use std::collections::HashSet;

use halma_core::text::normalise_name;

use super::graph::Profile;
use super::words::stems;

/// An alias counts a little less than the label.
const ALIAS: f32 = 0.95;
/// What a name counts that has all words and others as well: the more others, the less.
const WORDS: f32 = 0.85;
/// A word that only a neighbour's label has counts half.
const AROUND: f32 = 0.5;

/// Between 0 and 1, by the best of the names.
pub(crate) fn closeness(name: &str, profile: &Profile) -> f32 {
    let wanted = normalise_name(name);
    let one = |label: &str| {
        let label = normalise_name(label);
        if label == wanted { 1.0 } else { WORDS * overlap(&wanted, &label) }
    };
    let aliases = profile.aliases.iter().map(|alias| ALIAS * one(alias));
    aliases.fold(one(&profile.label), f32::max)
}

/// Shared words over all words of the two.
fn overlap(a: &str, b: &str) -> f32 {
    let words = |text: &str| -> HashSet<String> {
        text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let (a, b) = (words(a), words(b));
    let both = a.intersection(&b).count();
    share(both, a.len() + b.len() - both)
}

#[expect(clippy::cast_precision_loss, reason = "names are short")]
fn share(part: usize, whole: usize) -> f32 {
    if whole == 0 { 0.0 } else { part as f32 / whole as f32 }
}

/// The share of the descriptor's words that occur in description, classes and names, those in the
/// labels of neighbours by half; 1 where the descriptor is the name of a class.
pub(crate) fn fit(descriptor: &str, profile: &Profile, around: &[String]) -> f32 {
    let wanted = stems(descriptor);
    if wanted.is_empty() {
        return 0.0;
    }
    let names = profile.classes.iter().flat_map(|class| &class.names);
    if names.clone().any(|name| stems(name) == wanted) {
        return 1.0;
    }
    let texts = names.chain([&profile.description, &profile.label]).chain(&profile.aliases);
    let words: HashSet<String> = texts.flat_map(|text| stems(text)).collect();
    let around: HashSet<String> = around.iter().flat_map(|text| stems(text)).collect();
    let worth = |word: &String| match word {
        word if words.contains(word) => 1.0,
        word if around.contains(word) => AROUND,
        _ => 0.0,
    };
    let sum: f32 = wanted.iter().map(worth).sum();
    #[expect(clippy::cast_precision_loss, reason = "descriptors are short")]
    let all = wanted.len() as f32;
    // A little less than a class of that name.
    0.95 * sum / all
}
