//! How long questions took: the spread of each run, not only its middle.
use super::svg::{Anchor, Svg, fitted};
use super::ticks::{Axis, time};
use super::{Figure, few};
use crate::report::number;
use crate::{Report, Run};

const WIDTH: f64 = 460.0;
const NAMES: f64 = 124.0;
const RIGHT: f64 = 446.0;
const ROW: f64 = 48.0;
const HILL: f64 = 34.0;
const PLACES: usize = 96;

pub(super) fn figure(report: &Report) -> Option<Figure> {
    let (runs, said) = few(&report.runs);
    let measured: Vec<(&Run, Vec<f64>)> = runs
        .into_iter()
        .map(|run| (run, times(run)))
        .filter(|(_, times)| !times.is_empty())
        .collect();
    let all = || measured.iter().flat_map(|(_, times)| times.iter().copied());
    all().next()?;
    let axis = Axis::logarithmic(all(), (NAMES, RIGHT));
    let height = number(measured.len()) * ROW + 40.0;
    let bottom = height - 30.0;
    let mut svg = Svg::new(WIDTH, height, "How the times of questions spread, a hill a run");
    for tick in &axis.ticks {
        let x = axis.place(*tick);
        svg.line("grid", (x, 4.0), (x, bottom));
        svg.text("tick", (x, bottom + 18.0), Anchor::Middle, &time(*tick));
    }
    let (mut base, mut rows) = (ROW, vec![]);
    for (i, (run, times)) in measured.iter().enumerate() {
        hill(&mut svg, &axis, (base, i), times);
        svg.text(
            "label",
            (NAMES - 10.0, base - 6.0),
            Anchor::End,
            &fitted(&run.label, NAMES - 26.0),
        );
        let (p50, p95) = (run.latency_ms.p50, run.latency_ms.p95);
        for (name, value, class) in [("median", p50, "middle"), ("95th percentile", p95, "tail")] {
            let Some(ms) = value else { continue };
            let (x, title) = (axis.place(ms), format!("{}, {name}: {}", run.label, time(ms)));
            svg.line(&format!("mark {class}"), (x, base - HILL + 8.0), (x, base));
            svg.dot(&format!("point s{i}"), (x, base), 3.5, &title);
        }
        let shown = |value: Option<f64>| value.map_or("–".into(), time);
        rows.push(vec![run.label.clone(), shown(p50), shown(p95), times.len().to_string()]);
        base += ROW;
    }
    Some(Figure {
        id: "latency".into(),
        title: "How long questions took",
        caption: format!(
            "As measured beside as many others as ran at once; the marks are the median and the \
             95th percentile.{said}"
        ),
        legend: vec![],
        svg: svg.finish(),
        head: ["strategy", "median", "95th percentile", "questions"].map(str::to_owned).to_vec(),
        rows,
    })
}

fn times(run: &Run) -> Vec<f64> {
    let scored = run.results.iter().filter(|result| result.score.is_some());
    scored.map(|result| result.latency_ms).filter(|ms| *ms > 0.0).collect()
}

/// A smoothed histogram over the axis: every question is a small bump.
fn hill(svg: &mut Svg, axis: &Axis, (base, i): (f64, usize), times: &[f64]) {
    let reach = 9.0;
    let places: Vec<f64> = times.iter().map(|ms| axis.place(*ms)).collect();
    let across = |k: usize| NAMES + (RIGHT - NAMES) * number(k) / number(PLACES);
    let height = |x: f64| -> f64 {
        places.iter().map(|place| (-((x - place) / reach).powi(2) / 2.0).exp()).sum()
    };
    let heights: Vec<f64> = (0..=PLACES).map(|k| height(across(k))).collect();
    let most = heights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mut outline: Vec<(f64, f64)> = heights
        .iter()
        .enumerate()
        .map(|(k, height)| (across(k), base - HILL * height / most))
        .collect();
    outline.insert(0, (NAMES, base));
    outline.push((RIGHT, base));
    svg.path(&format!("hill s{i}"), &outline, true);
    svg.line("axis", (NAMES, base), (RIGHT, base));
}
