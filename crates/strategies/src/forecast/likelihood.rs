//! How likely an event is within some periods, by how often it came before.
use crate::forecast::distributions::beta;
use crate::forecast::predict::Interval;

/// A base rate with its uncertainty. All shares are of 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Likelihood {
    /// Periods with the event, and all of them.
    pub with: usize,
    pub periods: usize,
    /// That it comes at least once within the horizon.
    pub share: f64,
    pub intervals: Vec<Interval>,
}

/// The likelihood that an event comes at least once in `horizon` periods. A value above 0 is a
/// period with the event; periods are taken as independent, under Jeffreys' prior.
pub fn likelihood(values: &[f64], horizon: usize, levels: &[f64]) -> Likelihood {
    let (with, periods) = (values.iter().filter(|value| **value > 0.0).count(), values.len());
    #[expect(clippy::cast_precision_loss, reason = "a number of periods")]
    let (a, b) = (with as f64 + 0.5, (periods - with) as f64 + 0.5);
    let exponent = i32::try_from(horizon.max(1)).unwrap_or(i32::MAX);
    let within = |share: f64| 1.0 - (1.0 - share).powi(exponent);
    let interval = |level: &f64| Interval {
        level: *level,
        low: within(beta((1.0 - level) / 2.0, a, b)),
        high: within(beta(1.0 - (1.0 - level) / 2.0, a, b)),
    };
    let intervals = levels.iter().map(interval).collect();
    Likelihood { with, periods, share: within(a / (a + b)), intervals }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_rate_has_an_interval_that_narrows() {
        let few = likelihood(&[1.0, 0.0, 1.0, 0.0], 1, &[0.8]);
        assert_eq!((few.with, few.periods), (2, 4));
        assert!((few.share - 0.5).abs() < 1e-9);
        let many = likelihood(&[1.0, 0.0].repeat(50), 1, &[0.8]);
        let width = |l: &Likelihood| l.intervals[0].high - l.intervals[0].low;
        assert!(width(&many) < width(&few) / 3.0);
        // Never seen is not impossible, always seen not certain.
        let never = likelihood(&[0.0; 9], 1, &[0.8, 0.95]);
        assert!(never.share > 0.0 && never.share < 0.1 && never.intervals[1].high < 0.35);
        assert!(likelihood(&[1.0; 9], 1, &[0.8]).share < 1.0);
        assert!(likelihood(&[1.0, 0.0], 3, &[0.8]).share > 0.8);
    }
}
