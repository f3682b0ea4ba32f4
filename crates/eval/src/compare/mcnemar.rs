//! `McNemar`'s test: are the questions that flipped one way more than chance would flip?
use serde::{Deserialize, Serialize};

use crate::figures::number;

/// The exact, two-sided test (`McNemar`, 1947; exact binomial form).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct McNemar {
    /// Wrong in the first and right in the second.
    pub gained: usize,
    /// Right in the first and wrong in the second.
    pub lost: usize,
    /// How likely so uneven a split is if each flip were the toss of a coin.
    pub p: f64,
}

impl McNemar {
    pub(super) fn test(gained: usize, lost: usize) -> Self {
        Self { gained, lost, p: two_sided(gained, lost) }
    }
}

/// `min(1, 2 P(X <= min))` for a binomial of `gained + lost` tosses. Terms are kept as logarithms:
/// half to the power of a few thousand is not a number a computer can hold.
fn two_sided(gained: usize, lost: usize) -> f64 {
    let (tosses, fewer) = (gained + lost, gained.min(lost));
    let mut logarithm = -number(tosses) * std::f64::consts::LN_2;
    let mut sum = logarithm.exp();
    for heads in 0..fewer {
        logarithm += (number(tosses - heads) / number(heads + 1)).ln();
        sum += logarithm.exp();
    }
    (2.0 * sum).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_are_those_of_the_binomial() {
        let near = |gained, lost, wanted: f64| {
            let p = two_sided(gained, lost);
            assert!((p - wanted).abs() < 1e-9 * wanted.max(1e-3), "{gained} {lost}: {p}");
        };
        near(0, 0, 1.0);
        near(3, 3, 1.0);
        // 2 (1 + 10) / 2^10 and 2 / 2^6.
        near(1, 9, 22.0 / 1024.0);
        near(9, 1, 22.0 / 1024.0);
        near(6, 0, 2.0 / 64.0);
        // 2 (1 + 15 + 105 + 455) / 2^15.
        near(12, 3, 1152.0 / 32768.0);
    }

    #[test]
    fn large_counts_neither_vanish_nor_pass_one() {
        assert!((two_sided(5_000, 5_000) - 1.0).abs() < 1e-6);
        let p = two_sided(5_200, 4_800);
        // Normal approximation with continuity: z = 3.99.
        assert!((5e-5..8e-5).contains(&p), "{p}");
        assert!(two_sided(3_000, 0) >= 0.0);
    }
}
