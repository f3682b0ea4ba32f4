//! Quantiles that the standard library of numbers lacks: Student's t, beta, and counts.
use distrs::{Normal, StudentsT};
use puruspe::invbetai;

/// Above this mean a count is as good as normal.
const LARGE: f64 = 1_000.0;

/// The quantile of Student's t; the normal one where there are many degrees of freedom.
pub(crate) fn student(share: f64, freedom: f64) -> f64 {
    if freedom > 200.0 { normal(share) } else { StudentsT::ppf(share, freedom.max(1.0)) }
}

pub(crate) fn normal(share: f64) -> f64 {
    Normal::ppf(share, 0.0, 1.0)
}

pub(crate) fn beta(share: f64, a: f64, b: f64) -> f64 {
    invbetai(share, a, b).clamp(0.0, 1.0)
}

/// The least count with at least this share of the distribution at or below it: negative binomial
/// with this mean and variance, Poisson where the variance is not larger than the mean.
pub(crate) fn count(share: f64, mean: f64, variance: f64) -> f64 {
    if mean <= 0.0 {
        return 0.0;
    }
    if mean > LARGE {
        return (mean + normal(share) * variance.max(mean).sqrt()).round().max(0.0);
    }
    let overdispersed = variance > mean * 1.0001;
    let size = mean * mean / (variance - mean);
    let mut probability =
        if overdispersed { size * (size / (size + mean)).ln() } else { -mean }.exp();
    let (mut cumulated, mut k) = (probability, 0.0);
    // The last of a distribution this small is within a few hundred deviations.
    let max = mean + 100.0 * variance.max(mean).sqrt() + 100.0;
    while cumulated < share && k < max {
        let ratio = if overdispersed {
            (size + k) / (k + 1.0) * (mean / (size + mean))
        } else {
            mean / (k + 1.0)
        };
        probability *= ratio;
        cumulated += probability;
        k += 1.0;
    }
    k
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-3
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "whole numbers")]
    fn quantiles_are_those_of_tables() {
        assert!(close(normal(0.9), 1.2816) && close(student(0.975, 5.0), 2.5706));
        assert!(close(beta(0.5, 1.0, 1.0), 0.5) && close(beta(0.95, 0.5, 9.5), 0.18737));
        // R: qpois(c(.1, .9), 2) = 0 4; qnbinom(c(.1, .9), mu = 4, size = 2) = 0 9.
        assert_eq!((count(0.1, 2.0, 2.0), count(0.9, 2.0, 2.0)), (0.0, 4.0));
        assert_eq!((count(0.1, 4.0, 12.0), count(0.9, 4.0, 12.0)), (0.0, 9.0));
        assert_eq!(count(0.9, 0.0, 1.0), 0.0);
        assert_eq!(count(0.5, 5_000.0, 5_000.0), 5_000.0);
    }
}
