//! The plots, each drawn from a report's figures alone.
mod against;
mod frontier;
mod groups;
mod latency;
mod lost;
mod svg;
mod ticks;

use std::fmt::Write as _;

use super::escape::text;
use crate::{Report, Run};

/// A plot with its title, what to read in it, and its figures as a table.
pub(super) struct Figure {
    /// Its name in the page, for links and tests.
    pub(super) id: String,
    pub(super) title: &'static str,
    pub(super) caption: String,
    /// Classes of colour with what they stand for; empty where labels say it in the plot.
    pub(super) legend: Vec<(String, String)>,
    pub(super) svg: String,
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Figure {
    pub(super) fn html(&self) -> String {
        let Self { id, title, caption, svg, .. } = self;
        let mut out = format!(
            "<figure class=\"card\" id=\"plot-{id}\"><figcaption><h2>{}</h2><p class=\"hint\">{}</p>\
             </figcaption>{svg}",
            text(title),
            text(caption)
        );
        if !self.legend.is_empty() {
            out.push_str("<ul class=\"legend\">");
            for (class, name) in &self.legend {
                let _ = write!(
                    out,
                    "<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect class=\"{class}\" \
                     width=\"12\" height=\"12\" rx=\"3\"/></svg>{}</li>",
                    text(name)
                );
            }
            out.push_str("</ul>");
        }
        out.push_str("<details><summary>The figures</summary>");
        let _ = write!(
            out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}, as a table\"><table><thead><tr>",
            text(title)
        );
        for head in &self.head {
            let _ = write!(out, "<th scope=\"col\">{}</th>", text(head));
        }
        out.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            out.push_str("<tr>");
            for (i, cell) in row.iter().enumerate() {
                let cell = text(cell);
                let _ = match i {
                    0 => write!(out, "<th scope=\"row\">{cell}</th>"),
                    _ => write!(out, "<td>{cell}</td>"),
                };
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table></div></details></figure>");
        out
    }
}

/// Every plot that the report has figures for.
pub(super) fn all(report: &Report) -> Vec<Figure> {
    let mut figures = vec![];
    figures.extend(frontier::figure(report));
    figures.extend(lost::figure(report));
    figures.extend(against::figures(report));
    figures.extend(groups::by_kind(report));
    figures.extend(groups::by_hops(report));
    figures.extend(latency::figure(report));
    figures
}

/// Runs of one strategy share a colour, so that a grid reads as one thing; where every strategy
/// has one run that is a colour a run.
pub(super) fn colour(runs: &[Run], run: &Run) -> usize {
    let mut strategies: Vec<&str> = vec![];
    for run in runs {
        if !strategies.contains(&run.strategy.as_str()) {
            strategies.push(&run.strategy);
        }
    }
    strategies.iter().position(|strategy| *strategy == run.strategy).unwrap_or(0) % COLOURS
}

/// Series colours of the style sheet, `s0` to `s7`.
const COLOURS: usize = 8;

/// Bars of more runs than this cannot be told apart.
pub(super) const MOST_BARS: usize = 8;

/// The runs to draw as bars, and a sentence when some are left out: of a grid, the best of each
/// strategy.
pub(super) fn few(runs: &[Run]) -> (Vec<&Run>, String) {
    if runs.len() <= MOST_BARS {
        return (runs.iter().collect(), String::new());
    }
    let mut best: Vec<&Run> = vec![];
    for run in runs {
        let right = |run: &Run| run.metrics.right.unwrap_or(0.0);
        match best.iter_mut().find(|other| other.strategy == run.strategy) {
            Some(other) if right(run) > right(other) => *other = run,
            Some(_) => {}
            None => best.push(run),
        }
    }
    let all = best.len();
    best.truncate(MOST_BARS);
    let mut said = format!(" Of {} runs the best of each strategy is shown.", runs.len());
    if all > best.len() {
        let _ = write!(said, " {} strategies are left out.", all - best.len());
    }
    (best, said)
}

/// A colour for each of these runs: its place among them, so that bars side by side differ.
pub(super) fn legend(runs: &[&Run]) -> Vec<(String, String)> {
    let entry = |(i, run): (usize, &&Run)| (format!("s{}", i % COLOURS), run.label.clone());
    runs.iter().enumerate().map(entry).collect()
}

pub(super) fn percent(value: f64) -> String {
    format!("{:.1} %", value * 100.0)
}
