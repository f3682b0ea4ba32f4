//! Tasks that collect sentences: `summarise` and `combine`.
pub(crate) mod combine;
pub(crate) mod summarise;

use std::collections::HashSet;

use halma_core::text::similarity::jaccard;

/// The share of common words from which two sentences count as one.
const SIMILAR: f32 = 0.6;

/// Whether two sentences, given by their stems, say the same.
fn are_similar(one: &HashSet<String>, other: &HashSet<String>) -> bool {
    jaccard(one, other) >= SIMILAR
}
