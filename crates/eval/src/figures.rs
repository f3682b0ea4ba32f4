//! Means, ratios, sums and percentiles.
use std::collections::BTreeMap;

use halma_core::UsageTotal;

/// The smallest value that at least `percent` of the sorted values do not exceed.
pub(crate) fn nearest_rank(sorted: &[f64], percent: usize) -> Option<f64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

/// `None` of nothing.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / number(count))
}

#[expect(clippy::cast_precision_loss, reason = "counts of questions, hops and pixels")]
pub(crate) fn number(count: usize) -> f64 {
    count as f64
}

/// 0 of 0 is 0.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of tokens, calls, words and questions stay below 2^52"
)]
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

pub(crate) fn total_usage(parts: impl IntoIterator<Item = UsageTotal>) -> UsageTotal {
    parts.into_iter().fold(UsageTotal::default(), |mut total, part| {
        total.add(part);
        total
    })
}

pub(crate) fn counted<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, usize> {
    let mut counts = BTreeMap::new();
    for key in keys {
        *counts.entry(key).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let times: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(nearest_rank(&times, 50), Some(10.0));
        assert_eq!(nearest_rank(&times, 95), Some(19.0));
        assert_eq!(nearest_rank(&[7.0], 95), Some(7.0));
        assert_eq!(nearest_rank(&[], 50), None);
    }

    #[test]
    fn nothing_has_no_mean() {
        assert_eq!(mean([].into_iter()), None);
        assert_eq!(mean([1.0, 0.0].into_iter()), Some(0.5));
    }
}
