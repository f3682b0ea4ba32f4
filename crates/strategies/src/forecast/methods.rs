//! Ways to continue a series, simplest first.
use crate::forecast::ets::Ets;

/// How a series is continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The last value.
    Naive,
    /// The mean of all values.
    Mean,
    /// A damped straight line with the median of all slopes (Theil and Sen).
    Trend,
    /// Exponential smoothing, its form chosen by the corrected Akaike criterion; seasons are taken
    /// out before (STL) where they are strong.
    Ets,
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Self::Naive => "last value",
            Self::Mean => "mean",
            Self::Trend => "damped Theil–Sen trend",
            Self::Ets => "exponential smoothing (ETS)",
        }
    }
}

/// Slopes are multiplied by this from step to step (a usual damping).
const DAMPING: f64 = 0.9;

/// A continued series: for each step its value and the standard deviation of its error.
#[derive(Debug, Clone)]
pub(crate) struct Continued {
    pub(crate) values: Vec<f64>,
    pub(crate) deviations: Vec<f64>,
    /// Observations that the deviations rest on, without fitted parameters.
    pub(crate) freedom: f64,
    /// One step ahead for each value of the series, where there was something to go by.
    pub(crate) fitted: Vec<Option<f64>>,
    /// The form that was chosen, such as `ANN`; empty where there is one form.
    pub(crate) form: String,
}

#[expect(clippy::cast_precision_loss, reason = "positions in a series")]
pub(crate) fn number(n: usize) -> f64 {
    n as f64
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / number(values.len().max(1))
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

/// The median of the slopes between any two values.
pub(crate) fn theil_sen(values: &[f64]) -> f64 {
    let slope = |i: usize, j: usize| (values[j] - values[i]) / number(j - i);
    let pairs = (0..values.len()).flat_map(|i| (i + 1..values.len()).map(move |j| (i, j)));
    median(pairs.map(|(i, j)| slope(i, j)).collect())
}

impl Method {
    /// The series continued by `horizon` steps; `None` where the method cannot fit it. `ets` holds
    /// the form of an earlier fit, which is fitted again.
    pub(crate) fn continued(
        self,
        values: &[f64],
        horizon: usize,
        ets: Option<&Ets>,
    ) -> Option<Continued> {
        match self {
            Self::Naive => naive(values, horizon),
            Self::Mean => average(values, horizon),
            Self::Trend => trend(values, horizon),
            Self::Ets => ets?.continued(values, horizon),
        }
    }
}

fn naive(values: &[f64], horizon: usize) -> Option<Continued> {
    let last = *values.last()?;
    let steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let squares: Vec<f64> = steps.iter().map(|step| step * step).collect();
    let deviation = mean(&squares).sqrt();
    Some(Continued {
        values: vec![last; horizon],
        deviations: (1..=horizon).map(|step| deviation * number(step).sqrt()).collect(),
        freedom: number(steps.len()),
        fitted: std::iter::once(None)
            .chain(values.iter().copied().map(Some))
            .take(values.len())
            .collect(),
        form: String::new(),
    })
}

fn average(values: &[f64], horizon: usize) -> Option<Continued> {
    let (n, centre) = (number(values.len()), mean(values));
    if values.is_empty() {
        return None;
    }
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    let deviation = (squares / (n - 1.0).max(1.0)).sqrt() * (1.0 + 1.0 / n).sqrt();
    Some(Continued {
        values: vec![centre; horizon],
        deviations: vec![deviation; horizon],
        freedom: n - 1.0,
        fitted: vec![Some(centre); values.len()],
        form: String::new(),
    })
}

fn trend(values: &[f64], horizon: usize) -> Option<Continued> {
    let n = values.len();
    if n < 3 {
        return None;
    }
    let slope = theil_sen(values);
    let start = median((0..n).map(|i| values[i] - slope * number(i)).collect());
    let line = |at: usize| start + slope * number(at);
    let squares: f64 = (0..n).map(|at| (values[at] - line(at)).powi(2)).sum();
    let spread = (squares / number(n - 2)).sqrt();
    let centre = number(n - 1) / 2.0;
    let width: f64 = (0..n).map(|at| (number(at) - centre).powi(2)).sum();
    let (mut ahead, mut step, mut at) = (vec![], slope, line(n - 1));
    for _ in 0..horizon {
        step *= DAMPING;
        at += step;
        ahead.push(at);
    }
    let deviation = |step: usize| {
        spread * (1.0 + 1.0 / number(n) + (number(n - 1 + step) - centre).powi(2) / width).sqrt()
    };
    Some(Continued {
        values: ahead,
        deviations: (1..=horizon).map(deviation).collect(),
        freedom: number(n - 2),
        fitted: (0..n).map(|at| Some(line(at))).collect(),
        form: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_methods_continue_by_hand() {
        let values = [1.0, 2.0, 3.0, 4.0];
        let ahead = |method: Method| method.continued(&values, 2, None).unwrap().values;
        assert_eq!(ahead(Method::Naive), [4.0, 4.0]);
        assert_eq!(ahead(Method::Mean), [2.5, 2.5]);
        let trend = ahead(Method::Trend);
        assert!((trend[0] - 4.9).abs() < 1e-9 && (trend[1] - 5.71).abs() < 1e-9, "{trend:?}");
        // One wild value does not turn the line.
        let wild = Method::Trend.continued(&[1.0, 2.0, 90.0, 4.0, 5.0], 1, None).unwrap();
        assert!((wild.values[0] - 5.9).abs() < 0.5, "{:?}", wild.values);
        let naive = Method::Naive.continued(&values, 4, None).unwrap();
        assert_eq!((naive.deviations[0], naive.deviations[3]), (1.0, 2.0));
        assert!(Method::Trend.continued(&values[..2], 1, None).is_none());
        assert!(Method::Naive.continued(&[], 1, None).is_none());
    }
}
