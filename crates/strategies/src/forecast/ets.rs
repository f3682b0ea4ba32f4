//! Exponential smoothing by `augurs-ets`, with seasons taken out by `stlrs`.
use augurs_core::{Fit as _, Predict as _};
use augurs_ets::AutoETS;
use augurs_ets::model::{ModelType, Unfit};
use stlrs::Stl;

use crate::forecast::distributions::normal;
use crate::forecast::methods::{Continued, number};

/// The least strength of a season that is taken out (Hyndman and Athanasopoulos, Section 4.3: the
/// threshold of `nsdiffs`), and whole seasons that it must be seen in.
const STRONG: f64 = 0.64;
const SEASONS: usize = 3;

/// Additive errors only: the intervals of others are simulated, and differ from run to run.
const FORMS: &str = "AZN";

/// A level of an interval, to get the library's standard deviation from its width.
const LEVEL: f64 = 0.8;

/// The form that fits a series best.
#[derive(Debug, Clone)]
pub(crate) struct Ets {
    form: ModelType,
    damped: bool,
    /// The length of the season that is taken out.
    season: Option<usize>,
}

impl Ets {
    /// `None` where no form fits.
    pub(crate) fn choose(values: &[f64], season: usize) -> Option<Self> {
        let season = Some(season).filter(|season| is_seasonal(values, *season));
        let adjusted = match season {
            Some(season) => seasonal(values, season)?.0,
            None => values.to_vec(),
        };
        let fitted = AutoETS::new(1, FORMS).ok()?.fit(&adjusted).ok()?;
        let model = fitted.model();
        Some(Self { form: model.model_type(), damped: model.damped(), season })
    }

    pub(crate) fn continued(&self, values: &[f64], horizon: usize) -> Option<Continued> {
        let decomposed = match self.season.filter(|season| values.len() >= 2 * season) {
            Some(season) => Some((season, seasonal(values, season)?)),
            None => None,
        };
        let adjusted = decomposed.as_ref().map_or(values, |(_, (adjusted, _))| adjusted);
        let model = Unfit::new(self.form).damped(self.damped).fit(adjusted).ok()?;
        let ahead = model.predict(horizon, LEVEL).ok()?;
        let before = model.predict_in_sample(None).ok()?.point;
        let widths = ahead.intervals?;
        let of_level = 2.0 * normal(f64::midpoint(1.0, LEVEL));
        let deviations =
            widths.upper.iter().zip(&widths.lower).map(|(high, low)| (high - low) / of_level);
        let season_at = |at: usize| match &decomposed {
            // Beyond the end the last season is repeated.
            Some((season, (_, pattern))) if at >= pattern.len() => {
                pattern[pattern.len() - season + (at - pattern.len()) % season]
            }
            Some((_, (_, pattern))) => pattern[at],
            None => 0.0,
        };
        let n = values.len();
        let continued = Continued {
            values: ahead.point.iter().enumerate().map(|(i, v)| v + season_at(n + i)).collect(),
            deviations: deviations.collect(),
            freedom: number(n) - self.parameters(),
            fitted: before.iter().enumerate().map(|(i, v)| Some(v + season_at(i))).collect(),
            form: self.name(),
        };
        let finite = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite());
        (finite(&continued.values) && finite(&continued.deviations)).then_some(continued)
    }

    /// Weights and states that were fitted.
    fn parameters(&self) -> f64 {
        let trend = if self.form.trend.included() { 2.0 } else { 0.0 };
        2.0 + trend + if self.damped { 1.0 } else { 0.0 }
    }

    fn name(&self) -> String {
        let damped = if self.damped { ", damped" } else { "" };
        match self.season {
            Some(season) => format!("{}{damped}, seasons of {season} by STL", self.form),
            None => format!("{}{damped}", self.form),
        }
    }
}

fn is_seasonal(values: &[f64], season: usize) -> bool {
    season > 1
        && values.len() >= SEASONS * season
        && decompose(values, season).is_some_and(|fit| fit.seasonal_strength() >= STRONG)
}

/// The series without its seasons, and the seasons.
fn seasonal(values: &[f64], season: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    let pattern = decompose(values, season)?.seasonal().to_vec();
    let adjusted = values.iter().zip(&pattern).map(|(value, part)| value - part).collect();
    Some((adjusted, pattern))
}

fn decompose(values: &[f64], season: usize) -> Option<stlrs::StlResult<f64>> {
    Stl::fit(values, season).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rising(n: usize, season: f64) -> Vec<f64> {
        let value = |at: usize| {
            let noise = number(at * 7919 % 13) / 13.0;
            50.0 + number(at) + season * f64::from(u8::from(at % 12 < 2)) + noise
        };
        (0..n).map(value).collect()
    }

    #[test]
    fn a_rising_series_goes_on_rising() {
        let values = rising(30, 0.0);
        let ets = Ets::choose(&values, 12).unwrap();
        assert!(ets.season.is_none());
        let continued = ets.continued(&values, 2).unwrap();
        assert!((continued.values[1] - 81.5).abs() < 1.5, "{:?}", continued.values);
        assert!(continued.deviations.iter().all(|deviation| *deviation > 0.0));
        assert_eq!(continued.fitted.len(), 30);
    }

    #[test]
    fn a_season_is_taken_out_and_put_back() {
        let values = rising(48, 20.0);
        let ets = Ets::choose(&values, 12).unwrap();
        assert_eq!(ets.season, Some(12));
        let continued = ets.continued(&values, 3).unwrap();
        // The season's two months come next.
        assert!((continued.values[0] - 118.5).abs() < 3.0, "{:?}", continued.values);
        assert!((continued.values[2] - 100.5).abs() < 3.0, "{:?}", continued.values);
    }

    #[test]
    fn odd_series_do_not_make_it_panic() {
        let wild: Vec<f64> = (0..12).map(|at| if at == 11 { 1e12 } else { 0.0 }).collect();
        for values in [vec![0.0; 12], vec![3.0; 12], wild, vec![1.0, 2.0], vec![], vec![-1e300; 10]]
        {
            if let Some(ets) = Ets::choose(&values, 12) {
                let _ = ets.continued(&values, 3);
            }
        }
    }
}
