//! A paper's figures and ours, row by row. There is no difference of the two: the protocols
//! differ, and a difference would be read as if they did not.
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::{Block, Figure, Preset, PresetProtocol, PresetRow, presets};
use crate::data::Format;
use crate::report::{Report, Run};

/// What stands under every such table.
pub const WARNING: &str = "Figures of different protocols do not compare: other questions, another \
                           corpus or another model move them by more than most methods differ. \
                           Compare rows within one column, not the columns.";

/// Shown of every run, also where the table has no such figures.
const COSTS: [&str; 2] = ["calls", "tokens"];

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
    let blocks: Vec<&Block> =
        preset.columns.iter().filter(|block| block.data_set == format).collect();
    let shown = blocks.first().copied().or(preset.columns.first());
    let mut figures = shown.map_or(vec![], |block| block.figures.clone());
    for cost in COSTS.iter().filter_map(|cost| cost.parse().ok()) {
        if !figures.contains(&cost) {
            figures.push(cost);
        }
    }
    let compare = |row: &PresetRow| {
        let paper = |figure: &Figure| preset.stated(row, figure, &blocks);
        row.compare(&figures, paper, report)
    };
    let rows = preset.rows.iter().map(compare).collect();
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
        models: blocks.iter().map(|block| block.model.clone()).collect(),
        figures,
        rows,
        others: others(preset, report),
        notes,
    }
}

impl Preset {
    /// What the paper states for a row, one value for each block: in this table, or where it does
    /// not have the figure, in another table that has the same run. KAR³'s tokens have their own.
    fn stated(&self, row: &PresetRow, figure: &Figure, blocks: &[&Block]) -> Vec<Option<f64>> {
        let label = row.point().map(|point| point.label);
        let stated = |block: &&Block| {
            let here = self.value(row, figure, block);
            here.or_else(|| self.stated_elsewhere(label.as_deref()?, figure, block))
        };
        blocks.iter().map(stated).collect()
    }

    fn stated_elsewhere(&self, label: &str, figure: &Figure, block: &Block) -> Option<f64> {
        let others = presets().iter().filter(|other| other.paper == self.paper);
        others.filter(|other| other.name != self.name).find_map(|other| {
            let other = other.for_format(block.data_set);
            let same = |row: &&PresetRow| row.point().is_some_and(|point| point.label == label);
            other.value(other.rows.iter().find(same)?, figure, block)
        })
    }

    /// The figure of a row for the data set and the model of a block.
    fn value(&self, row: &PresetRow, figure: &Figure, block: &Block) -> Option<f64> {
        let same = |other: &Block| other.data_set == block.data_set && other.model == block.model;
        let place = self.columns.iter().position(same)?;
        let column = self.columns[place].figures.iter().position(|other| other == figure)?;
        row.figures.get(place)?.get(column).copied().filter(|value| value.is_finite())
    }
}

impl PresetRow {
    /// Its run in the report.
    fn run<'a>(&self, report: &'a Report) -> Option<&'a Run> {
        let point = self.point()?;
        report.runs.iter().find(|run| run.label == point.label)
    }

    fn compare(
        &self,
        figures: &[Figure],
        paper: impl Fn(&Figure) -> Vec<Option<f64>>,
        report: &Report,
    ) -> SideBySideRow {
        let run = self.run(report);
        let pair = |figure: &Figure| {
            let paper = paper(figure);
            match run.map(|run| figure.measure(run)) {
                Some(measured) => Pair { paper, ours: measured.value, n: measured.n },
                None => Pair { paper, ours: None, n: 0 },
            }
        };
        SideBySideRow {
            label: self.label.clone(),
            run: self.point().map(|point| point.label),
            scored: run.map(|run| run.questions_with("right")),
            pairs: figures.iter().map(pair).collect(),
        }
    }

    /// Settings in which the run of this label differs from the row.
    fn deviations(&self, run: &Run) -> Vec<String> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let equal = |actual: &Value, expected: &str| {
            text(actual) == expected
                || serde_json::from_str(expected).is_ok_and(|e: Value| e == *actual)
        };
        let deviation = |(key, expected): (&String, &String)| match run.settings.get(key) {
            Some(actual) if equal(actual, expected) => None,
            Some(actual) => Some(format!("{key}={} instead of {expected}", text(actual))),
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

/// One reason for each kind of failure of a run.
fn failures(run: &Run) -> impl Iterator<Item = String> {
    let mut kinds: BTreeMap<&str, &str> = BTreeMap::new();
    for failure in &run.failures {
        kinds.entry(&failure.kind).or_insert(&failure.reason);
    }
    kinds.into_iter().map(|(kind, reason)| format!("{kind}, for example: {reason}"))
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
                notes.extend(failures(run).map(|failure| format!("{label}: {failure}")));
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
