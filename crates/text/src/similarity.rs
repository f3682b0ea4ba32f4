//! How alike two strings, two sets of words or two vectors are.
use std::collections::HashSet;
use std::hash::{BuildHasher, Hash};

/// The number of characters to insert, delete or replace to get from one string to the other
/// (Levenshtein).
pub fn edit_distance(one: &str, other: &str) -> usize {
    strsim::levenshtein(one, other)
}

/// Pairs of neighbouring letters that both strings have, as a share of all, between 0 and 1 (Dice).
pub fn letter_pairs(one: &str, other: &str) -> f64 {
    strsim::sorensen_dice(one, other)
}

/// Common elements as a share of all, between 0 and 1 (Jaccard); 0 for two empty sets.
pub fn jaccard<T: Eq + Hash, S: BuildHasher>(one: &HashSet<T, S>, other: &HashSet<T, S>) -> f32 {
    let common = one.intersection(other).count();
    ratio(common, one.len() + other.len() - common)
}

/// Common elements as a share of the smaller set, between 0 and 1; 0 where one is empty.
pub fn overlap<T: Eq + Hash, S: BuildHasher>(one: &HashSet<T, S>, other: &HashSet<T, S>) -> f32 {
    ratio(one.intersection(other).count(), one.len().min(other.len()))
}

/// The scalar product, which is the cosine of vectors of unit length.
pub fn cosine(one: &[f32], other: &[f32]) -> f64 {
    one.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

#[expect(clippy::cast_precision_loss, reason = "sets of words stay far below 2^24")]
fn ratio(part: usize, total: usize) -> f32 {
    if total == 0 { 0.0 } else { part as f32 / total as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_compared_by_what_they_share() {
        let set = |text: &'static str| text.split(' ').collect::<HashSet<&str>>();
        assert!((jaccard(&set("a b c"), &set("b c d")) - 0.5).abs() < 1e-6);
        assert!((overlap(&set("a b c"), &set("c")) - 1.0).abs() < 1e-6);
        assert!(overlap(&HashSet::<&str>::new(), &set("a")).abs() < 1e-6);
    }

    #[test]
    fn strings_and_vectors_are_compared() {
        assert_eq!(edit_distance("maker", "makr"), 1);
        assert!((cosine(&[0.6, 0.8], &[0.6, 0.8]) - 1.0).abs() < 1e-6);
    }
}
