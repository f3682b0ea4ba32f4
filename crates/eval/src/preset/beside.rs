//! A paper's figures beside ours, row by row. There is no difference of the two: the protocols
//! differ, and a difference would be read as if they did not.
use std::collections::BTreeSet;

use serde::Serialize;

use super::{Block, Figure, Preset, PresetProtocol, PresetRow, Rerun};
use crate::{Format, Report, Run};

/// What stands under every such table.
pub const WARNING: &str = "Figures of different protocols do not compare: other questions, another \
                           corpus or another model move them by more than most methods differ. \
                           Compare rows within one column, not the columns.";

/// A table of a paper beside a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Beside {
    pub preset: &'static str,
    pub paper: &'static str,
    pub table: &'static str,
    pub title: &'static str,
    pub format: Format,
    pub protocol: PresetProtocol,
    pub ours: Ours,
    pub warning: &'static str,
    /// The paper's models, in the order of [`Pair::paper`]; empty when it has no figures for the
    /// data set.
    pub models: Vec<&'static str>,
    pub figures: Vec<Figure>,
    pub rows: Vec<BesideRow>,
    /// Runs of the report that no row of the table stands for.
    pub others: Vec<String>,
    /// What is missing or in doubt, in sentences.
    pub notes: Vec<String>,
}

/// How we measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ours {
    /// The data file's name without its ending.
    pub dataset: String,
    /// Questions that were to be asked.
    pub n: usize,
    /// That in words: the sample, refused records, a spent budget.
    pub sample: String,
    /// The fingerprint of the base.
    pub base: String,
    /// The models of all roles of the runs that stand in the table.
    pub models: BTreeSet<String>,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BesideRow {
    /// As the paper names it.
    pub label: &'static str,
    /// The label of the run that stands for it, run or not; `None` where none can.
    pub run: Option<String>,
    /// Questions of that run that have a score; `None` when the report has no such run.
    pub scored: Option<usize>,
    /// One for each of [`Beside::figures`].
    pub pairs: Vec<Pair>,
}

/// One figure, the paper's and ours; in percent, counts as they are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// One for each of [`Beside::models`].
    pub paper: Vec<Option<f64>>,
    pub ours: Option<f64>,
    /// The questions that ours is over.
    pub n: usize,
}

/// Puts the paper's figures for a data set beside those of the report's runs, found by their
/// labels ([`super::ListedRow::run`]). For a data set that the paper does not have, ours stand
/// alone.
pub fn beside(preset: &Preset, format: Format, report: &Report) -> Beside {
    let blocks: Vec<(usize, &Block)> =
        preset.blocks.iter().enumerate().filter(|(_, block)| block.format == format).collect();
    let shown = blocks.first().map(|(_, block)| *block).or(preset.blocks.first());
    let figures = shown.map_or(vec![], |block| block.figures.to_vec());
    let places: Vec<usize> = blocks.iter().map(|(place, _)| *place).collect();
    let rows = preset.rows.iter().map(|row| row.beside(&figures, &places, report)).collect();
    let mut notes = notes(preset, &figures, report);
    if blocks.is_empty() {
        let with: Vec<&str> = preset.formats().into_iter().map(Format::title).collect();
        let (table, title, with) = (preset.table, format.title(), with.join(", "));
        notes.insert(0, format!("{table} has no figures for {title}; it has {with}"));
    }
    Beside {
        preset: preset.name,
        paper: preset.paper,
        table: preset.table,
        title: preset.title,
        format,
        protocol: preset.protocol,
        ours: Ours::of(preset, report),
        warning: WARNING,
        models: blocks.iter().map(|(_, block)| block.model).collect(),
        figures,
        rows,
        others: others(preset, report),
        notes,
    }
}

impl PresetRow {
    /// Its run in the report.
    fn run<'a>(&self, report: &'a Report) -> Option<&'a Run> {
        let (_, point) = self.point()?;
        report.runs.iter().find(|run| run.label == point.label)
    }

    fn beside(&self, figures: &[Figure], places: &[usize], report: &Report) -> BesideRow {
        let run = self.run(report);
        let pair = |(column, figure): (usize, &Figure)| {
            let of = |place: &usize| self.figures.get(*place)?.get(column).copied();
            let paper = places.iter().map(|place| of(place).filter(|value| value.is_finite()));
            let paper = paper.collect();
            match run.map(|run| figure.of(run)) {
                Some(measured) => Pair { paper, ours: measured.value, n: measured.n },
                None => Pair { paper, ours: None, n: 0 },
            }
        };
        BesideRow {
            label: self.label,
            run: self.point().map(|(_, point)| point.label),
            scored: run.map(scored),
            pairs: figures.iter().enumerate().map(pair).collect(),
        }
    }

    /// Settings that the run of this label does not have as the row says.
    fn strays(&self, run: &Run) -> Vec<String> {
        let Rerun::Run { settings, .. } = self.rerun else { return vec![] };
        let had = |key: &str| match run.settings.get(key)? {
            serde_json::Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let stray = |&(key, wanted): &(&str, &str)| match had(key) {
            Some(had) if had == wanted => None,
            Some(had) => Some(format!("{key}={had} instead of {wanted}")),
            None => Some(format!("no setting {key}")),
        };
        settings.iter().filter_map(stray).collect()
    }
}

impl Ours {
    fn of(preset: &Preset, report: &Report) -> Self {
        let runs = preset.rows.iter().filter_map(|row| row.run(report));
        Self {
            dataset: report.dataset.clone(),
            n: report.n,
            sample: report.headline(),
            base: report.base.clone(),
            models: runs.flat_map(|run| run.models.values().flatten().cloned()).collect(),
        }
    }
}

fn scored(run: &Run) -> usize {
    run.results.iter().filter(|result| result.score.is_some()).count()
}

fn others(preset: &Preset, report: &Report) -> Vec<String> {
    let labels: Vec<String> =
        preset.rows.iter().filter_map(|row| Some(row.point()?.1.label)).collect();
    let others = report.runs.iter().filter(|run| !labels.contains(&run.label));
    others.map(|run| run.label.clone()).collect()
}

/// Rows without a run, runs with something missing, figures that the report lacks; then the
/// preset's own notes.
fn notes(preset: &Preset, figures: &[Figure], report: &Report) -> Vec<String> {
    let mut notes = vec![];
    for row in preset.rows {
        let label = row.label;
        match (row.rerun, row.run(report)) {
            (Rerun::Not { reason }, _) => notes.push(format!("{label}: not run: {reason}")),
            (Rerun::Run { .. }, None) => notes.push(format!("{label}: not run")),
            (Rerun::Run { .. }, Some(run)) => {
                let strays = row.strays(run);
                if !strays.is_empty() {
                    notes.push(format!("{label}: the run had {}", strays.join(", ")));
                }
                notes.extend(run.notes().into_iter().map(|note| format!("{label}: {note}")));
            }
        }
    }
    let runs: Vec<&Run> = preset.rows.iter().filter_map(|row| row.run(report)).collect();
    for figure in figures {
        if !runs.is_empty() && runs.iter().all(|run| figure.of(run).value.is_none()) {
            notes.push(format!("no {} of ours: {}", figure.name(), figure.lacking()));
        }
    }
    notes.extend(preset.notes.iter().map(|&note| note.to_owned()));
    notes
}
