//! Right answers by kind of question and by hops, as bars side by side.
use super::svg::{Anchor, Svg, fitted};
use super::{Figure, few, legend, percent};
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
    let size = |of: &[Option<&KindMetrics>]| of.iter().flatten().map(|m| m.n).max().unwrap_or(0);
    while groups.len() > MOST_GROUPS {
        let smallest = (0..groups.len()).min_by_key(|&i| size(&groups[i].1))?;
        groups.remove(smallest);
    }
    // One group is what the table of results says already.
    if groups.len() < 2 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "a handful of bars")]
    let (bars, between) = (runs.len() as f64 * BAR, groups.len() as f64 * APART);
    let height = groups.iter().map(|_| bars).sum::<f64>() + between + 30.0;
    let mut svg = Svg::new(WIDTH, height, format!("{title}: share of right answers, a bar a run"));
    let across = |share: f64| NAMES + (WIDTH - NAMES - 46.0) * share;
    for share in [0.0, 0.5, 1.0] {
        svg.line("grid", (across(share), 4.0), (across(share), height - 24.0));
        let words = format!("{:.0} %", share * 100.0);
        svg.text("tick", (across(share), height - 6.0), Anchor::Middle, &words);
    }
    let (mut y, mut rows) = (8.0, vec![]);
    for (name, of) in &groups {
        let middle = y + bars / 2.0;
        let shown = fitted(name, NAMES - 30.0);
        svg.text("label", (NAMES - 10.0, middle), Anchor::End, &shown);
        let count = format!("{} questions", size(of));
        svg.text("tick", (NAMES - 10.0, middle + 13.0), Anchor::End, &count);
        for (i, (run, metrics)) in runs.iter().zip(of).enumerate() {
            let Some((metrics, right)) = metrics.and_then(|m| Some((m, m.right?))) else {
                y += BAR;
                continue;
            };
            let title = format!("{}, {name}: {} of {}", run.label, percent(right), metrics.n);
            let size = (across(right) - NAMES, BAR - 2.5);
            svg.bar(&format!("bar s{i}"), (NAMES, y), size, &title);
            let words = format!("{:.0}", right * 100.0);
            svg.text("value", (across(right) + 5.0, y + 9.0), Anchor::Start, &words);
            let n = metrics.n.to_string();
            rows.push(vec![name.clone(), run.label.clone(), percent(right), n]);
            y += BAR;
        }
        y += APART;
    }
    let head = ["", "strategy", "right", "questions"].map(str::to_owned).to_vec();
    let id = id.to_owned();
    Some(Figure { id, title, caption, legend: legend(runs), svg: svg.finish(), head, rows })
}
