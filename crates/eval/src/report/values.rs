//! Values by column, and how a column is written.
use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueFormat {
    /// A fraction, shown in percent with one digit.
    Percent,
    /// One digit after the point.
    Decimal,
    Count,
    Milliseconds,
    /// US dollars.
    Dollars,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    Higher,
    Lower,
}

/// A column as a report carries it, for viewers that do not know the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnHead {
    pub key: String,
    pub title: String,
    pub meaning: String,
    pub format: ValueFormat,
    pub better: Option<Better>,
    /// Shown by kind of question and by hops.
    pub in_groups: bool,
}

impl ValueFormat {
    /// For tables: the unit is not part of it. `-` where there is no value.
    pub fn render(self, value: Option<f64>) -> String {
        let Some(value) = value else { return "-".into() };
        match self {
            Self::Percent => format!("{:.1}", value * 100.0),
            Self::Milliseconds if value < 10.0 => format!("{value:.1}"),
            Self::Decimal => format!("{value:.1}"),
            Self::Count | Self::Milliseconds => format!("{value:.0}"),
            Self::Dollars => format!("{value:.4}"),
        }
    }
}

/// Column → value of a question, a group of questions or a run; a column without a value is missing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Values(BTreeMap<Cow<'static, str>, f64>);

impl Values {
    /// `None` where there is no value, or no such column.
    pub fn get(&self, key: &str) -> Option<f64> {
        self.0.get(key).copied()
    }

    pub(crate) fn set(&mut self, key: &'static str, value: Option<f64>) {
        if let Some(value) = value {
            self.0.insert(Cow::Borrowed(key), value);
        }
    }
}
