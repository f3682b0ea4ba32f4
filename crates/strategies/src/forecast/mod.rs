//! Dated rows to a series, and a series to a forecast with intervals. No model of language, no
//! file, no state, no clock: the same rows give the same numbers.
//!
//! [`induce`] counts, adds up or averages rows by period; [`forecast`] continues the series by the
//! method that was best when the last values were held back; [`likelihood`] is the base rate of an
//! event.
mod backtest;
mod distributions;
mod ets;
mod induce;
mod likelihood;
mod methods;
mod period;
mod predict;

pub use induce::{Induction, InductionError, Measure, Omitted, Point, Row, Series, induce};
pub use likelihood::{Likelihood, likelihood};
pub use methods::Method;
pub use period::{Granularity, Period};
pub use predict::{Forecast, ForecastError, ForecastStep, Interval, Nature, Request, forecast};
