//! The values of a question, a group of questions or a run, by the keys of the columns.
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

use super::columns::COLUMNS;

/// Column → value; a column without a value is missing. Columns that this version does not have
/// are dropped when a report is read.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Values(BTreeMap<&'static str, f64>);

impl Values {
    /// `None` where there is no value, or no such column.
    pub fn get(&self, key: &str) -> Option<f64> {
        self.0.get(key).copied()
    }

    pub(crate) fn set(&mut self, key: &'static str, value: Option<f64>) {
        if let Some(value) = value {
            self.0.insert(key, value);
        }
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = BTreeMap::<String, f64>::deserialize(deserializer)?;
        let column = |key: &str| COLUMNS.iter().find(|column| column.key == key);
        let values = given.iter().filter_map(|(key, value)| Some((column(key)?.key, *value)));
        Ok(Self(values.collect()))
    }
}
