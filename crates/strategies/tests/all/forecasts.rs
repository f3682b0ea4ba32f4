//! Forecasts over 40 generated tables of dated rows, each cut at rolling dates: whether they beat
//! the last value, and whether intervals cover what they say.
#![expect(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::print_stdout,
    reason = "a test fails by panicking, counts are small, and the figures are for the docs"
)]
use halma_strategies::forecast::{
    Granularity, Induction, Measure, Nature, Period, Request, Row, forecast, induce,
};

const CUTS: usize = 6;
const LEVELS: [f64; 2] = [0.8, 0.95];

/// Numbers between 0 and 1 that are the same every time (xorshift).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        f64::from(u32::try_from(self.0 >> 32).unwrap()) / f64::from(u32::MAX)
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }

    fn poisson(&mut self, mean: f64) -> usize {
        let (limit, mut product, mut k) = ((-mean).exp(), self.next(), 0);
        while product > limit {
            product *= self.next();
            k += 1;
        }
        k
    }
}

struct Table {
    granularity: Granularity,
    measure: Measure,
    nature: Nature,
    rows: Vec<Row>,
}

/// A table of a kind: events by year, events by month with a season, amounts by quarter with a
/// trend, levels by month that wander.
fn table(at: usize) -> Table {
    let mut chance = Chance(0x9E37_79B9_7F4A_7C15 ^ ((at as u64 + 1) * 7_919));
    for _ in 0..20 {
        chance.next();
    }
    let strength = 1.0 + (at / 4) as f64;
    let (granularity, measure, nature, first, periods) = match at % 4 {
        0 => (Granularity::Year, Measure::Count, Nature::Count, "2000", 20),
        1 => (Granularity::Month, Measure::Count, Nature::Count, "2017-01", 66),
        2 => (Granularity::Quarter, Measure::Sum, Nature::Amount, "2012-Q1", 40),
        _ => (Granularity::Month, Measure::Mean, Nature::Level, "2018-01", 60),
    };
    let (first, mut level, mut rows) = (Period::parse(first).unwrap(), 50.0, vec![]);
    for step in 0..periods {
        let period = first.plus(step);
        let time = f64::from(step);
        level += chance.normal() * strength / 4.0;
        let mut dated = |value: f64| {
            let day = period.first_day();
            rows.push(Row { thing: String::new(), first: day, last: day, value });
        };
        match at % 4 {
            0 => (0..chance.poisson(strength * (1.0 + time / 20.0))).for_each(|_| dated(1.0)),
            1 => {
                let season = 1.0 + 0.8 * (time * std::f64::consts::TAU / 12.0).sin();
                (0..chance.poisson(3.0 * strength * season)).for_each(|_| dated(1.0));
            }
            2 => {
                let value = 100.0 + strength * time + chance.normal() * 8.0;
                dated(value / 2.0);
                dated(value / 2.0);
            }
            _ => dated(level + chance.normal()),
        }
    }
    Table { granularity, measure, nature, rows }
}

#[derive(Default)]
struct Score {
    forecasts: f64,
    error: f64,
    naive: f64,
    covered: [f64; 2],
}

impl Score {
    fn add(&mut self, table: &Table, values: &[f64], cut: usize) {
        let history = &values[..cut];
        let (nature, season) = (table.nature, table.granularity.season());
        let request =
            Request { values: history, nature, season, horizon: 1, levels: &LEVELS, least: 4 };
        let step = &forecast(request).unwrap().steps[0];
        let scale = history.iter().map(|value| value.abs()).sum::<f64>() / cut as f64;
        self.forecasts += 1.0;
        self.error += (values[cut] - step.value).abs() / scale;
        self.naive += (values[cut] - history[cut - 1]).abs() / scale;
        for (covered, interval) in self.covered.iter_mut().zip(&step.intervals) {
            let inside = (interval.low..=interval.high).contains(&values[cut]);
            *covered += f64::from(u8::from(inside));
        }
    }
}

#[test]
fn forecasts_beat_the_last_value_and_intervals_cover_what_they_say() {
    let (mut all, mut kinds) = (Score::default(), [(); 4].map(|()| Score::default()));
    for at in 0..40 {
        let table = table(at);
        let (measure, granularity) = (table.measure, table.granularity);
        let how = Induction { measure, granularity, window: None, as_of: None };
        let values = induce(&table.rows, &how).unwrap().values();
        for cut in values.len() - CUTS..values.len() {
            all.add(&table, &values, cut);
            kinds[at % 4].add(&table, &values, cut);
        }
    }
    for (kind, score) in ["yearly", "seasonal", "trend", "wandering"].iter().zip(&kinds) {
        let [covered, wide] = score.covered.map(|covered| covered / score.forecasts);
        let ratio = score.error / score.naive;
        println!("{kind}: error {ratio:.3} of naive, covers {covered:.3} and {wide:.3}");
        assert!((0.65..=0.97).contains(&covered), "{kind}: {covered}");
    }
    let [covered, wide] = all.covered.map(|covered| covered / all.forecasts);
    let ratio = all.error / all.naive;
    println!("all: error {ratio:.3} of naive, covers {covered:.3} and {wide:.3}");
    assert!(ratio < 0.9, "{ratio}");
    assert!((0.7..=0.9).contains(&covered), "{covered}");
    assert!(wide >= 0.88, "{wide}");
}
