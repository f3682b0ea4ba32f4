//! The cost frontier: what accuracy a token buys (KAR³, Table 10; DEC, Figure 7).
use super::svg::{Anchor, Svg, width};
use super::ticks::{Axis, short};
use super::{Figure, colour, percent};
use crate::{Report, Run};

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 444.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 272.0;

/// Labels beside more points than this would cover one another.
const MOST_LABELS: usize = 14;

struct Point<'a> {
    run: &'a Run,
    /// Tokens a question; calls a question where no model counts tokens.
    cost: f64,
    right: f64,
    at: (f64, f64),
}

pub(super) fn figure(report: &Report) -> Option<Figure> {
    // The offline model counts no tokens; then calls tell runs apart.
    let counted = |run: &Run| run.tokens.per_question.is_some_and(|tokens| tokens > 0.0);
    let unit = if report.runs.iter().any(counted) { "tokens" } else { "calls" };
    let mut points: Vec<Point> = report
        .runs
        .iter()
        .filter_map(|run| {
            let (cost, right) = (cost(run, unit)?, run.metrics.right?);
            Some(Point { run, cost, right, at: (0.0, 0.0) })
        })
        .collect();
    if points.len() < 2 {
        return None;
    }
    let across = across(&points);
    let up = up(&points);
    for point in &mut points {
        point.at = (across.place(point.cost), up.place(point.right));
    }
    let description = format!("Share of right answers against {unit} a question, one point a run");
    let mut svg = Svg::new(WIDTH, HEIGHT, &description);
    axes(&mut svg, &across, &up);
    svg.text("name", (RIGHT, BOTTOM + 38.0), Anchor::End, &format!("{unit} a question →"));
    let best = frontier(&points);
    svg.path("frontier", &steps(&best), false);
    strategies(&mut svg, &report.runs, &points);
    for point in &points {
        let class = format!("point s{}", colour(&report.runs, point.run));
        let title = format!(
            "{}: {} right, {:.0} {unit}",
            point.run.label,
            percent(point.right),
            point.cost
        );
        svg.dot(&class, point.at, 5.5, &title);
    }
    labels(&mut svg, &points);
    let judged = report.runs.iter().any(|run| run.judged.is_some());
    let by = if judged { "the judge" } else { "exact match" };
    Some(Figure {
        id: "frontier".into(),
        title: "What accuracy costs",
        caption: format!(
            "Right answers by {by} against {unit} a question. Runs on the dashed line are beaten by \
             none that is cheaper."
        ),
        legend: vec![],
        svg: svg.finish(),
        head: vec!["strategy".into(), "right".into(), format!("{unit} a question")],
        rows: points
            .iter()
            .map(|p| vec![p.run.label.clone(), percent(p.right), format!("{:.0}", p.cost)])
            .collect(),
    })
}

fn cost(run: &Run, unit: &str) -> Option<f64> {
    match unit {
        "calls" if run.results.is_empty() => None,
        #[expect(clippy::cast_precision_loss, reason = "calls of some questions")]
        "calls" => {
            let calls: u64 = run.components.iter().map(|part| part.calls).sum();
            Some(calls as f64 / run.results.len() as f64)
        }
        _ => run.tokens.per_question,
    }
}

fn across(points: &[Point]) -> Axis {
    let costs = || points.iter().map(|point| point.cost);
    let least = costs().fold(f64::INFINITY, f64::min);
    let most = costs().fold(0.0, f64::max);
    if least > 0.0 && most / least > 6.0 {
        Axis::logarithmic(costs(), (LEFT + 16.0, RIGHT - 16.0))
    } else {
        Axis::over(costs().chain([0.0]), (LEFT, RIGHT))
    }
}

/// From a little below the worst to a little above the best: the frontier is about differences.
fn up(points: &[Point]) -> Axis {
    let margin = 0.04;
    let values =
        points.iter().flat_map(|p| [(p.right - margin).max(0.0), (p.right + margin).min(1.0)]);
    Axis::over(values, (BOTTOM, TOP))
}

fn axes(svg: &mut Svg, across: &Axis, up: &Axis) {
    for tick in &up.ticks {
        let y = up.place(*tick);
        svg.line("grid", (LEFT, y), (RIGHT, y));
        svg.text("tick", (LEFT - 7.0, y + 4.0), Anchor::End, &format!("{:.0}", tick * 100.0));
    }
    svg.line("axis", (LEFT, BOTTOM), (RIGHT, BOTTOM));
    for tick in &across.ticks {
        let x = across.place(*tick);
        svg.line("axis", (x, BOTTOM), (x, BOTTOM + 4.0));
        svg.text("tick", (x, BOTTOM + 18.0), Anchor::Middle, &short(*tick));
    }
    svg.text("name", (LEFT, BOTTOM + 38.0), Anchor::Start, "↑ right, %");
}

/// The runs that no other beats for as many tokens or fewer, cheapest first.
fn frontier<'a, 'b>(points: &'b [Point<'a>]) -> Vec<&'b Point<'a>> {
    let mut sorted: Vec<&Point> = points.iter().collect();
    sorted.sort_by(|a, b| a.cost.total_cmp(&b.cost).then(b.right.total_cmp(&a.right)));
    let mut best = f64::NEG_INFINITY;
    sorted.retain(|point| {
        let better = point.right > best;
        best = best.max(point.right);
        better
    });
    sorted
}

/// A staircase: between two runs one gets what the cheaper one gives.
fn steps(best: &[&Point]) -> Vec<(f64, f64)> {
    let mut path: Vec<(f64, f64)> = vec![];
    for point in best {
        if let Some(&(_, y)) = path.last() {
            path.push((point.at.0, y));
        }
        path.push(point.at);
    }
    if let Some(&(_, y)) = path.last() {
        path.push((RIGHT, y));
    }
    path
}

/// The points of one strategy are joined, so that a grid is seen as a curve.
fn strategies(svg: &mut Svg, runs: &[Run], points: &[Point]) {
    for (i, point) in points.iter().enumerate() {
        let strategy = &point.run.strategy;
        if points[..i].iter().any(|other| other.run.strategy == *strategy) {
            continue;
        }
        let mut own: Vec<&Point> =
            points.iter().filter(|point| point.run.strategy == *strategy).collect();
        own.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        if own.len() > 1 {
            let class = format!("joined s{}", colour(runs, point.run));
            svg.path(&class, &own.iter().map(|point| point.at).collect::<Vec<_>>(), false);
        }
    }
}

/// Each label above its point, or where that is taken below, right or left of it.
fn labels(svg: &mut Svg, points: &[Point]) {
    if points.len() > MOST_LABELS {
        return;
    }
    let mut taken: Vec<(f64, f64, f64)> =
        points.iter().map(|point| (point.at.0 - 6.0, point.at.1 + 5.0, 12.0)).collect();
    for point in points {
        let (x, y) = point.at;
        let words = point.run.label.as_str();
        let room = width(words);
        let centred = (x - room / 2.0).clamp(LEFT + 2.0, (RIGHT - room).max(LEFT + 2.0));
        let places = [
            (centred, y - 11.0),
            (centred, y + 20.0),
            (x + 10.0, y + 4.0),
            (x - room - 10.0, y + 4.0),
        ];
        let free = |(left, base): &(f64, f64)| {
            *left >= LEFT
                && *left + room <= WIDTH
                && *base > 10.0
                && *base < BOTTOM
                && taken.iter().all(|(other, line, wide)| {
                    left + room < *other || *left > other + wide || (base - line).abs() > 13.0
                })
        };
        let (left, base) = places.into_iter().find(free).unwrap_or(places[0]);
        taken.push((left, base, room));
        svg.text("label", (left, base), Anchor::Start, words);
    }
}
