//! Knowledge induction and the forecast (PIKE-RAG, Section 5.4), both computed.
use crate::forecast::{
    Forecast, ForecastError, Induction, InductionError, Interval, Measure, Nature, Omitted, Period,
    Point, Request, Series, forecast, induce, likelihood,
};
use halma_core::text::thousands;
use halma_core::{
    Cx, MethodError, NodeId, PredictionInterval, Question, SeriesForecast, SeriesPoint,
    SeriesPrediction,
};

use super::PikeL3;
use super::plan::{Aggregate, Plan};
use super::rows::{Collected, Typed, asked_on, days};

/// The probability of the wide interval.
const WIDE: f64 = 0.95;

/// Nodes that the trace names for each period.
const NAMED: usize = 50;

/// The period that is asked for, where the rows have it already. Rows after the day of the question
/// are not known on it.
pub(super) fn recorded(question: &Question, plan: &Plan, collected: &Collected) -> Option<String> {
    let target = plan.target_period()?;
    if asked_on(question).is_some_and(|day| day <= target.last_day()) {
        return None;
    }
    let beyond = |row: &super::rows::RawRow| {
        days(&row.date).is_some_and(|(first, _)| first > target.last_day())
    };
    // One row beyond may be a typo.
    let later = collected.rows.iter().filter(|row| beyond(row)).count();
    (later > 1 && later * 20 > collected.rows.len()).then(|| target.label())
}

impl PikeL3 {
    /// A forecast for each group of rows, the largest first, recorded in the trace; empty where
    /// there is no row.
    pub(super) fn predict(
        &self,
        question: &Question,
        plan: &Plan,
        collected: &Collected,
        cx: &Cx,
    ) -> Vec<SeriesForecast> {
        let (groups, caveats) = collected.typed(plan);
        let mut groups: Vec<(String, Typed)> = groups.into_iter().collect();
        groups.sort_by_key(|(_, typed)| std::cmp::Reverse(typed.rows.len()));
        if groups.len() > self.groups {
            cx.note(format!("{} groups: forecasting the {} largest", groups.len(), self.groups));
            groups.truncate(self.groups);
        }
        let mut outlook = vec![];
        for (group, typed) in groups {
            let window = collected.window.as_ref();
            let window = window.and_then(|(from, to)| Some((days(from)?.0, days(to)?.1)));
            let induction = Induction {
                measure: plan.measure.measure(),
                granularity: plan.period_length(),
                window: window.filter(|(from, to)| from <= to),
                as_of: asked_on(question),
            };
            let series = match induce(&typed.rows, &induction) {
                Ok(series) => series,
                Err(error) => {
                    cx.note(no_series(error));
                    continue;
                }
            };
            let mut made = self.continued(plan, &series);
            made.caveats = caveats.iter().cloned().chain(made.caveats).collect();
            made.caveats.extend(omitted(series.omitted));
            (made.group, made.unit) = (group, unit(plan, &typed));
            made.points = points(&series, &typed, collected, &made.points);
            cx.record_forecast(made.clone());
            outlook.push(made);
        }
        if outlook.is_empty() && !caveats.is_empty() {
            cx.note(caveats.join("; "));
        }
        outlook
    }

    /// The forecast without what the rows say.
    fn continued(&self, plan: &Plan, series: &Series) -> SeriesForecast {
        let values = series.values();
        let mut made = SeriesForecast {
            target: plan.target.trim().to_owned(),
            measure: plan.measure.name().to_owned(),
            granularity: plan.period_length().name().to_owned(),
            ..SeriesForecast::default()
        };
        let Some(last) = series.points.last().map(|point| point.period) else {
            made.method = "no basis: no period is over".into();
            return made;
        };
        let horizon = match plan.target_period() {
            Some(target) if target.since(last) < 1 => {
                made.caveats
                    .push(format!("{} is over: the period after it is forecast", target.label()));
                1
            }
            Some(target) => usize::try_from(target.since(last)).unwrap_or(1),
            None => plan.horizon.max(1) + usize::from(series.unfinished.is_some()),
        };
        let levels = [self.level, WIDE];
        if plan.measure == Aggregate::Event {
            return self.event(&values, last, horizon, made);
        }
        let nature = match plan.measure.measure() {
            Measure::Count | Measure::Event => Nature::Count,
            Measure::Sum | Measure::Mean if values.iter().all(|value| *value >= 0.0) => {
                Nature::Amount
            }
            Measure::Sum | Measure::Mean => Nature::Level,
        };
        let season = plan.period_length().season();
        let request = Request {
            values: &values,
            nature,
            season,
            horizon,
            levels: &levels,
            least: self.min_points,
        };
        match forecast(request) {
            Ok(forecast) => {
                made.predictions = predictions(&forecast, last);
                made.points = fitted(series, &forecast);
                made.method = method(&forecast);
                made.errors = errors(&forecast);
            }
            Err(ForecastError::TooFew { values, low, high }) => {
                let (low, high) = (halma_core::round(low), halma_core::round(high));
                let needed = self.min_points;
                made.method = format!(
                    "no basis: {values} periods, from {low} to {high}; a forecast needs {needed}"
                );
            }
            Err(ForecastError::NotFinite) => {
                made.method = "no basis: the values are too large".into();
            }
        }
        made
    }

    /// How likely it is that anything comes.
    fn event(
        &self,
        values: &[f64],
        last: Period,
        horizon: usize,
        mut made: SeriesForecast,
    ) -> SeriesForecast {
        let rate = likelihood(values, horizon, &[self.level, WIDE]);
        let (with, periods) = (rate.with, rate.periods);
        if periods < self.min_points {
            let needed = self.min_points;
            made.method =
                format!("no basis: in {with} of {periods} periods; a likelihood needs {needed}");
            return made;
        }
        let intervals = rate.intervals.iter().map(interval).collect();
        let period = last.plus(i32::try_from(horizon).unwrap_or(1)).label();
        made.predictions = vec![SeriesPrediction { period, value: rate.share, intervals }];
        made.method = format!("base rate: in {with} of {periods} periods");
        made
    }
}

fn no_series(error: InductionError) -> String {
    match error {
        InductionError::Empty(left_out) => {
            let why: Vec<String> = omitted(left_out).collect();
            let why = if why.is_empty() { "there are none".into() } else { why.join("; ") };
            format!("no row can be used: {why}")
        }
        InductionError::TooLong(periods) => format!(
            "the dates span {periods} periods: one of them is wrong, or the periods are too short"
        ),
    }
}

fn omitted(omitted: Omitted) -> impl Iterator<Item = String> {
    let Omitted { repeated, imprecise, future, detached } = omitted;
    let reasons = [
        (repeated, "stated twice"),
        (imprecise, "dated less precisely than a period"),
        (future, "dated after the day of the question"),
        (detached, "dated far from all others"),
    ];
    let said = reasons.into_iter().filter(|(rows, _)| *rows > 0);
    said.map(|(rows, why)| format!("{} rows {why} left out", thousands(rows as u64)))
}

fn unit(plan: &Plan, typed: &Typed) -> String {
    if typed.unit.is_empty() { plan.unit.trim().to_owned() } else { typed.unit.clone() }
}

fn interval(interval: &Interval) -> PredictionInterval {
    PredictionInterval { level: interval.level, low: interval.low, high: interval.high }
}

fn predictions(forecast: &Forecast, last: Period) -> Vec<SeriesPrediction> {
    let steps = (1..).zip(&forecast.steps).map(|(ahead, step)| SeriesPrediction {
        period: last.plus(ahead).label(),
        value: step.value,
        intervals: step.intervals.iter().map(interval).collect(),
    });
    steps.collect()
}

fn method(forecast: &Forecast) -> String {
    match forecast.form.as_str() {
        "" => forecast.method.name().to_owned(),
        form => format!("{}, {form}", forecast.method.name()),
    }
}

fn errors(forecast: &Forecast) -> Vec<MethodError> {
    let error = |(method, error): &(crate::forecast::Method, f64)| MethodError {
        method: method.name().to_owned(),
        error: *error,
    };
    forecast.errors.iter().map(error).collect()
}

/// The points with what the method gives for each.
fn fitted(series: &Series, forecast: &Forecast) -> Vec<SeriesPoint> {
    let fitted = forecast.fitted.iter().copied().chain(std::iter::repeat(None));
    series.points.iter().zip(fitted).map(|(point, fitted)| shown(point, fitted, true)).collect()
}

fn shown(point: &Point, fitted: Option<f64>, finished: bool) -> SeriesPoint {
    let (period, value, filled) = (point.period.label(), point.value, point.filled);
    SeriesPoint { period, value, fitted, rows: vec![], filled, finished }
}

/// All points, the unfinished one last, with the nodes that each was computed from.
fn points(
    series: &Series,
    typed: &Typed,
    collected: &Collected,
    fitted: &[SeriesPoint],
) -> Vec<SeriesPoint> {
    let nodes = |point: &Point| {
        let mut nodes: Vec<NodeId> = vec![];
        for at in &point.rows {
            let sources = &collected.rows[typed.positions[*at]].sources;
            nodes.extend(
                sources.iter().filter(|node| !nodes.contains(node)).cloned().collect::<Vec<_>>(),
            );
            if nodes.len() >= NAMED {
                break;
            }
        }
        nodes.truncate(NAMED);
        nodes
    };
    let fit = |at: usize| fitted.get(at).and_then(|point| point.fitted);
    let points = series.points.iter().enumerate();
    let mut all: Vec<SeriesPoint> = points
        .map(|(at, point)| SeriesPoint { rows: nodes(point), ..shown(point, fit(at), true) })
        .collect();
    all.extend(
        series
            .unfinished
            .as_ref()
            .map(|point| SeriesPoint { rows: nodes(point), ..shown(point, None, false) }),
    );
    all
}
