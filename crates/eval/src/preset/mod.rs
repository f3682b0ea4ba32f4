//! The papers' tables, to be run again: for each row the strategy and the settings that stand for
//! it, and the figures that the paper gives, so that ours can be printed next to them. A table that
//! cannot be run is listed with the reason.
//!
//! The tables are in `presets/`, one file for each paper. A row sets what the paper's text gives a
//! number or a variant for; all else is the strategy's default. Thresholds stay at the embedder's
//! own: the papers' were measured on other scales.
mod figure;
mod files;
mod load;
mod reference;
mod show;
mod side_by_side;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use halma_core::text::similarity::edit_distance;
use serde::{Deserialize, Serialize};

use crate::data::{Condition, Format};
use crate::grid::Point;
use crate::judge::{Protocol, Scheme};
use crate::metrics::Profile;

pub use figure::Figure;
pub use files::{NeededFile, find_file};
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
    /// Why it is not run; then it has no columns and no rows.
    #[serde(default)]
    pub not_run: Option<String>,
    #[serde(default)]
    pub protocol: PresetProtocol,
    /// Which questions of a file are asked, unless the user says otherwise.
    #[serde(default)]
    pub questions: PresetQuestions,
    /// How short answers are compared, where that is not the data set's usual way.
    #[serde(default)]
    pub profile: Option<Profile>,
    /// Keys of the configuration that the base and the models need: `kb.atoms`.
    #[serde(default)]
    pub config: BTreeMap<String, String>,
    /// Settings of every row that does not have its own.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Data set → the published file that the paper took its questions from.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// The protocol of the judge that gave its Acc; `None` where it has none.
    #[serde(default)]
    pub judge: Option<Protocol>,
    /// By which criteria a model assesses the answers.
    #[serde(default)]
    pub assess: Vec<Scheme>,
    /// What the table's columns are of.
    #[serde(default)]
    pub columns: Vec<Block>,
    #[serde(default)]
    pub rows: Vec<PresetRow>,
    /// What departs from the paper, and what else must be known.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// Which questions of a file are asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PresetQuestions {
    /// The first ones.
    pub first: Option<usize>,
    /// Random ones.
    pub random: Option<usize>,
    /// The passages of the selected questions are the base, not those of the whole file.
    pub pool: bool,
}

/// How the paper measured. Figures of different protocols do not compare.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Settings of every row for this data set: `retrieve=false` where nothing is to be searched.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Only questions of this data set for which all of it holds: `static_or_dynamic=static`.
    #[serde(default)]
    pub conditions: Vec<Condition>,
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
    /// Keys of the configuration in which it differs from the other rows; it gets a base of its own.
    #[serde(default)]
    pub config: BTreeMap<String, String>,
    /// Why it cannot be one run among the others; then it has no strategy.
    #[serde(default)]
    pub not_run: Option<String>,
    /// One list for each of [`Preset::columns`], in its order; in percent, counts as they are.
    /// `nan` (`null` in JSON) could not be read, or is of a table of ours; see [`Preset::notes`].
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
    /// Keys of the configuration, to be set before the base is opened.
    pub config: BTreeMap<String, String>,
    /// Why it cannot be run; `None` if it can.
    pub missing: Option<String>,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PresetError {
    #[error(
        "`{name}` is not the name of a table{}; `halma eval preset list` lists them all",
        similar(similar_names)
    )]
    Unknown { name: String, similar_names: Vec<&'static str> },
}

/// The preset of this name.
pub fn preset(name: &str) -> Result<&'static Preset, PresetError> {
    presets().iter().find(|preset| preset.name == name).ok_or_else(|| {
        let distance = |preset: &&Preset| edit_distance(&preset.name, name);
        let mut all: Vec<&Preset> = presets().iter().collect();
        all.sort_by_key(distance);
        let near = all.into_iter().filter(|preset| distance(preset) <= NEAR).take(3);
        let similar_names = near.map(|preset| preset.name.as_str()).collect();
        PresetError::Unknown { name: name.to_owned(), similar_names }
    })
}

/// Characters by which a name may differ from one that is proposed instead.
const NEAR: usize = 3;

fn similar(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { String::new() } else { format!(" (similar: {})", names.join(", ")) }
}

impl Preset {
    /// Its rows; `strategies` are those that exist, and decide which rows can be run.
    pub fn listed(&self, strategies: &[&str]) -> Vec<ListedRow> {
        self.rows.iter().map(|row| row.listed(self, strategies)).collect()
    }

    /// The same table with the settings that its rows have for one data set, and only its columns.
    #[must_use]
    pub fn for_format(&self, format: Format) -> Self {
        let mut preset = self.clone();
        preset.columns.retain(|block| block.data_set == format);
        let places = self.columns.iter().map(|block| block.data_set == format);
        let places: Vec<bool> = places.collect();
        for row in &mut preset.rows {
            let mut keep = places.iter().copied();
            row.figures.retain(|_| keep.next().unwrap_or(false));
        }
        for block in self.columns.iter().filter(|block| block.data_set == format) {
            preset.settings.extend(block.settings.clone());
            for row in &mut preset.rows {
                row.settings.extend(block.settings.clone());
            }
        }
        preset
    }

    /// What must hold for a question of the table; the blocks of a data set agree on it.
    pub fn conditions(&self) -> Vec<Condition> {
        self.columns.first().map_or(vec![], |block| block.conditions.clone())
    }

    fn with_common_settings(mut self) -> Self {
        for row in self.rows.iter_mut().filter(|row| row.strategy.is_some()) {
            let common = self.settings.iter().map(|(key, value)| (key.clone(), value.clone()));
            row.settings = common.chain(std::mem::take(&mut row.settings)).collect();
        }
        self
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
        let named = self.settings.iter().chain(&self.config);
        let named = named.map(|(key, value)| (key.clone(), value.clone())).collect();
        Some(Point { settings: self.settings.clone(), ..Point::named(strategy, named) })
    }

    fn listed(&self, preset: &Preset, strategies: &[&str]) -> ListedRow {
        let config = preset.config.iter().chain(&self.config);
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
            config: config.map(|(key, value)| (key.clone(), value.clone())).collect(),
            missing,
        }
    }
}
