//! The papers' tables, to be run again: for each row the strategy and the settings that stand for
//! it, and the figures that the paper gives, so that ours can be printed next to them.
//!
//! The tables are in `presets/`, one file for each paper. A row sets what the paper's text gives a
//! number or a variant for; all else is the strategy's default. Thresholds stay at the embedder's
//! own: the papers' were measured on other scales.
mod figure;
mod load;
mod reference;
mod show;
mod side_by_side;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::Format;
use crate::grid::Point;
use crate::judge::Protocol;

pub use figure::Figure;
pub use load::presets;
pub use reference::preset_reference;
pub use show::preset_list;
pub use side_by_side::{Ours, Pair, SideBySide, SideBySideRow, WARNING, side_by_side};

/// One table of one paper.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// `kar3-table1`.
    pub name: String,
    /// The paper's short name; in a file it stands above the tables.
    #[serde(default)]
    pub paper: String,
    /// `Table 1`.
    pub table: String,
    pub title: String,
    pub protocol: PresetProtocol,
    /// The protocol of the judge that gave its Acc; `None` where it has none.
    #[serde(default)]
    pub judge: Option<Protocol>,
    /// What the table's columns are of.
    pub columns: Vec<Block>,
    pub rows: Vec<PresetRow>,
    /// What cannot be run as it was, and what else must be known.
    pub notes: Vec<String>,
}

/// How the paper measured. Figures of different protocols do not compare.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetProtocol {
    /// Which questions, and how many.
    pub sample: String,
    /// What was searched.
    pub corpus: String,
    /// The language model and the retriever.
    pub model: String,
    /// What the figures are.
    pub metric: String,
}

/// The columns of a table that belong to one data set and one model.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    pub model: String,
    pub data_set: Format,
    pub figures: Vec<Figure>,
}

/// One row of a table.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetRow {
    /// As the paper names it.
    pub label: String,
    /// The strategy that stands for it.
    #[serde(default)]
    pub strategy: Option<String>,
    /// Keys and values, as with `--set STRATEGY.KEY=VALUE`.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Why it cannot be one run among the others; then it has no strategy.
    #[serde(default)]
    pub not_run: Option<String>,
    /// One list for each of [`Preset::columns`], in its order; in percent, counts as they are.
    /// `nan` (`null` in JSON) could not be read; see [`Preset::notes`].
    pub figures: Vec<Vec<f64>>,
}

/// A row as a program that knows the strategies sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedRow {
    /// As the paper names it.
    pub label: String,
    pub strategy: Option<String>,
    /// The label that its run must have to be found by [`side_by_side`]: `kar3@mode=dense,n=5`.
    pub run: Option<String>,
    /// Setting → value, to be set as with `--set STRATEGY.SETTING=VALUE`.
    pub settings: BTreeMap<String, String>,
    /// Why it cannot be run; `None` if it can.
    pub missing: Option<String>,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PresetError {
    #[error("`{name}` is not a preset; use one of {names}")]
    Unknown { name: String, names: String },
}

/// The preset of this name.
pub fn preset(name: &str) -> Result<&'static Preset, PresetError> {
    presets().iter().find(|preset| preset.name == name).ok_or_else(|| {
        let names: Vec<&str> = presets().iter().map(|preset| preset.name.as_str()).collect();
        PresetError::Unknown { name: name.to_owned(), names: names.join(", ") }
    })
}

impl Preset {
    /// Its rows; `strategies` are those that exist, and decide which rows can be run.
    pub fn listed(&self, strategies: &[&str]) -> Vec<ListedRow> {
        self.rows.iter().map(|row| row.listed(strategies)).collect()
    }

    /// The data sets that it has figures for, each once.
    pub fn formats(&self) -> Vec<Format> {
        let mut formats: Vec<Format> = vec![];
        for block in &self.columns {
            if !formats.contains(&block.data_set) {
                formats.push(block.data_set);
            }
        }
        formats
    }
}

impl PresetRow {
    /// The name of its point; `None` for a row that cannot be one run.
    pub(crate) fn point(&self) -> Option<Point> {
        let strategy = self.strategy.as_deref()?;
        Some(Point::named(strategy, self.settings.clone()))
    }

    fn listed(&self, strategies: &[&str]) -> ListedRow {
        let missing = match &self.strategy {
            None => self.not_run.clone(),
            Some(name) if strategies.contains(&name.as_str()) => None,
            Some(name) => Some(format!("this Halma has no strategy `{name}`")),
        };
        ListedRow {
            label: self.label.clone(),
            strategy: self.strategy.clone(),
            run: self.point().map(|point| point.label),
            settings: self.settings.clone(),
            missing,
        }
    }
}
