//! The series of a stored run as a table that SQL can ask, together with the tables of the base.
use std::fmt::Write as _;

use halma_core::{Event, SeriesForecast, Trace};

/// Bytes of the rows: a query has a largest length, 20,000 bytes. Of a longer series the latest periods
/// are in the table.
const MAX_BYTES: usize = 15_000;

/// A query with the table `series` of a run before it: a row for each period of each series, and for
/// each period that is forecast. `None` for a run that made no series.
///
/// Its columns are `target`, `group_name`, `period`, `value`, `fitted`, `low` and `high` (of the narrow
/// interval), `low_wide` and `high_wide`, `state` (`counted`, `unfinished` or `forecast`) and
/// `source_rows`.
pub fn over_series(trace: &Trace, sql: &str) -> Option<String> {
    let made: Vec<&SeriesForecast> = trace
        .0
        .iter()
        .filter_map(|event| match event {
            Event::SeriesForecast { series, .. } => Some(series.as_ref()),
            _ => None,
        })
        .collect();
    let rows: Vec<String> = made.iter().flat_map(|series| periods(series)).collect();
    let mut bytes = 0;
    let fits = |row: &&String| {
        bytes += row.len() + 2;
        bytes <= MAX_BYTES
    };
    let latest = rows.iter().rev().take_while(fits).count();
    let rows = &rows[rows.len() - latest..];
    if rows.is_empty() {
        return None;
    }
    let table = format!(
        "series(target, group_name, period, value, fitted, low, high, low_wide, high_wide, state, \
         source_rows) AS (VALUES {})",
        rows.join(", ")
    );
    // The user's own names go after it.
    let sql = sql.trim();
    let (first, rest) = sql.split_once(char::is_whitespace).unwrap_or((sql, ""));
    if !first.eq_ignore_ascii_case("with") {
        return Some(format!("WITH {table} {sql}"));
    }
    let rest = rest.trim_start();
    match rest.get(..10).filter(|word| word.eq_ignore_ascii_case("recursive ")) {
        Some(word) => Some(format!("WITH {word}{table}, {}", &rest[word.len()..])),
        None => Some(format!("WITH {table}, {rest}")),
    }
}

/// The rows of a series, each as a list of values.
fn periods(series: &SeriesForecast) -> Vec<String> {
    let head = format!("{}, {}", text(&series.target), text(&series.group));
    let mut rows = vec![];
    for point in &series.points {
        let state = if point.finished { "counted" } else { "unfinished" };
        let (period, value, fitted) =
            (text(&point.period), number(Some(point.value)), number(point.fitted));
        let sources = point.rows.len();
        rows.push(format!(
            "({head}, {period}, {value}, {fitted}, NULL, NULL, NULL, NULL, '{state}', {sources})"
        ));
    }
    for step in &series.predictions {
        let mut row =
            format!("({head}, {}, {}, NULL", text(&step.period), number(Some(step.value)));
        for at in 0..2 {
            let interval = step.intervals.get(at);
            let [low, high] = [interval.map(|one| one.low), interval.map(|one| one.high)];
            let _ = write!(row, ", {}, {}", number(low), number(high));
        }
        rows.push(row + ", 'forecast', 0)");
    }
    rows
}

fn text(text: &str) -> String {
    let short: String = text.chars().filter(|c| *c != '\0').take(60).collect();
    format!("'{}'", short.replace('\'', "''"))
}

fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or_else(|| "NULL".to_owned(), |v| v.to_string())
}

#[cfg(test)]
mod tests {
    use halma_core::{PredictionInterval, SeriesPoint, SeriesPrediction};

    use super::*;

    fn run() -> Trace {
        let point = SeriesPoint {
            period: "2020".into(),
            value: 3.0,
            fitted: None,
            rows: vec!["r".into()],
            filled: false,
            finished: true,
        };
        let interval = |level, low, high| PredictionInterval { level, low, high };
        let intervals = vec![interval(0.8, 1.0, 4.5), interval(0.95, 0.0, 6.0)];
        let step = SeriesPrediction { period: "2021".into(), value: 2.5, intervals };
        let series = SeriesForecast {
            target: "the keeper's towers".into(),
            points: vec![point],
            predictions: vec![step],
            ..SeriesForecast::default()
        };
        Trace(vec![Event::SeriesForecast { span: 1, series: Box::new(series) }])
    }

    #[test]
    fn a_query_gets_the_series_as_a_table() {
        let sql = over_series(&run(), "SELECT * FROM series").unwrap();
        for part in [
            "WITH series(target, ",
            "('the keeper''s towers', '', '2020', 3, NULL, NULL, NULL, NULL, NULL, 'counted', 1)",
            "'2021', 2.5, NULL, 1, 4.5, 0, 6, 'forecast', 0)) SELECT * FROM series",
        ] {
            assert!(sql.contains(part), "{part}: {sql}");
        }
        assert_eq!(over_series(&Trace::default(), "SELECT 1"), None);
    }

    #[test]
    fn a_long_series_is_cut_to_its_latest_periods() {
        let Trace(mut events) = run();
        if let Event::SeriesForecast { series, .. } = &mut events[0] {
            series.points = series.points.iter().cycle().take(5_000).cloned().collect();
        }
        let sql = over_series(&Trace(events), "SELECT 1").unwrap();
        assert!((10_000..20_000).contains(&sql.len()), "{}", sql.len());
        assert!(sql.contains("'forecast'"));
    }

    #[test]
    fn names_of_the_query_itself_stay() {
        let with = over_series(&run(), "with a AS (SELECT 1) SELECT * FROM a").unwrap();
        assert!(
            with.starts_with("WITH series(")
                && with.ends_with("), a AS (SELECT 1) SELECT * FROM a")
        );
        let deep =
            over_series(&run(), "WITH RECURSIVE n(i) AS (SELECT 1) SELECT i FROM n").unwrap();
        assert!(deep.starts_with("WITH RECURSIVE series("), "{deep}");
    }
}
