//! A setting against what it does: for each numeric axis of a grid, right answers and support
//! (KAR³, Figure 5, against N).
use std::collections::{BTreeMap, BTreeSet};

use super::svg::{Anchor, Svg};
use super::ticks::{Axis, short};
use super::{Figure, percent};
use crate::{Report, Run};

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 444.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 252.0;

/// Lines beyond these cannot be told apart.
const MOST_SERIES: usize = 8;

/// The runs of one strategy that differ in this setting only.
struct Series<'a> {
    name: String,
    runs: Vec<(f64, &'a Run)>,
}

pub(super) fn figures(report: &Report) -> Vec<Figure> {
    let settings: BTreeSet<&str> =
        report.runs.iter().flat_map(|run| run.point.keys()).map(String::as_str).collect();
    let mut figures: Vec<Figure> =
        settings.into_iter().filter_map(|setting| figure(report, setting)).collect();
    for (i, figure) in figures.iter_mut().enumerate().skip(1) {
        figure.id = format!("against-{}", i + 1);
    }
    figures
}

fn figure(report: &Report, setting: &str) -> Option<Figure> {
    let all = series(report, setting);
    let shown: Vec<&Series> = all.iter().take(MOST_SERIES).collect();
    if shown.is_empty() {
        return None;
    }
    let values = || shown.iter().flat_map(|series| series.runs.iter().map(|(value, _)| *value));
    let across = Axis::over(values(), (LEFT + 14.0, RIGHT - 14.0));
    let up = Axis::fractions((BOTTOM, TOP));
    let mut svg = Svg::new(WIDTH, HEIGHT, format!("Right answers and support against {setting}"));
    axes(&mut svg, &across, &up, setting, &values().collect::<Vec<_>>());
    let mut rows = vec![];
    for (i, series) in shown.iter().enumerate() {
        curve(&mut svg, (&across, &up), i, series);
        for (value, run) in &series.runs {
            let shown = |value: Option<f64>| value.map_or("–".into(), percent);
            let (right, support) = (run.metrics.right, run.metrics.support_recall);
            rows.push(vec![series.name.clone(), short(*value), shown(right), shown(support)]);
        }
    }
    let left_out = all.len() - shown.len();
    let said =
        if left_out > 0 { format!(" {left_out} series are left out.") } else { String::new() };
    Some(Figure {
        id: "against".into(),
        title: "Against a setting",
        caption: format!(
            "`{setting}` against right answers (solid) and gold passages cited (dashed), in percent.{said}"
        ),
        legend: shown.iter().enumerate().map(|(i, s)| (format!("s{i}"), s.name.clone())).collect(),
        svg: svg.finish(),
        head: ["series", setting, "right", "support"].map(str::to_owned).to_vec(),
        rows,
    })
}

/// Runs by everything but this setting, each series by its values; only where there are two.
fn series<'a>(report: &'a Report, setting: &str) -> Vec<Series<'a>> {
    let mut all: BTreeMap<String, Vec<(f64, &Run)>> = BTreeMap::new();
    for run in &report.runs {
        let Some(value) = run.point.get(setting).and_then(|value| value.parse::<f64>().ok()) else {
            continue;
        };
        let others: Vec<String> = run
            .point
            .iter()
            .filter(|(key, _)| *key != setting)
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let name = match others.as_slice() {
            [] => run.strategy.clone(),
            _ => format!("{} {}", run.strategy, others.join(", ")),
        };
        all.entry(name).or_default().push((value, run));
    }
    let sorted = |(name, mut runs): (String, Vec<(f64, &'a Run)>)| {
        runs.sort_by(|a, b| a.0.total_cmp(&b.0));
        (runs.len() > 1).then_some(Series { name, runs })
    };
    all.into_iter().filter_map(sorted).collect()
}

fn axes(svg: &mut Svg, across: &Axis, up: &Axis, setting: &str, values: &[f64]) {
    for tick in &up.ticks {
        let y = up.place(*tick);
        svg.line("grid", (LEFT, y), (RIGHT, y));
        svg.text("tick", (LEFT - 7.0, y + 4.0), Anchor::End, &format!("{:.0}", tick * 100.0));
    }
    svg.line("axis", (LEFT, BOTTOM), (RIGHT, BOTTOM));
    let mut own = values.to_vec();
    own.sort_by(f64::total_cmp);
    own.dedup();
    let ticks = if own.len() <= 12 { &own } else { &across.ticks };
    for tick in ticks {
        let x = across.place(*tick);
        svg.line("axis", (x, BOTTOM), (x, BOTTOM + 4.0));
        svg.text("tick", (x, BOTTOM + 18.0), Anchor::Middle, &short(*tick));
    }
    svg.text("name", (RIGHT, BOTTOM + 38.0), Anchor::End, &format!("{setting} →"));
    svg.text("name", (LEFT, BOTTOM + 38.0), Anchor::Start, "↑ %");
}

fn curve(svg: &mut Svg, (across, up): (&Axis, &Axis), i: usize, series: &Series) {
    let through = |value: fn(&Run) -> Option<f64>| {
        let point = |(at, run): &(f64, &Run)| Some((across.place(*at), up.place(value(run)?)));
        series.runs.iter().filter_map(point).collect::<Vec<_>>()
    };
    svg.path(&format!("curve dashed s{i}"), &through(|run| run.metrics.support_recall), false);
    svg.path(&format!("curve s{i}"), &through(|run| run.metrics.right), false);
    for (at, run) in &series.runs {
        if let Some(right) = run.metrics.right {
            let title = format!("{}: {} right", run.label, percent(right));
            svg.dot(&format!("point s{i}"), (across.place(*at), up.place(right)), 4.0, &title);
        }
    }
}
