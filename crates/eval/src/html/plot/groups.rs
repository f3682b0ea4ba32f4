//! Right answers by kind of question and by hops, as bars side by side.
use super::svg::{Anchor, Svg, fitted};
use super::{Figure, few, legend, percent};
use crate::report::{number, questions};
use crate::{KindMetrics, Report, Run};

const WIDTH: f64 = 460.0;
const NAMES: f64 = 128.0;
const BAR: f64 = 13.0;
const APART: f64 = 16.0;

/// Groups beyond these are left out of the plot, the smallest first.
const MOST_GROUPS: usize = 12;

type Groups<'a> = Vec<(String, Vec<Option<&'a KindMetrics>>)>;

pub(super) fn by_kind(report: &Report) -> Option<Figure> {
    let (runs, said) = few(&report.runs);
    let mut kinds: Vec<String> = vec![];
    for kind in runs.iter().flat_map(|run| run.by_kind.keys()) {
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
    }
    kinds.sort();
    let groups = kinds.into_iter().map(|kind| {
        let of = runs.iter().map(|run| run.by_kind.get(&kind)).collect();
        (kind, of)
    });
    let caption = format!("Share of right answers by kind of question.{said}");
    draw(("kinds", "By kind of question"), caption, &runs, groups.collect())
}

pub(super) fn by_hops(report: &Report) -> Option<Figure> {
    let (runs, said) = few(&report.runs);
    let mut hops: Vec<usize> = runs.iter().flat_map(|run| run.by_hops.keys().copied()).collect();
    hops.sort_unstable();
    hops.dedup();
    let groups = hops.into_iter().map(|hops| {
        let of = runs.iter().map(|run| run.by_hops.get(&hops)).collect();
        let name = if hops == 1 { "1 hop".to_owned() } else { format!("{hops} hops") };
        (name, of)
    });
    let caption = format!(
        "Share of right answers by the hops a question takes (its gold passages, where the set \
         does not say).{said}"
    );
    draw(("hops", "By hops"), caption, &runs, groups.collect())
}

fn draw(
    (id, title): (&'static str, &'static str),
    caption: String,
    runs: &[&Run],
    mut groups: Groups,
) -> Option<Figure> {
    while groups.len() > MOST_GROUPS {
        let smallest = (0..groups.len()).min_by_key(|&i| size(&groups[i].1))?;
        groups.remove(smallest);
    }
    // One group is what the table of results says already.
    if groups.len() < 2 {
        return None;
    }
    let bars = number(runs.len()) * BAR;
    let height = number(groups.len()) * (bars + APART) + 30.0;
    let mut svg = Svg::new(WIDTH, height, format!("{title}: share of right answers, a bar a run"));
    for share in [0.0, 0.5, 1.0] {
        svg.line("grid", (across(share), 4.0), (across(share), height - 24.0));
        let words = format!("{:.0} %", share * 100.0);
        svg.text("tick", (across(share), height - 6.0), Anchor::Middle, &words);
    }
    let (mut y, mut rows) = (8.0, vec![]);
    for (name, of) in &groups {
        let (end, middle) = (NAMES - 10.0, y + bars / 2.0);
        svg.text("label", (end, middle), Anchor::End, &fitted(name, NAMES - 30.0));
        svg.text("tick", (end, middle + 13.0), Anchor::End, &questions(size(of)));
        for (i, (run, metrics)) in runs.iter().zip(of).enumerate() {
            let top = y + number(i) * BAR;
            rows.extend(metrics.and_then(|metrics| bar(&mut svg, (top, i), (run, name), metrics)));
        }
        y += bars + APART;
    }
    let head = ["", "strategy", "right", "questions"].map(str::to_owned).to_vec();
    let id = id.to_owned();
    Some(Figure { id, title, caption, legend: legend(runs), svg: svg.finish(), head, rows })
}

/// How many questions a group has in the run that has most.
fn size(of: &[Option<&KindMetrics>]) -> usize {
    of.iter().flatten().map(|metrics| metrics.n).max().unwrap_or(0)
}

fn across(share: f64) -> f64 {
    NAMES + (WIDTH - NAMES - 46.0) * share
}

/// Draws one run's bar; returns its row of the table.
fn bar(
    svg: &mut Svg,
    (y, i): (f64, usize),
    (run, group): (&Run, &str),
    metrics: &KindMetrics,
) -> Option<Vec<String>> {
    let right = metrics.right?;
    let title = format!("{}, {group}: {} of {}", run.label, percent(right), metrics.n);
    svg.bar(&format!("bar s{i}"), (NAMES, y), (across(right) - NAMES, BAR - 2.5), &title);
    let words = format!("{:.0}", right * 100.0);
    svg.text("value", (across(right) + 5.0, y + 9.0), Anchor::Start, &words);
    Some(vec![group.to_owned(), run.label.clone(), percent(right), metrics.n.to_string()])
}
