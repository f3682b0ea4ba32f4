//! Chunks that end where the subject changes: at the valleys of the similarity between what stands
//! before a place and what stands after it (the idea of Hearst's `TextTiling`, 1997, with vectors
//! for word counts).
use std::ops::Range;

use halma_core::{EmbedRole, Embedder};

use super::pieces::is_longer;
use crate::KbError;
use crate::vectors::{cosine, embed_texts};

/// Units on either side of a place that are compared.
const SIDE: usize = 3;

/// A chunk has at least a fifth of the characters it may have, as far as its surroundings allow.
const LEAST_SHARE: usize = 5;

/// Joins units into chunks of at most `limit` characters.
pub(super) async fn pieces(
    text: &str,
    units: Vec<Range<usize>>,
    limit: usize,
    embedder: &dyn Embedder,
) -> Result<Vec<Range<usize>>, KbError> {
    let (Some(first), Some(last)) = (units.first(), units.last()) else { return Ok(vec![]) };
    let whole = first.start..last.end;
    let enough = limit / LEAST_SHARE;
    if units.len() < 2 || !is_longer(&text[whole.clone()], enough * 2) {
        return Ok(vec![whole]);
    }
    let depths = depths(&similarities(text, &units, embedder).await?);
    let lengths: Vec<usize> = units.iter().map(|unit| text[unit.clone()].chars().count()).collect();
    let cuts = cuts(&lengths, &depths, enough, limit);
    let mut pieces = vec![];
    let mut from = 0;
    for to in cuts.into_iter().chain([units.len()]) {
        pieces.push(units[from].start..units[to - 1].end);
        from = to;
    }
    Ok(pieces)
}

/// For each place between two units: the cosine of the units before it and those after it.
async fn similarities(
    text: &str,
    units: &[Range<usize>],
    embedder: &dyn Embedder,
) -> Result<Vec<f32>, KbError> {
    // Windows that begin at each unit; the one that ends before a place began `SIDE` units ago.
    let window = |at: usize| {
        let end = (at + SIDE).min(units.len());
        &text[units[at].start..units[end - 1].end]
    };
    let texts: Vec<&str> = (0..units.len()).map(window).collect();
    let vectors = embed_texts(embedder, &texts, EmbedRole::Passage).await?;
    Ok((1..units.len()).map(|at| cosine(&vectors[at.saturating_sub(SIDE)], &vectors[at])).collect())
}

/// How deep the valley at each place is: how far the similarity rises on both sides of it.
fn depths(similarities: &[f32]) -> Vec<f32> {
    // The summit that is reached when one goes up from each place in order.
    let summits = |values: &mut dyn Iterator<Item = f32>| {
        let (mut summit, mut last) = (f32::MIN, f32::MIN);
        let climb = |value: f32| {
            // A new rise begins where the values no longer fall towards this place.
            summit = if value > last { value } else { summit };
            last = value;
            summit
        };
        values.map(climb).collect::<Vec<f32>>()
    };
    let left = summits(&mut similarities.iter().copied());
    let mut right = summits(&mut similarities.iter().rev().copied());
    right.reverse();
    let depth = |i: usize| (left[i] - similarities[i]) + (right[i] - similarities[i]);
    (0..similarities.len()).map(depth).collect()
}

/// The units at which chunks begin, without the first: at the deepest valleys, as long as nothing
/// gets shorter than `enough`, and wherever else it takes to keep the limit.
#[expect(clippy::cast_precision_loss, reason = "a mean over units of a text")]
fn cuts(lengths: &[usize], depths: &[f32], enough: usize, limit: usize) -> Vec<usize> {
    let count = depths.len().max(1) as f32;
    let mean = depths.iter().sum::<f32>() / count;
    let spread = (depths.iter().map(|d| (d - mean).powi(2)).sum::<f32>() / count).sqrt();
    let mut starts = vec![0];
    for length in lengths {
        starts.push(starts[starts.len() - 1] + length);
    }
    let mut order: Vec<usize> = (0..depths.len()).collect();
    order.sort_by(|a, b| depths[*b].total_cmp(&depths[*a]).then(a.cmp(b)));
    let mut cuts = std::collections::BTreeSet::from([0, lengths.len()]);
    let around = |cuts: &std::collections::BTreeSet<usize>, at: usize| {
        let before = cuts.range(..=at).next_back().copied().unwrap_or(0);
        (before, cuts.range(at + 1..).next().copied().unwrap_or(lengths.len()))
    };
    for place in order {
        let at = place + 1;
        let (before, after) = around(&cuts, at);
        let fits = starts[at] - starts[before] >= enough && starts[after] - starts[at] >= enough;
        let deep = depths[place] > 0.0 && depths[place] >= mean + spread / 2.0;
        if before < at && fits && (deep || starts[after] - starts[before] > limit) {
            cuts.insert(at);
        }
    }
    // What is still too long has no place that leaves enough on both sides.
    let mut begin = 0;
    for at in 1..=lengths.len() {
        if cuts.contains(&(at - 1)) {
            begin = at - 1;
        }
        if starts[at] - starts[begin] > limit && at - 1 > begin {
            cuts.insert(at - 1);
            begin = at - 1;
        }
    }
    cuts.into_iter().filter(|at| *at > 0 && *at < lengths.len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valley_is_as_deep_as_both_its_sides_are_high() {
        let computed = depths(&[0.9, 0.5, 0.8, 0.8, 0.7]);
        let expected = [0.0, 0.7, 0.0, 0.0, 0.1];
        assert!(computed.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{computed:?}");
    }

    #[test]
    fn cuts_are_at_the_deepest_places_that_leave_enough() {
        assert_eq!(cuts(&[10; 6], &[0.0, 0.1, 0.9, 0.1, 0.0], 10, 100), [3]);
        // The deepest place leaves too little before it.
        assert_eq!(cuts(&[4, 10, 10, 10], &[0.9, 0.0, 0.3], 5, 24), [3]);
        assert_eq!(cuts(&[10; 4], &[0.0; 3], 5, 100), Vec::<usize>::new());
        assert_eq!(cuts(&[30; 4], &[0.0; 3], 25, 30), [1, 2, 3]);
    }
}
