//! The time of a thousand forecasts of series with sixty months, a season and a trend.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints and may stop")]
use std::time::Instant;

use halma_strategies::forecast::{Nature, Request, forecast};

const SERIES: u32 = 1_000;
const MONTHS: u32 = 60;

fn main() {
    let value = |series: u32, month: u32| {
        let season = (f64::from(month) * std::f64::consts::TAU / 12.0).sin();
        // Neither random nor regular.
        let noise = f64::from((series * 7_919 + month * 104_729) % 1_000) / 100.0;
        100.0 + f64::from(month) * f64::from(series % 7) + 20.0 * season + noise
    };
    let all: Vec<Vec<f64>> =
        (0..SERIES).map(|series| (0..MONTHS).map(|month| value(series, month)).collect()).collect();
    let began = Instant::now();
    for values in &all {
        let (nature, levels) = (Nature::Amount, &[0.8, 0.95]);
        let request = Request { values, nature, season: 12, horizon: 12, levels, least: 4 };
        assert_eq!(forecast(request).unwrap().steps.len(), 12);
    }
    println!("{SERIES} series of {MONTHS} months: {:.2} s", began.elapsed().as_secs_f64());
}
