//! The papers' tables, to be run again: for each row the strategy and the settings that stand for
//! it, and the figures that the paper gives, so that ours can be printed beside them.
//!
//! A row sets what the paper's text gives a number or a variant for; all else is the strategy's
//! default. Thresholds stay at the embedder's own: the papers' were measured on other scales.
mod atomr;
mod beside;
mod dec;
mod figure;
mod kar3;
mod pike;
mod reference;
mod show;
#[cfg(test)]
mod tests;
mod unirag;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::judge::Protocol;
use crate::{Format, Point};

pub use beside::{Beside, BesideRow, Ours, Pair, WARNING, beside};
pub use figure::{Answerable, Figure};
pub use reference::preset_reference;
pub use show::preset_list;

/// All presets, by paper and table.
pub const PRESETS: &[Preset] = &[
    kar3::TABLE_1,
    kar3::TABLE_3,
    kar3::TABLE_8,
    pike::TABLE_4,
    pike::TABLE_5,
    pike::TABLE_6,
    atomr::TABLE_2,
    unirag::TABLE_5,
    dec::TABLE_1,
    dec::TABLE_2,
    dec::TABLE_4,
];

/// One table of one paper.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Preset {
    /// `kar3-table1`.
    pub name: &'static str,
    /// The paper's short name.
    pub paper: &'static str,
    /// `Table 1`.
    pub table: &'static str,
    pub title: &'static str,
    pub protocol: PresetProtocol,
    /// The protocol of the judge that gave its Acc; `None` where it has none.
    pub judge: Option<Protocol>,
    /// What the table's columns are of.
    pub blocks: &'static [Block],
    pub rows: &'static [PresetRow],
    /// What cannot be run as it was, and what else needs a word.
    pub notes: &'static [&'static str],
}

/// How the paper measured. Figures of different protocols do not compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PresetProtocol {
    /// Which questions, and how many.
    pub sample: &'static str,
    /// What was searched.
    pub corpus: &'static str,
    /// The language model and the retriever.
    pub model: &'static str,
    /// What the figures are.
    pub metric: &'static str,
}

/// The columns of a table that belong to one data set and one model.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Block {
    pub model: &'static str,
    pub format: Format,
    pub figures: &'static [Figure],
}

/// One row of a table.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PresetRow {
    /// As the paper names it.
    pub label: &'static str,
    pub rerun: Rerun,
    /// One list for each of [`Preset::blocks`], in its order; in percent, counts as they are. What
    /// is not a number (`null` in JSON) could not be read; see [`Preset::notes`].
    pub figures: &'static [&'static [f64]],
}

/// What stands for a row.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rerun {
    Run {
        strategy: &'static str,
        /// Keys and values, as with `--set STRATEGY.KEY=VALUE`.
        settings: &'static [(&'static str, &'static str)],
    },
    /// It cannot be one run among the others, for this reason.
    Not { reason: &'static str },
}

/// A row as a program that knows the strategies sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedRow {
    /// As the paper names it.
    pub label: &'static str,
    pub strategy: Option<&'static str>,
    /// The label that its run must have to be found by [`beside`]: `kar3@mode=dense,n=5`.
    pub run: Option<String>,
    /// Setting → value, to be set as with `--set STRATEGY.SETTING=VALUE`.
    pub settings: BTreeMap<String, String>,
    /// Why it cannot be run; `None` if it can.
    pub missing: Option<String>,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PresetError {
    #[error("`{name}` is no preset; use one of {known}")]
    Unknown { name: String, known: String },
}

/// The preset of this name.
pub fn preset(name: &str) -> Result<&'static Preset, PresetError> {
    PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
        let known: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        PresetError::Unknown { name: name.to_owned(), known: known.join(", ") }
    })
}

impl Preset {
    /// Its rows, told by the names of the strategies that there are which of them can be run.
    pub fn listed(&self, known: &[&str]) -> Vec<ListedRow> {
        self.rows.iter().map(|row| row.listed(known)).collect()
    }

    /// The data sets that it has figures for, each once.
    pub fn formats(&self) -> Vec<Format> {
        let mut formats: Vec<Format> = vec![];
        for block in self.blocks {
            if !formats.contains(&block.format) {
                formats.push(block.format);
            }
        }
        formats
    }
}

impl PresetRow {
    /// Its strategy and the name of its point; `None` for a row that cannot be one run.
    pub(crate) fn point(&self) -> Option<(&'static str, Point)> {
        let Rerun::Run { strategy, settings } = self.rerun else { return None };
        let settings = settings.iter().map(|&(key, value)| (key.to_owned(), value.to_owned()));
        Some((strategy, Point::named(strategy, settings.collect())))
    }

    fn listed(&self, known: &[&str]) -> ListedRow {
        let missing = match self.rerun {
            Rerun::Not { reason } => Some(reason.to_owned()),
            Rerun::Run { strategy, .. } if !known.contains(&strategy) => {
                Some(format!("this Halma has no strategy `{strategy}`"))
            }
            Rerun::Run { .. } => None,
        };
        let (strategy, point) = self.point().unzip();
        let (run, settings) = point.map(|point| (point.label, point.settings)).unzip();
        let settings = settings.unwrap_or_default();
        ListedRow { label: self.label, strategy, run, settings, missing }
    }
}

/// A figure that the text of the paper at hand does not show.
const UNREADABLE: f64 = f64::NAN;

const fn block(model: &'static str, format: Format, figures: &'static [Figure]) -> Block {
    Block { model, format, figures }
}

const fn row(
    label: &'static str,
    strategy: &'static str,
    settings: &'static [(&'static str, &'static str)],
    figures: &'static [&'static [f64]],
) -> PresetRow {
    PresetRow { label, rerun: Rerun::Run { strategy, settings }, figures }
}

const fn not(
    label: &'static str,
    reason: &'static str,
    figures: &'static [&'static [f64]],
) -> PresetRow {
    PresetRow { label, rerun: Rerun::Not { reason }, figures }
}
