//! Paired bootstrap: how far a mean difference would move if other questions had been drawn.
use super::Resampling;
use crate::figures::number;
use crate::random::Random;

/// The percentile interval (95 %) of the mean (Efron and Tibshirani, 1993, chapter 13): questions
/// are drawn with replacement, both runs' answers to one question staying together.
pub(super) fn interval(differences: &[f64], resampling: Resampling) -> (f64, f64) {
    let count = differences.len();
    let mut random = Random::new(resampling.seed);
    let mut means: Vec<f64> = (0..resampling.resamples.max(1))
        .map(|_| {
            let drawn = (0..count).map(|_| differences[random.below(count)]);
            drawn.sum::<f64>() / number(count)
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let rank = |thousandths: usize| {
        let place = (means.len() * thousandths).div_ceil(1_000).clamp(1, means.len());
        means[place - 1]
    };
    (rank(25), rank(975))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const USUAL: Resampling = Resampling { resamples: 1_000, seed: 1 };

    #[test]
    fn the_interval_is_that_of_the_normal_theory_where_that_holds() {
        // 500 questions, a fair coin for every one of 250 that differ: mean 0, deviation
        // sqrt(0.5 / 500).
        let differences: Vec<f64> = (0..500).map(|i| [1.0, -1.0, 0.0, 0.0][i % 4]).collect();
        let (low, high) = interval(&differences, USUAL);
        let wanted = 1.96 * (0.5_f64 / 500.0).sqrt();
        assert!((low + wanted).abs() < 0.01 && (high - wanted).abs() < 0.01, "{low} {high}");
        assert_eq!(interval(&differences, USUAL), (low, high));
        assert_ne!(interval(&differences, Resampling { seed: 2, ..USUAL }), (low, high));
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_values_between_the_extremes(
            differences in prop::collection::vec(-1.0_f64..1.0, 1..60), seed: u64,
        ) {
            let (low, high) = interval(&differences, Resampling { resamples: 200, seed });
            let smallest = differences.iter().copied().fold(f64::INFINITY, f64::min);
            let largest = differences.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(smallest - 1e-9 <= low && low <= high && high <= largest + 1e-9);
        }
    }
}
