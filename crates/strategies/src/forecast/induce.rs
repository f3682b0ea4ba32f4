//! Rows to a series (PIKE-RAG, Section 5.4: knowledge induction): grouped by period, counted, added
//! up or averaged, without gaps.
use std::collections::{BTreeMap, HashSet};

use time::Date;

use crate::forecast::methods::{number, theil_sen};
use crate::forecast::period::{Granularity, Period};

/// Periods that a series may have; beyond them a date is wrong or the granularity is.
const MAX_PERIODS: i32 = 20_000;
/// A row this many periods away from all others, and further than they span, is not one of them.
const DETACHED: i64 = 10;
/// The last values that a slope is computed from.
const SLOPED: usize = 400;
/// Rows that the last period must lack, by the rate of the others, to count as unfinished: with 3
/// it would be finished once in twenty times (the rule of three).
const LACKING: f64 = 3.0;

/// What is computed over the rows of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// How many there are.
    Count,
    Sum,
    Mean,
    /// 1 where there is any.
    Event,
}

/// A dated thing.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Empty where it has no name.
    pub thing: String,
    /// From the first to the last day that its date may mean.
    pub first: Date,
    pub last: Date,
    /// How many things the row stands for where rows are counted; mostly 1.
    pub value: f64,
}

/// How rows are made a series.
#[derive(Debug, Clone, Copy)]
pub struct Induction {
    pub measure: Measure,
    pub granularity: Granularity,
    /// From when to when the source has rows of its kind, where that is known: periods without a
    /// row in between are zeros.
    pub window: Option<(Date, Date)>,
    /// The day of the question: later rows are not facts, and the period it lies in is unfinished.
    pub as_of: Option<Date>,
}

/// One period of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub period: Period,
    pub value: f64,
    /// Positions of its rows.
    pub rows: Vec<usize>,
    /// There was no row: a zero, or for averages a value between the neighbours.
    pub filled: bool,
}

/// Rows that are not in the series.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Omitted {
    /// With the date and the value of another row of the same thing.
    pub repeated: usize,
    /// Dated less precisely than a period is long.
    pub imprecise: usize,
    /// Dated after the day of the question.
    pub future: usize,
    /// Dated far away from all others.
    pub detached: usize,
}

/// Values by period, without gaps.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub points: Vec<Point>,
    /// The last period where it is not over: not part of the series.
    pub unfinished: Option<Point>,
    pub omitted: Omitted,
}

/// Why there is no series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InductionError {
    /// No row is left; what was omitted.
    Empty(Omitted),
    /// That many periods.
    TooLong(i32),
}

/// Rows by what becomes of them; positions.
struct Usable {
    used: Vec<usize>,
    /// Far from all others.
    detached: Vec<usize>,
    omitted: Omitted,
}

/// Makes rows a series.
pub fn induce(rows: &[Row], how: &Induction) -> Result<Series, InductionError> {
    let Usable { used, detached, omitted } = how.usable(rows);
    let period = |day: Date| Period::containing(day, how.granularity);
    let dates = used.iter().map(|at| rows[*at].first);
    let ends = used.iter().map(|at| rows[*at].last);
    let (Some(earliest), Some(latest)) = (dates.min(), ends.max()) else {
        return Err(InductionError::Empty(omitted));
    };
    let window = how.window.filter(|_| how.measure != Measure::Mean);
    // An end that a row far from all others gives to the window is a typo as well.
    let is_typo =
        |end: Date| detached.iter().any(|at| (rows[*at].first..=rows[*at].last).contains(&end));
    let window = window.map(|(from, to)| {
        (if is_typo(from) { earliest } else { from }, if is_typo(to) { latest } else { to })
    });
    let first = period(window.map_or(earliest, |(from, _)| from.min(earliest)));
    let end = window.map_or(latest, |(_, to)| to.max(latest));
    let end = how.as_of.map_or(end, |as_of| end.min(as_of.max(latest)));
    let last = period(end);
    let periods = last.since(first).saturating_add(1);
    if periods > MAX_PERIODS {
        return Err(InductionError::TooLong(periods));
    }
    let mut members: BTreeMap<i32, Vec<usize>> = BTreeMap::new();
    for at in &used {
        members.entry(period(rows[*at].first).since(first)).or_default().push(*at);
    }
    let unfinished = how.is_unfinished(last, end, rows, &used);
    let mut points: Vec<Point> = (0..periods)
        .map(|at| {
            let rows_of = members.remove(&at).unwrap_or_default();
            let values: Vec<f64> = rows_of.iter().map(|at| rows[*at].value).collect();
            let filled = rows_of.is_empty();
            let value = how.measure.value(&values);
            Point { period: first.plus(at), value, rows: rows_of, filled }
        })
        .collect();
    if how.measure == Measure::Mean {
        interpolate(&mut points);
    }
    let unfinished = if unfinished { points.pop() } else { None };
    if points.is_empty() && unfinished.is_none() {
        return Err(InductionError::Empty(omitted));
    }
    Ok(Series { points, unfinished, omitted })
}

impl Measure {
    fn value(self, values: &[f64]) -> f64 {
        match self {
            Self::Count | Self::Sum => values.iter().sum::<f64>() + 0.0,
            Self::Mean => values.iter().sum::<f64>() / number(values.len().max(1)),
            Self::Event => f64::from(u8::from(!values.is_empty())),
        }
    }
}

impl Induction {
    /// Positions of the rows that can be used.
    fn usable(&self, rows: &[Row]) -> Usable {
        let (mut omitted, mut used, mut seen) = (Omitted::default(), vec![], HashSet::new());
        for (at, row) in rows.iter().enumerate() {
            let period = |day: Date| Period::containing(day, self.granularity);
            let key = (row.thing.to_lowercase(), row.first, row.last, row.value.to_bits());
            if period(row.first) != period(row.last) {
                omitted.imprecise += 1;
            } else if self.as_of.is_some_and(|as_of| row.first > as_of) {
                omitted.future += 1;
            } else if !row.thing.is_empty() && !seen.insert(key) {
                omitted.repeated += 1;
            } else {
                used.push(at);
            }
        }
        let detached = drop_detached(rows, &mut used, self.granularity);
        omitted.detached = detached.len();
        Usable { used, detached, omitted }
    }

    /// Whether the last period is not over: the day of the question lies in it, or more rows than
    /// it can lack by chance would still have to come.
    fn is_unfinished(&self, last: Period, end: Date, rows: &[Row], used: &[usize]) -> bool {
        if let Some(as_of) = self.as_of {
            return Period::containing(as_of, self.granularity) == last && as_of < last.last_day();
        }
        let days = |date: Date| i64::from(date.to_julian_day());
        let daily = used.iter().all(|at| rows[*at].first == rows[*at].last);
        let Some(first) = used.iter().map(|at| rows[*at].first).min() else { return false };
        let (span, rest) = (days(end) - days(first), days(last.last_day()) - days(end));
        #[expect(clippy::cast_precision_loss, reason = "numbers of days")]
        let lacking = number(used.len()) / (span.max(1) as f64) * rest as f64;
        daily && lacking > LACKING
    }
}

/// Drops rows at either end of time that are far from all others, at most one in twenty. Returns
/// their positions.
fn drop_detached(rows: &[Row], used: &mut Vec<usize>, granularity: Granularity) -> Vec<usize> {
    let mut sorted = used.clone();
    sorted.sort_by_key(|at| rows[*at].first);
    let max_dropped = used.len() / 20 + usize::from(used.len() >= 4);
    let at = |at: usize| {
        i64::from(
            Period::containing(rows[at].first, granularity)
                .since(Period::containing(rows[used[0]].first, granularity)),
        )
    };
    let mut dropped = vec![];
    while dropped.len() < max_dropped && sorted.len() > 2 {
        let n = sorted.len();
        let gap = |from: usize, to: usize| at(sorted[to]) - at(sorted[from]);
        if gap(n - 2, n - 1) > DETACHED.max(gap(0, n - 2) * 2) {
            dropped.push(sorted.remove(n - 1));
        } else if gap(0, 1) > DETACHED.max(gap(1, n - 1) * 2) {
            dropped.push(sorted.remove(0));
        } else {
            break;
        }
    }
    used.retain(|at| !dropped.contains(at));
    dropped
}

/// Periods without a row lie on the line between their neighbours.
fn interpolate(points: &mut [Point]) {
    let seen: Vec<usize> = (0..points.len()).filter(|at| !points[*at].filled).collect();
    for pair in seen.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let step = (points[to].value - points[from].value) / number(to - from);
        for at in from + 1..to {
            points[at].value = points[from].value + step * number(at - from);
        }
    }
}

impl Series {
    pub fn values(&self) -> Vec<f64> {
        self.points.iter().map(|point| point.value).collect()
    }

    /// The change from one period to the next: the median of the slopes of the last values.
    pub fn slope(&self) -> f64 {
        let values = self.values();
        theil_sen(&values[values.len().saturating_sub(SLOPED)..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Date {
        Period::parse(text).unwrap().first_day()
    }

    fn row(thing: &str, date: &str) -> Row {
        let period = Period::parse(date).unwrap();
        Row { thing: thing.into(), first: period.first_day(), last: period.last_day(), value: 1.0 }
    }

    fn rows(dates: &[&str]) -> Vec<Row> {
        dates.iter().enumerate().map(|(i, date)| row(&format!("thing {i}"), date)).collect()
    }

    fn by(granularity: Granularity) -> Induction {
        Induction { measure: Measure::Count, granularity, window: None, as_of: None }
    }

    fn counted(dates: &[&str], how: &Induction) -> Vec<f64> {
        induce(&rows(dates), how).unwrap().values()
    }

    #[test]
    fn gaps_are_zeros_and_years_may_be_dates() {
        let series =
            induce(&rows(&["2019-03-01", "2021", "2019"]), &by(Granularity::Year)).unwrap();
        assert_eq!(series.values(), [2.0, 0.0, 1.0]);
        assert_eq!(series.points[0].rows, [0, 2]);
        assert!(series.points[1].filled && !series.points[2].filled);
        assert_eq!(series.points[2].period.label(), "2021");
    }

    #[test]
    fn the_window_of_the_source_is_filled() {
        let window = Some((day("2017-03-01"), day("2023-10-31")));
        let how = Induction { window, ..by(Granularity::Year) };
        assert_eq!(counted(&["2021", "2022", "2022"], &how), [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0]);
    }

    #[test]
    fn a_typo_does_not_lengthen_the_window() {
        let dates = ["2019", "2020", "2021", "2022", "2203"];
        let counted = |window| {
            let how = Induction { window: Some(window), ..by(Granularity::Year) };
            induce(&rows(&dates), &how).unwrap().values()
        };
        assert_eq!(counted((day("2019"), day("2203"))), [1.0; 4]);
        assert_eq!(counted((day("2018"), day("2203-12-31"))), [0.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!(counted((day("2019"), day("2023"))), [1.0, 1.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn repeated_imprecise_and_future_rows_are_omitted() {
        let mut all = rows(&["2020-01-05", "2020-02-05", "2020", "2031-01-01"]);
        all.push(row("THING 0", "2020-01-05"));
        all.push(row("thing 0", "2020-02-09"));
        let as_of = Some(day("2020-06-30"));
        let series = induce(&all, &Induction { as_of, ..by(Granularity::Month) }).unwrap();
        assert_eq!(series.values(), [1.0, 2.0]);
        let omitted = Omitted { repeated: 1, imprecise: 1, future: 1, detached: 0 };
        assert_eq!(series.omitted, omitted);
        let none = induce(&all[2..3], &by(Granularity::Month)).unwrap_err();
        assert!(matches!(none, InductionError::Empty(Omitted { imprecise: 1, .. })));
    }

    #[test]
    fn a_date_far_from_all_others_is_a_typo() {
        let dates = ["2019", "2020", "2021", "2022", "2203"];
        let series = induce(&rows(&dates), &by(Granularity::Year)).unwrap();
        assert_eq!((series.points.len(), series.omitted.detached), (4, 1));
        // Two rows say nothing on each other.
        assert_eq!(counted(&["1950", "2020"], &by(Granularity::Year)).len(), 71);
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "whole numbers")]
    fn an_unfinished_last_period_is_not_part_of_the_series() {
        let as_of = Some(day("2023-06-01"));
        let how = Induction { as_of, ..by(Granularity::Year) };
        let series = induce(&rows(&["2021", "2022-01-01", "2023-02-01"]), &how).unwrap();
        assert_eq!(series.values(), [1.0, 1.0]);
        assert_eq!(series.unfinished.unwrap().value, 1.0);
        // Monthly until March: nine more would have to come.
        let months: Vec<String> =
            (0..27).map(|at| format!("{}-{:02}-01", 2021 + at / 12, at % 12 + 1)).collect();
        let months: Vec<&str> = months.iter().map(String::as_str).collect();
        let series = induce(&rows(&months), &by(Granularity::Year)).unwrap();
        assert_eq!(series.values(), [12.0, 12.0]);
        assert_eq!(series.unfinished.map(|point| point.value), Some(3.0));
    }

    #[test]
    fn averages_have_no_zeros() {
        let mut all = rows(&["2020-01", "2020-01", "2020-04"]);
        for (row, value) in all.iter_mut().zip([10.0, 20.0, 30.0]) {
            row.value = value;
        }
        let how = Induction { measure: Measure::Mean, ..by(Granularity::Month) };
        let series = induce(&all, &how).unwrap();
        assert_eq!(series.values(), [15.0, 20.0, 25.0, 30.0]);
        assert!((series.slope() - 5.0).abs() < 1e-9);
        let sum = Induction { measure: Measure::Sum, ..how };
        assert_eq!(induce(&all, &sum).unwrap().values(), [30.0, 0.0, 0.0, 30.0]);
        let event = Induction { measure: Measure::Event, ..how };
        assert_eq!(induce(&all, &event).unwrap().values(), [1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "whole numbers")]
    fn many_rows_are_quick_and_too_many_periods_are_refused() {
        let first = day("2000-01-01");
        let many: Vec<Row> = (0..100_000)
            .map(|at| {
                let date = first + time::Duration::days(at % 7_000);
                Row { thing: format!("t{at}"), first: date, last: date, value: 1.0 }
            })
            .collect();
        let series = induce(&many, &by(Granularity::Month)).unwrap();
        let last = series.unfinished.as_ref().map_or(0.0, |point| point.value);
        assert_eq!(series.values().iter().sum::<f64>() + last, 100_000.0);
        let far = rows(&["0100-01-01", "2020-01-01"]);
        let long = induce(&far, &by(Granularity::Day)).unwrap_err();
        assert!(matches!(long, InductionError::TooLong(_)));
        assert!(induce(&[], &by(Granularity::Day)).is_err());
    }
}
