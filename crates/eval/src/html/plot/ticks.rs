//! Axes: from values to places, and round numbers to write beside them.

/// Values along one direction of a plot.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    logarithmic: bool,
    pub(super) ticks: Vec<f64>,
}

impl Axis {
    /// An axis over these values with round ends, drawn between two coordinates.
    pub(super) fn over(values: impl Iterator<Item = f64>, (from, to): (f64, f64)) -> Self {
        let (low, high) = extremes(values);
        let step = step(high - low);
        let low = (low / step).floor() * step;
        let high = ((high / step).ceil() * step).max(low + step);
        let mut ticks = vec![];
        let mut tick = low;
        while tick <= high + step * 1e-6 {
            ticks.push(tick);
            tick += step;
        }
        Self { low, high, from, to, logarithmic: false, ticks }
    }

    /// The same for values that are far apart: every step multiplies. All must be above 0.
    pub(super) fn logarithmic(values: impl Iterator<Item = f64>, (from, to): (f64, f64)) -> Self {
        let (low, high) = extremes(values);
        let (low, high) = (low.max(1e-6) * 0.8, high.max(1e-6) * 1.25);
        let mut ticks = vec![];
        for steps in [&[1.0][..], &[1.0, 3.0], &[1.0, 2.0, 5.0]] {
            ticks = decades(low, high, steps);
            if ticks.len() >= 3 {
                break;
            }
        }
        Self { low: low.log10(), high: high.log10(), from, to, logarithmic: true, ticks }
    }

    /// Fractions, from 0 to 1.
    pub(super) fn fractions((from, to): (f64, f64)) -> Self {
        let ticks = vec![0.0, 0.25, 0.5, 0.75, 1.0];
        Self { low: 0.0, high: 1.0, from, to, logarithmic: false, ticks }
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.max(1e-9).log10() } else { value };
        let share = (value - self.low) / (self.high - self.low).max(f64::MIN_POSITIVE);
        self.from + (self.to - self.from) * share.clamp(0.0, 1.0)
    }
}

fn extremes(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low > high { (0.0, 1.0) } else { (low, high) }
}

/// 1, 2 or 5 times a power of ten, for about five ticks.
fn step(span: f64) -> f64 {
    let rough = (span / 5.0).max(1e-9);
    let decade = 10_f64.powf(rough.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| times * decade >= rough);
    times.unwrap_or(10.0) * decade
}

fn decades(low: f64, high: f64, steps: &[f64]) -> Vec<f64> {
    let mut ticks = vec![];
    let mut decade = 10_f64.powf(low.log10().floor());
    while decade <= high {
        ticks.extend(steps.iter().map(|s| s * decade).filter(|t| *t >= low && *t <= high));
        decade *= 10.0;
    }
    ticks
}

/// A number in few characters: `950`, `1.2k`, `30k`, `4M`.
pub(super) fn short(value: f64) -> String {
    let with = |value: f64, unit: &str| {
        let digits = usize::from(value < 10.0 && (value - value.round()).abs() > 0.05);
        format!("{value:.digits$}{unit}")
    };
    match value.abs() {
        large if large >= 999_500.0 => with(value / 1e6, "M"),
        middling if middling >= 1_000.0 => with(value / 1e3, "k"),
        _ => with(value, ""),
    }
}

/// Milliseconds in a reader's unit.
pub(super) fn time(ms: f64) -> String {
    let digits = |value: f64| usize::from(value < 10.0 && (value - value.round()).abs() > 0.05);
    match ms {
        long if long >= 60_000.0 => format!("{:.*} min", digits(long / 6e4), long / 6e4),
        long if long >= 1_000.0 => format!("{:.*} s", digits(long / 1e3), long / 1e3),
        short if short < 1.0 => format!("{short:.2} ms"),
        short => format!("{:.*} ms", digits(short), short),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_hold_the_values() {
        let axis = Axis::over([3.0, 17.0].into_iter(), (0.0, 100.0));
        assert_eq!(axis.ticks, [0.0, 5.0, 10.0, 15.0, 20.0]);
        assert!((axis.place(10.0) - 50.0).abs() < 1e-9);
        let axis = Axis::logarithmic([190.0, 25_000.0].into_iter(), (0.0, 100.0));
        assert_eq!(axis.ticks, [300.0, 1_000.0, 3_000.0, 10_000.0, 30_000.0]);
        assert!(axis.place(190.0) > 0.0 && axis.place(25_000.0) < 100.0);
    }

    #[test]
    fn nothing_and_one_value_have_an_axis() {
        assert!(Axis::over([].into_iter(), (0.0, 1.0)).ticks.len() > 1);
        assert!(Axis::over([7.0, 7.0].into_iter(), (0.0, 1.0)).ticks.len() > 1);
        assert!(Axis::over([f64::NAN].into_iter(), (0.0, 1.0)).place(0.5).is_finite());
        assert!(!Axis::logarithmic([5.0].into_iter(), (0.0, 1.0)).ticks.is_empty());
    }

    #[test]
    fn numbers_are_short() {
        let all = [0.0, 0.5, 950.0, 1_200.0, 30_000.0, 999_900.0, 4_000_000.0];
        assert_eq!(all.map(short), ["0", "0.5", "950", "1.2k", "30k", "1M", "4M"]);
        assert_eq!(
            [0.31, 7.25, 640.0, 2_400.0, 90_000.0].map(time),
            ["0.31 ms", "7.2 ms", "640 ms", "2.4 s", "1.5 min"]
        );
    }
}
