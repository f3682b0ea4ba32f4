//! Whether two sentences say the same, by their words.
use std::collections::HashSet;

/// The share of words in common above which two sentences are one.
const ALIKE: f32 = 0.6;

pub(super) fn alike(a: &HashSet<String>, b: &HashSet<String>) -> bool {
    overlap(a, b) >= ALIKE
}

/// Common words as a share of all.
pub(super) fn overlap(a: &HashSet<String>, b: &HashSet<String>) -> f32 {
    let all = a.union(b).count().max(1);
    #[expect(clippy::cast_precision_loss, reason = "a sentence has few words")]
    let share = a.intersection(b).count() as f32 / all as f32;
    share
}
