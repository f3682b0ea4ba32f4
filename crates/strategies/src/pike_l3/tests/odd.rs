//! Rows as tables really have them.
use super::*;
use crate::pike_l3::plan::Plan;
use crate::pike_l3::rows::{Collected, RawRow};
use halma_core::{Cx, Meter, Models, Prompts, Question, SeriesForecast, Setup};
use halma_testkit::Script;

fn plan(measure: &str, granularity: &str) -> Plan {
    let plan = json!({ "target": "t", "measure": measure, "granularity": granularity });
    serde_json::from_value(plan).unwrap()
}

fn rows(rows: &[(&str, &str)]) -> Collected {
    let row = |(at, (date, value)): (usize, &(&str, &str))| RawRow {
        thing: format!("thing {at}"),
        date: (*date).to_owned(),
        value: (*value).to_owned(),
        sources: vec![format!("row:{at}").as_str().into()],
        ..RawRow::default()
    };
    Collected { rows: rows.iter().enumerate().map(row).collect(), ..Collected::default() }
}

fn predict(plan: &Plan, collected: &Collected, asked_at: Option<&str>) -> Vec<SeriesForecast> {
    let prompts = Arc::new(Prompts::shipped(&[crate::PROMPTS]).unwrap());
    let models = Models::new(Script::new([]));
    let setup = Arc::new(Setup::new(models, Toy::empty(), prompts));
    let cx = Cx::new(setup, Arc::new(Meter::new(Budget::default())), None);
    let asked_at = asked_at.map(str::to_owned);
    let question = Question { asked_at, ..Question::new("How many?") };
    PikeL3::default().predict(&question, plan, collected, &cx)
}

fn one(plan: &Plan, collected: &Collected) -> SeriesForecast {
    predict(plan, collected, None).pop().unwrap()
}

fn has(series: &SeriesForecast, caveat: &str) {
    assert!(series.caveats.iter().any(|said| said.contains(caveat)), "{:?}", series.caveats);
}

#[test]
fn gaps_are_zeros_and_typos_are_left_out_and_said() {
    let dates = ["2015", "2016-05-01", "2019", "2019", "20223", "", "2203"].map(|date| (date, ""));
    let series = one(&plan("count", "year"), &rows(&dates));
    let values: Vec<f64> = series.points.iter().map(|point| point.value).collect();
    assert_eq!(values.len(), 5);
    assert!((values.iter().sum::<f64>() - 4.0).abs() < 1e-9);
    assert_eq!(series.points[4].rows.len(), 2);
    has(&series, "2 rows without a usable date (such as `20223`) left out");
    has(&series, "1 rows dated far from all others left out");
}

#[test]
fn duplicates_count_once_and_future_rows_do_not() {
    let mut collected =
        rows(&[("2019", ""), ("2020", ""), ("2021", ""), ("2022", ""), ("2031", "")]);
    let twice = RawRow { sources: vec!["copy:1".into()], ..collected.rows[0].clone() };
    collected.rows.push(twice);
    let plan = plan("count", "year");
    let series = predict(&plan, &collected, Some("2023-01-15")).pop().unwrap();
    has(&series, "1 rows stated twice left out");
    has(&series, "1 rows dated after the day of the question left out");
    assert_eq!(series.predictions[0].period, "2023");
}

#[test]
fn another_unit_is_not_added() {
    let rows = rows(&[
        ("2019", "5 t"),
        ("2020", "6 t"),
        ("2021", "7,000 kg"),
        ("2022", "8 t"),
        ("2023", "9 t"),
        ("2023", ""),
    ]);
    let series = one(&plan("mean", "year"), &rows);
    assert_eq!((series.unit.as_str(), series.points.len()), ("t", 5));
    assert!(series.points[2].filled && (series.points[2].value - 7.0).abs() < 1e-9);
    has(&series, "1 rows in another unit than t left out");
    has(&series, "1 rows without a number left out");
}

#[test]
fn one_point_is_no_basis_and_all_zeros_are_one() {
    let single = one(&plan("count", "year"), &rows(&[("2020", "")]));
    assert!(single.predictions.is_empty());
    assert_eq!(single.method, "no basis: 1 periods, from 1 to 1; a forecast needs 4");
    let mut zeros = rows(&[("2020", "0"), ("2021", "0"), ("2022", "0"), ("2023", "0")]);
    zeros.window = Some(("2015-01-01".into(), "2023-12-31".into()));
    let zeros = one(&plan("sum", "year"), &zeros);
    assert!(zeros.points.len() == 9 && zeros.predictions[0].value.abs() < 1e-9);
    assert!(predict(&plan("count", "year"), &Collected::default(), None).is_empty());
    assert!(predict(&plan("count", "year"), &rows(&[("soon", ""), ("", "")]), None).is_empty());
}

#[test]
fn an_event_has_a_likelihood_and_a_group_a_series_of_its_own() {
    let event = one(
        &plan("event", "year"),
        &rows(&[("2015", ""), ("2018", ""), ("2020", ""), ("2023", "")]),
    );
    assert!(event.predictions[0].value > 0.4 && event.predictions[0].value < 0.5);
    assert_eq!(event.method, "base rate: in 4 of 9 periods");
    let mut grouped = rows(&[("2019", ""), ("2020", ""), ("2021", ""), ("2022", ""), ("2022", "")]);
    grouped.rows.iter_mut().take(4).for_each(|row| row.group = "Oslo".into());
    let outlook = predict(&plan("count", "year"), &grouped, None);
    let groups: Vec<&str> = outlook.iter().map(|series| series.group.as_str()).collect();
    assert_eq!(groups, ["Oslo", ""]);
    assert!(outlook[1].predictions.is_empty());
}

#[test]
fn a_hundred_thousand_rows_are_quick() {
    let dates: Vec<String> = (0..100_000)
        .map(|at| format!("{}-{:02}-{:02}", 2000 + at % 20, at % 12 + 1, at % 28 + 1))
        .collect();
    let dates: Vec<(&str, &str)> = dates.iter().map(|date| (date.as_str(), "")).collect();
    let series = one(&plan("count", "month"), &rows(&dates));
    assert!(series.points.len() <= 240 && series.points.iter().all(|point| point.rows.len() <= 50));
    assert!(!series.predictions.is_empty());
}
