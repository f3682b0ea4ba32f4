//! The official file formats, by name.
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

use super::entry::{DataSetEntry, entries};

/// An official file format, by its name on the command line. Everything about it is in its
/// [`DataSetEntry`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Format(&'static str);

impl Format {
    pub const HOTPOTQA: Self = Self("hotpotqa");
    pub const TWO_WIKI: Self = Self("2wiki");
    pub const MUSIQUE: Self = Self("musique");
    /// The user's own questions.
    pub const USER: Self = Self("own");

    /// All of them, in the order of [`entries`].
    pub fn all() -> impl Iterator<Item = Self> {
        entries().iter().map(DataSetEntry::format)
    }

    /// What is known about it.
    pub fn entry(self) -> &'static DataSetEntry {
        let entry = entries().iter().find(|entry| entry.name == self.0);
        entry.expect("a format is made of an entry, or a constant that a test checks")
    }

    pub(super) fn new(entry: &'static DataSetEntry) -> Self {
        Self(&entry.name)
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// The name its authors gave it.
    pub fn title(self) -> &'static str {
        &self.entry().title
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
            format!("`{name}` is not a format; use one of {}", names.join(", "))
        })
    }
}

impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(serde::de::Error::custom)
    }
}
