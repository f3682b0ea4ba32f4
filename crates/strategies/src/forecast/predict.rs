//! The forecast of a series: the best of several methods, with intervals.
use crate::forecast::backtest::{Errors, backtest};
use crate::forecast::distributions::{count, student};
use crate::forecast::ets::Ets;
use crate::forecast::methods::{Continued, Method, number};

/// Values from which exponential smoothing is tried.
const SMOOTHED: usize = 10;
/// The last values of a long series, which are all that is fitted.
const FITTED: usize = 400;

/// What the values are, which decides how their intervals are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// Whole numbers of things.
    Count,
    /// Amounts that cannot be negative.
    Amount,
    /// Any numbers.
    Level,
}

/// A series that is to be continued.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub values: &'a [f64],
    pub nature: Nature,
    /// Periods after which a pattern may repeat; 1 for none.
    pub season: usize,
    /// Steps to forecast.
    pub horizon: usize,
    /// Shares of 1 that intervals should cover.
    pub levels: &'a [f64],
    /// Values below which there is no forecast.
    pub least: usize,
}

/// Where a value lies with a probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The probability, a share of 1.
    pub level: f64,
    pub low: f64,
    pub high: f64,
}

/// One step ahead of the series.
#[derive(Debug, Clone, PartialEq)]
pub struct ForecastStep {
    pub value: f64,
    /// One for each level of the request.
    pub intervals: Vec<Interval>,
}

/// A continued series.
#[derive(Debug, Clone)]
pub struct Forecast {
    pub method: Method,
    /// The form of the method, such as `ANN`; empty where it has one form.
    pub form: String,
    pub steps: Vec<ForecastStep>,
    /// What the method gives for the series itself, value by value.
    pub fitted: Vec<Option<f64>>,
    /// The mean absolute error of each method that was tested, the used one among them.
    pub errors: Vec<(Method, f64)>,
    /// Forecasts that each error is the mean of.
    pub origins: usize,
}

/// Why there is no forecast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ForecastError {
    /// Too few values; their number, and the least and the largest.
    TooFew { values: usize, low: f64, high: f64 },
    /// A value is not a number.
    NotFinite,
}

/// Continues a series by the method with the smallest error on its last values, held back; of equal
/// ones by the simplest.
pub fn forecast(request: Request<'_>) -> Result<Forecast, ForecastError> {
    let all = request.values;
    if all.iter().any(|value| !value.is_finite()) {
        return Err(ForecastError::NotFinite);
    }
    if all.len() < request.least.max(2) {
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        return Err(ForecastError::TooFew { values: all.len(), low, high });
    }
    let values = &all[all.len().saturating_sub(FITTED)..];
    let horizon = request.horizon.max(1);
    let smoothed = values.len() >= SMOOTHED && !is_constant(values);
    let ets = if smoothed { Ets::choose(values, request.season) } else { None };
    let methods: &[Method] = match ets {
        Some(_) => &[Method::Naive, Method::Mean, Method::Ets],
        None => &[Method::Naive, Method::Mean, Method::Trend],
    };
    let errors = backtest(values, methods, ets.as_ref(), horizon);
    let best = errors.iter().fold(None, |best: Option<&Errors>, tested| match best {
        Some(best) if best.mean <= tested.mean => Some(best),
        _ => Some(tested),
    });
    let method = best.map_or(Method::Naive, |best| best.method);
    let continued = method.continued(values, horizon, ets.as_ref());
    let Some(continued) = continued.or_else(|| Method::Naive.continued(values, horizon, None))
    else {
        return Err(ForecastError::NotFinite);
    };
    let root = best.map_or(0.0, |best| best.root);
    let fitted = vec![None; all.len() - values.len()];
    Ok(Forecast {
        method,
        steps: (0..horizon).map(|step| request.step(step, &continued, root)).collect(),
        fitted: fitted.into_iter().chain(continued.fitted).collect(),
        form: continued.form,
        errors: errors.iter().map(|tested| (tested.method, tested.mean)).collect(),
        origins: best.map_or(0, |best| best.origins),
    })
}

fn is_constant(values: &[f64]) -> bool {
    values.iter().all(|value| value.total_cmp(&values[0]).is_eq())
}

impl Request<'_> {
    fn step(&self, step: usize, continued: &Continued, root: f64) -> ForecastStep {
        let floor = if self.nature == Nature::Level { f64::NEG_INFINITY } else { 0.0 };
        let value = continued.values[step].max(floor);
        let deviation = continued.deviations[step];
        let interval = |level: &f64| {
            let (below, above) = ((1.0 - level) / 2.0, 1.0 - (1.0 - level) / 2.0);
            let (low, high) = if self.nature == Nature::Count {
                self.counted(value, deviation.max(root), below, above)
            } else {
                let reach = student(above, continued.freedom) * deviation;
                ((value - reach).max(floor), value + reach)
            };
            Interval { level: *level, low, high }
        };
        ForecastStep { value, intervals: self.levels.iter().map(interval).collect() }
    }

    /// Never seen does not mean impossible: a mean of 0 is that of half a thing in all the periods
    /// (Jeffreys' prior).
    fn counted(&self, value: f64, deviation: f64, below: f64, above: f64) -> (f64, f64) {
        let periods = number(self.values.len());
        let mean = value.max(0.5 / periods);
        let variance = deviation.powi(2).max(mean * (1.0 + 1.0 / periods));
        (
            count(below, mean, variance).min(value.floor()),
            count(above, mean, variance).max(value.ceil()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVELS: [f64; 2] = [0.8, 0.95];

    fn request(values: &[f64], nature: Nature) -> Request<'_> {
        Request { values, nature, season: 1, horizon: 1, levels: &LEVELS, least: 4 }
    }

    fn of(values: &[f64]) -> Forecast {
        forecast(request(values, Nature::Count)).unwrap()
    }

    fn bounds(forecast: &Forecast, level: usize) -> (f64, f64) {
        let interval = forecast.steps[0].intervals[level];
        (interval.low, interval.high)
    }

    #[test]
    fn a_jump_that_stays_is_continued_by_its_last_value() {
        let forecast = of(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 2.0, 2.0]);
        assert_eq!((forecast.method, forecast.steps[0].value), (Method::Naive, 2.0));
        assert_eq!(bounds(&forecast, 0), (0.0, 4.0));
        assert_eq!(forecast.errors.len(), 3);
    }

    #[test]
    fn a_short_rising_series_has_a_damped_trend() {
        let forecast = of(&[2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
        assert_eq!(forecast.method, Method::Trend);
        assert!((forecast.steps[0].value - 13.8).abs() < 1e-9);
    }

    #[test]
    fn too_few_values_are_no_basis() {
        let short = forecast(request(&[3.0, 1.0, 2.0], Nature::Count)).unwrap_err();
        assert_eq!(short, ForecastError::TooFew { values: 3, low: 1.0, high: 3.0 });
        assert!(forecast(request(&[], Nature::Level)).is_err());
        let odd = forecast(request(&[1.0, f64::NAN, 1.0, 1.0], Nature::Level)).unwrap_err();
        assert_eq!(odd, ForecastError::NotFinite);
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "whole numbers")]
    fn all_zeros_stay_zero_but_one_is_not_excluded() {
        let forecast = of(&[0.0; 12]);
        assert_eq!(forecast.steps[0].value, 0.0);
        assert_eq!(bounds(&forecast, 1), (0.0, 1.0));
        let few = of(&[0.0; 4]);
        assert_eq!(bounds(&few, 1), (0.0, 1.0));
    }

    #[test]
    fn amounts_are_not_negative_and_levels_may_be() {
        let values = [9.0, 7.0, 5.0, 3.0, 1.0, 0.5];
        let amount = forecast(request(&values, Nature::Amount)).unwrap();
        let level = forecast(request(&values, Nature::Level)).unwrap();
        assert!(amount.steps[0].value >= 0.0 && bounds(&amount, 1).0 >= 0.0);
        assert!(bounds(&level, 1).0 < 0.0);
    }

    #[test]
    fn intervals_widen_with_the_level_and_the_horizon() {
        let values: Vec<f64> = (0..60).map(|at| f64::from(at * 7919 % 31)).collect();
        let wide = Request { horizon: 6, season: 12, ..request(&values, Nature::Level) };
        let forecast = forecast(wide).unwrap();
        assert_eq!((forecast.steps.len(), forecast.fitted.len()), (6, 60));
        for step in &forecast.steps {
            let [inner, outer] = [step.intervals[0], step.intervals[1]];
            assert!(outer.low < inner.low && inner.low <= step.value);
            assert!(step.value <= inner.high && inner.high < outer.high);
        }
    }

    #[test]
    fn a_long_series_is_fitted_by_its_end() {
        let values: Vec<f64> = (0..3_000).map(|at| f64::from(at % 7)).collect();
        assert_eq!(of(&values).fitted.len(), 3_000);
    }
}
