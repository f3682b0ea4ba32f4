//! How good a method would have been: the last values are held back one after the other.
use crate::forecast::ets::Ets;
use crate::forecast::methods::{Method, mean, number};

/// Values that are held back at most; each is a fit of every method.
const ORIGINS: usize = 8;
/// For exponential smoothing, which takes a thousand times as long to fit.
const ETS_ORIGINS: usize = 3;
/// Values that are never held back.
const FIRST: usize = 3;

/// The mean absolute error of a method so many steps ahead, and over how many forecasts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Errors {
    pub(crate) method: Method,
    pub(crate) mean: f64,
    /// Root of the mean square.
    pub(crate) root: f64,
    pub(crate) origins: usize,
}

/// The errors of each method over the same held-back values, in the order of the methods; methods
/// that cannot be tested are left out.
pub(crate) fn backtest(
    values: &[f64],
    methods: &[Method],
    ets: Option<&Ets>,
    horizon: usize,
) -> Vec<Errors> {
    // A far horizon would leave nothing to test with.
    let ahead = horizon.clamp(1, (values.len() / 4).max(1));
    let first = FIRST.max(values.len() / 2);
    let limit = if methods.contains(&Method::Ets) { ETS_ORIGINS } else { ORIGINS };
    let last = (values.len() + 1).saturating_sub(ahead);
    let origins: Vec<usize> = (first..last).rev().take(limit).collect();
    let tested = |method: &Method| {
        let mut errors = vec![];
        for origin in &origins {
            let continued = method.continued(&values[..*origin], ahead, ets)?;
            errors.push((values[origin + ahead - 1] - continued.values[ahead - 1]).abs());
        }
        let squares: Vec<f64> = errors.iter().map(|error| error * error).collect();
        (!errors.is_empty()).then(|| Errors {
            method: *method,
            mean: mean(&errors),
            root: (squares.iter().sum::<f64>() / number(squares.len())).sqrt(),
            origins: errors.len(),
        })
    };
    methods.iter().filter_map(tested).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIMPLE: [Method; 3] = [Method::Naive, Method::Mean, Method::Trend];

    #[test]
    fn errors_are_those_of_forecasts_from_the_values_before() {
        let values = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 2.0, 2.0];
        let errors = backtest(&values, &SIMPLE, None, 1);
        assert_eq!(errors.iter().map(|e| e.method).collect::<Vec<_>>(), SIMPLE);
        // The jump was missed once in five.
        assert_eq!((errors[0].mean, errors[0].origins), (0.4, 5));
        assert!(errors[1].mean > errors[0].mean && errors[2].mean > errors[0].mean);
    }

    #[test]
    fn a_far_horizon_is_tested_as_far_as_the_series_allows() {
        let values: Vec<f64> = (0..8).map(number).collect();
        let errors = backtest(&values, &[Method::Naive], None, 5);
        assert_eq!((errors[0].mean, errors[0].origins), (2.0, 3));
        assert!(backtest(&values[..3], &SIMPLE, None, 1).is_empty());
    }
}
