//! The official file formats, by name.
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::registry::{DATA_SETS, DataSetEntry};

/// An official file format. Everything about it is in its [`DataSetEntry`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    Hotpotqa,
    #[serde(rename = "2wiki")]
    TwoWiki,
    Musique,
    MusiqueFull,
    Strategyqa,
    Medqa,
    Medmcqa,
    Scifact,
    ScifactPairs,
    Fever,
    Logiqa2,
    Folio,
    Gsm8k,
    Mawps,
    #[serde(rename = "lawbench-1-1")]
    Lawbench11,
    #[serde(rename = "lawbench-1-2")]
    Lawbench12,
    #[serde(rename = "lawbench-3-1")]
    Lawbench31,
    #[serde(rename = "lawbench-3-2")]
    Lawbench32,
    #[serde(rename = "lawbench-3-6")]
    Lawbench36,
    #[serde(rename = "lawbench-3-8")]
    Lawbench38,
    OpenAustralianLegalQa,
    Crag,
    Blendqa,
    /// Questions of one's own.
    Own,
}

impl Format {
    /// All of them, in the order of [`DATA_SETS`].
    pub fn all() -> impl Iterator<Item = Self> {
        DATA_SETS.iter().map(|entry| entry.format)
    }

    /// What is known about it.
    pub fn entry(self) -> &'static DataSetEntry {
        let found = DATA_SETS.iter().find(|entry| entry.format == self);
        found.expect("every format has an entry: the test `every_format_has_one_entry` holds it")
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The name its authors gave it.
    pub fn title(self) -> &'static str {
        self.entry().title
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::all().find(|format| format.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::all().map(Self::name).collect();
            format!("`{name}` is no format; use one of {}", names.join(", "))
        })
    }
}
