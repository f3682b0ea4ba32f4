//! A query with what its tags add: terms for BM25, a direction for vectors, chunks for the graph.
use std::collections::HashMap;

use halma_core::Vector;

use super::TagIndex;
use super::index::NamedTag;

/// Tags that one text is expanded by; those far less sure than the surest are left out.
const MOST: usize = 8;
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
        match tags.iter_mut().find(|known| known.row == tag.row) {
            Some(known) if known.weight < tag.weight => *known = tag,
            Some(_) => {}
            None => tags.push(tag),
        }
    }
    tags.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.row.cmp(&b.row)));
    let most = tags.first().map_or(0.0, |tag| tag.weight);
    tags.retain(|tag| tag.weight >= most * LEAST_SHARE && index.tags.contains_key(&tag.row));
    tags.truncate(MOST);
    let held = index.stems(text);
    let mut terms: HashMap<String, f32> = HashMap::new();
    for tag in &tags {
        for stem in index.tags[&tag.row].difference(&held) {
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
    let most = tags.iter().map(|(weight, _)| *weight).fold(0.0, f32::max);
    let mut moved = vector.clone();
    for (weight, tag) in tags.iter().filter(|(_, tag)| tag.len() == vector.len()) {
        // Together they count for as much as the surest would alone.
        let share = by * most * weight / sum.max(f32::EPSILON);
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
