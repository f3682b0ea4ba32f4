//! What a column of a paper's table shows, and where a report holds the same: a column of ours,
//! over all questions or over one group of them.
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::figures::ratio;
use crate::report::{Column, Run, ValueFormat, column};

/// A column of ours; in a file `f1`, `f1 of bridge`, `f1 of 2 hops`, or for a component
/// `prompt_tokens of kar3/select`.
#[derive(Debug, Clone)]
pub struct Figure {
    column: &'static Column,
    group: Option<Group>,
}

/// What a figure is over.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Group {
    Kind(String),
    Hops(usize),
    /// The calls of one prompt.
    Prompt(String),
}

/// A figure of a run, and over how many questions it is.
pub(super) struct Measured {
    /// In percent, counts as they are.
    pub(super) value: Option<f64>,
    pub(super) n: usize,
}

impl PartialEq for Figure {
    fn eq(&self, other: &Self) -> bool {
        self.column.key == other.column.key && self.group == other.group
    }
}

impl FromStr for Figure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, group) = match text.split_once(" of ") {
            Some((key, group)) => (key, Some(group)),
            None => (text, None),
        };
        let group = group.map(|group| {
            let hops = group.strip_suffix(" hops").and_then(|hops| hops.parse().ok());
            match hops {
                Some(hops) => Group::Hops(hops),
                None if group.contains('/') => Group::Prompt(group.to_owned()),
                None => Group::Kind(group.to_owned()),
            }
        });
        let column = column(key).ok_or_else(|| format!("there is no column `{key}`"))?;
        Ok(Self { column, group })
    }
}

impl Figure {
    /// The head of its column.
    pub fn name(&self) -> String {
        let title = self.column.title;
        match &self.group {
            None => title.to_owned(),
            Some(Group::Kind(name) | Group::Prompt(name)) => format!("{title} {name}"),
            Some(Group::Hops(hops)) => format!("{title} {hops} hops"),
        }
    }

    /// What a report must have for it.
    pub(super) fn needs(&self) -> &'static str {
        match self.group {
            Some(Group::Prompt(_)) => "calls of that prompt",
            Some(_) => "scored questions of that kind",
            None => self.column.needs,
        }
    }

    pub(super) fn is_percent(&self) -> bool {
        self.column.format == ValueFormat::Percent
    }

    pub(super) fn measure(&self, run: &Run) -> Measured {
        let key = self.column.key;
        let group = match &self.group {
            None => None,
            Some(Group::Prompt(prompt)) => return component(run, key, prompt),
            Some(Group::Kind(kind)) => Some(run.by_kind.get(kind)),
            Some(Group::Hops(hops)) => Some(run.by_hops.get(hops)),
        };
        let (value, n) = match group {
            Some(Some(group)) => (group.values.get(key), group.n),
            Some(None) => (None, 0),
            None if self.column.question.is_some() => {
                (run.values.get(key), run.questions_with(key))
            }
            None => (run.values.get(key), run.questions_with("right")),
        };
        let unit = if self.is_percent() { 100.0 } else { 1.0 };
        Measured { value: value.map(|value| value * unit), n }
    }
}

/// The tokens of one prompt's calls, a question (KAR³, Table 11).
fn component(run: &Run, key: &str, prompt: &str) -> Measured {
    let tokens = run.components.iter().find(|component| component.prompt == prompt).map(
        |component| match key {
            "prompt_tokens" => component.prompt_tokens,
            "completion_tokens" => component.completion_tokens,
            _ => component.prompt_tokens + component.completion_tokens,
        },
    );
    let value = tokens.map(|tokens| ratio(tokens, run.completed().max(1)));
    Measured { value, n: run.questions_with("right") }
}

/// By its name.
impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

impl<'de> Deserialize<'de> for Figure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
