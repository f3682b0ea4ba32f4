//! The variables that tasks read, as types.
use std::collections::HashSet;

use halma_core::{ChatRequest, ColumnKind, LlmError, Question};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::lexicon::Lexicon;
use crate::lists::is_listed;

/// The input of tasks that need only the question.
#[derive(Debug, Deserialize)]
pub(crate) struct QuestionInput {
    pub(crate) question: Question,
}

/// A hit of the context or of the candidates, with the fields that rules use.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Passage {
    pub(crate) title: String,
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) score: f32,
    #[serde(default)]
    pub(crate) cosine: Option<f32>,
}

/// The variables of a request as the input of its task.
pub(crate) fn variables<V: DeserializeOwned>(request: &ChatRequest) -> Result<V, LlmError> {
    let read = serde_json::to_value(&request.variables).and_then(serde_json::from_value);
    read.map_err(|reason| {
        LlmError::refused(format!(
            "the offline model cannot read the variables of `{}` for the task `{}`: {reason}; \
             give the prompt the variables that `halma prompts list` names",
            request.prompt, request.task
        ))
    })
}

/// An earlier question of the same run with its answer, which is empty where none was found.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Exchange {
    pub(crate) question: String,
    #[serde(default)]
    pub(crate) answer: String,
}

/// A table of the base, with the fields that rules use.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Table {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) caption: String,
    #[serde(default)]
    pub(crate) rows: usize,
    #[serde(default)]
    pub(crate) columns: Vec<Column>,
    /// Some of its rows, if the prompt gives any.
    #[serde(default)]
    pub(crate) samples: Vec<Vec<serde_json::Value>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) kind: ColumnKind,
}

impl Table {
    /// Whether it looks like the same table from a second file, such as one in another format.
    pub(crate) fn is_copy_of(&self, other: &Self) -> bool {
        let heads = |table: &Self| -> Vec<(String, ColumnKind)> {
            table.columns.iter().map(|c| (c.name.clone(), c.kind)).collect()
        };
        self.rows > 0 && self.rows == other.rows && heads(self) == heads(other)
    }

    /// Whether its rows are people.
    pub(crate) fn lists_people(&self) -> bool {
        let is_name = |column: &Column| {
            let name = column.name.to_lowercase();
            name == "name" || is_listed("people", &name)
        };
        self.columns.first().is_some_and(is_name)
    }

    /// The stems of its name, its caption and its columns' names.
    pub(crate) fn stems(&self, lexicon: &Lexicon) -> HashSet<String> {
        let names = self.columns.iter().map(|column| column.name.as_str());
        let heads = [self.name.as_str(), self.caption.as_str()].into_iter().chain(names);
        heads.flat_map(|head| lexicon.content(&head.replace('_', " "))).collect()
    }
}

impl Table {
    /// Whether a column of numbers holds years.
    pub(crate) fn holds_years(&self, column: &Column) -> bool {
        if column.kind != ColumnKind::Integer {
            return false;
        }
        let name = column.name.to_lowercase();
        if name.split(['_', ' ']).any(|word| ["year", "since", "date"].contains(&word)) {
            return true;
        }
        let Some(at) = self.columns.iter().position(|other| other.name == column.name) else {
            return false;
        };
        let values = self.samples.iter().filter_map(|row| row.get(at)?.as_i64());
        let values: Vec<i64> = values.collect();
        !values.is_empty() && values.iter().all(|value| (1800..2200).contains(value))
    }
}

impl Column {
    pub(crate) fn is_number(&self) -> bool {
        matches!(self.kind, ColumnKind::Integer | ColumnKind::Number)
    }
}
