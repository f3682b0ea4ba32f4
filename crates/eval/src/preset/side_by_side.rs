//! A paper's figures and ours, row by row. There is no difference of the two: the protocols
//! differ, and a difference would be read as if they did not.
use std::collections::BTreeSet;

use serde::Serialize;

use super::{Block, Figure, Preset, PresetProtocol, PresetRow};
use crate::data::Format;
use crate::report::{Report, Run};

/// What stands under every such table.
pub const WARNING: &str = "Figures of different protocols do not compare: other questions, another \
                           corpus or another model move them by more than most methods differ. \
                           Compare rows within one column, not the columns.";

/// A table of a paper next to a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideBySide {
    pub preset: String,
    pub paper: String,
    pub table: String,
    pub title: String,
    pub format: Format,
    pub protocol: PresetProtocol,
    pub ours: Ours,
    pub warning: &'static str,
    /// The paper's models, in the order of [`Pair::paper`]; empty when it has no figures for the
    /// data set.
    pub models: Vec<String>,
    pub figures: Vec<Figure>,
    pub rows: Vec<SideBySideRow>,
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
pub struct SideBySideRow {
    /// As the paper names it.
    pub label: String,
    /// The label of the run that stands for it, run or not; `None` where none can.
    pub run: Option<String>,
    /// Questions of that run that have a score; `None` when the report has no such run.
    pub scored: Option<usize>,
    /// One for each of [`SideBySide::figures`].
    pub pairs: Vec<Pair>,
}

/// One figure, the paper's and ours; in percent, counts as they are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// One for each of [`SideBySide::models`].
    pub paper: Vec<Option<f64>>,
    pub ours: Option<f64>,
    /// The questions that ours is over.
    pub n: usize,
}

/// Puts the paper's figures for a data set next to those of the report's runs, found by their
/// labels ([`super::ListedRow::run`]). For a data set that the paper does not have, ours stand
/// alone.
pub fn side_by_side(preset: &Preset, format: Format, report: &Report) -> SideBySide {
    let blocks: Vec<(usize, &Block)> =
        preset.columns.iter().enumerate().filter(|(_, block)| block.data_set == format).collect();
    let shown = blocks.first().map(|(_, block)| *block).or(preset.columns.first());
    let figures = shown.map_or(vec![], |block| block.figures.clone());
    let places: Vec<usize> = blocks.iter().map(|(place, _)| *place).collect();
    let rows = preset.rows.iter().map(|row| row.compare(&figures, &places, report)).collect();
    let mut notes = notes(preset, &figures, report);
    if blocks.is_empty() {
        let with: Vec<&str> = preset.formats().into_iter().map(Format::title).collect();
        let (table, title, with) = (&preset.table, format.title(), with.join(", "));
        notes.insert(0, format!("{table} has no figures for {title}; it has {with}"));
    }
    SideBySide {
        preset: preset.name.clone(),
        paper: preset.paper.clone(),
        table: preset.table.clone(),
        title: preset.title.clone(),
        format,
        protocol: preset.protocol.clone(),
        ours: Ours::new(preset, report),
        warning: WARNING,
        models: blocks.iter().map(|(_, block)| block.model.clone()).collect(),
        figures,
        rows,
        others: others(preset, report),
        notes,
    }
}

impl PresetRow {
    /// Its run in the report.
    fn run<'a>(&self, report: &'a Report) -> Option<&'a Run> {
        let point = self.point()?;
        report.runs.iter().find(|run| run.label == point.label)
    }

    fn compare(&self, figures: &[Figure], places: &[usize], report: &Report) -> SideBySideRow {
        let run = self.run(report);
        let pair = |(column, figure): (usize, &Figure)| {
            let stated = |place: &usize| self.figures.get(*place)?.get(column).copied();
            let paper = places.iter().map(|place| stated(place).filter(|value| value.is_finite()));
            let paper = paper.collect();
            match run.map(|run| figure.measure(run)) {
                Some(measured) => Pair { paper, ours: measured.value, n: measured.n },
                None => Pair { paper, ours: None, n: 0 },
            }
        };
        SideBySideRow {
            label: self.label.clone(),
            run: self.point().map(|point| point.label),
            scored: run.map(|run| run.questions_with("right")),
            pairs: figures.iter().enumerate().map(pair).collect(),
        }
    }

    /// Settings in which the run of this label differs from the row.
    fn deviations(&self, run: &Run) -> Vec<String> {
        let actual = |key: &str| match run.settings.get(key)? {
            serde_json::Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let deviation = |(key, expected): (&String, &String)| match actual(key) {
            Some(actual) if actual == *expected => None,
            Some(actual) => Some(format!("{key}={actual} instead of {expected}")),
            None => Some(format!("no setting {key}")),
        };
        self.settings.iter().filter_map(deviation).collect()
    }
}

impl Ours {
    fn new(preset: &Preset, report: &Report) -> Self {
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

fn others(preset: &Preset, report: &Report) -> Vec<String> {
    let labels: Vec<String> =
        preset.rows.iter().filter_map(|row| Some(row.point()?.label)).collect();
    let others = report.runs.iter().filter(|run| !labels.contains(&run.label));
    others.map(|run| run.label.clone()).collect()
}

/// Rows without a run, runs with something missing, figures that the report lacks; then the
/// preset's own notes.
fn notes(preset: &Preset, figures: &[Figure], report: &Report) -> Vec<String> {
    let mut notes = vec![];
    for row in &preset.rows {
        let label = &row.label;
        match (&row.not_run, row.run(report)) {
            (Some(reason), _) => notes.push(format!("{label}: not run: {reason}")),
            (None, None) => notes.push(format!("{label}: not run")),
            (None, Some(run)) => {
                let deviations = row.deviations(run);
                if !deviations.is_empty() {
                    notes.push(format!("{label}: the run had {}", deviations.join(", ")));
                }
                notes.extend(run.notes().into_iter().map(|note| format!("{label}: {note}")));
            }
        }
    }
    let runs: Vec<&Run> = preset.rows.iter().filter_map(|row| row.run(report)).collect();
    for figure in figures {
        if !runs.is_empty() && runs.iter().all(|run| figure.measure(run).value.is_none()) {
            notes.push(format!("no {} of ours: it needs {}", figure.name(), figure.needs()));
        }
    }
    notes.extend(preset.notes.iter().cloned());
    notes
}
