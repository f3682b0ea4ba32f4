//! What a column of a table is, and what its values are computed from.
use halma_core::Answer;

use super::columns::COLUMNS;
use super::model::{Report, Run};
use super::values::{Better, ColumnHead, ValueFormat};
use crate::data::DataSet;
use crate::judge::Ruling;
use crate::metrics::{Gold, GoldPassage, Metric, Score};
use crate::record::Record;

/// A column of every table.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name in JSON.
    pub key: &'static str,
    pub title: &'static str,
    /// What it means, for a legend.
    pub meaning: &'static str,
    pub format: ValueFormat,
    /// `None` where neither more nor less is better.
    pub better: Option<Better>,
    /// What a report must have for it, in a sentence after "it needs".
    pub(crate) needs: &'static str,
    /// Shown by kind of question and by hops.
    pub(crate) in_groups: bool,
    /// The value of one answered question, if each has one; then runs can be compared by it.
    pub(crate) question: Option<fn(&Case<'_>) -> Option<f64>>,
    /// The value of a run; without it, the mean over its questions that have one.
    pub(crate) run: Option<fn(&Run) -> Option<f64>>,
}

/// How the answers of a data set are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measure {
    pub(crate) metric: Metric,
    /// Whether a judge rules on the answers.
    pub(crate) judged: bool,
}

impl Measure {
    pub(crate) fn new(data: &DataSet, judged: bool) -> Self {
        Self { metric: data.metric, judged }
    }
}

/// What the values of an answered question are computed from.
pub(crate) struct Case<'a> {
    pub(crate) measure: Measure,
    pub(crate) gold: Gold<'a>,
    pub(crate) gold_passages: &'a [GoldPassage],
    pub(crate) answer: &'a Answer,
    pub(crate) record: &'a Record,
    pub(crate) score: Score,
    /// Whether the answer counts as right.
    pub(crate) right: bool,
    /// The judge's, where there was one.
    pub(crate) ruling: Option<Ruling>,
}

pub(super) const SCORED: &str = "scored questions";
pub(super) const PASSAGES: &str = "questions that name gold passages";
pub(super) const ASSESSED: &str = "answers that were assessed (`--assess`)";
pub(super) const INDEXED: &str = "a base that this evaluation made with a model";
pub(super) const UNANSWERABLE: &str = "questions that cannot be answered";

/// A mean over questions: a fraction of which more is better.
pub(super) const fn by_question(
    key: &'static str,
    title: &'static str,
    meaning: &'static str,
    question: fn(&Case<'_>) -> Option<f64>,
) -> Column {
    Column {
        key,
        title,
        meaning,
        format: ValueFormat::Percent,
        better: Some(Better::Higher),
        needs: SCORED,
        in_groups: false,
        question: Some(question),
        run: None,
    }
}

/// A figure of a whole run, a fraction of which more is better.
pub(super) const fn by_run(
    key: &'static str,
    title: &'static str,
    meaning: &'static str,
    run: fn(&Run) -> Option<f64>,
) -> Column {
    Column { question: None, run: Some(run), ..by_question(key, title, meaning, |_| None) }
}

/// A count of questions in a run.
pub(super) const fn counted(
    key: &'static str,
    title: &'static str,
    meaning: &'static str,
    run: fn(&Run) -> Option<f64>,
) -> Column {
    Column { format: ValueFormat::Count, better: None, ..by_run(key, title, meaning, run) }
}

/// A count that only DEC's Table 3 and the Markdown show.
pub(super) const fn gold_read(
    key: &'static str,
    title: &'static str,
    meaning: &'static str,
    run: fn(&Run) -> Option<f64>,
) -> Column {
    Column { needs: PASSAGES, ..counted(key, title, meaning, run) }
}

pub(super) const fn percent(column: Column) -> Column {
    Column { format: ValueFormat::Percent, better: Some(Better::Higher), ..column }
}

/// A number a question or a chunk, of which less is better.
pub(super) const fn each(
    key: &'static str,
    title: &'static str,
    meaning: &'static str,
    run: fn(&Run) -> Option<f64>,
) -> Column {
    cost(by_run(key, title, meaning, run), ValueFormat::Decimal)
}

/// One of the figures of DEC's Table 4.
pub(super) const fn answerability(
    key: &'static str,
    title: &'static str,
    meaning: &'static str,
    run: fn(&Run) -> Option<f64>,
) -> Column {
    Column { needs: UNANSWERABLE, ..by_run(key, title, meaning, run) }
}

/// A criterion that a model assessed.
pub(super) const fn assessed(
    key: &'static str,
    title: &'static str,
    meaning: &'static str,
    run: fn(&Run) -> Option<f64>,
) -> Column {
    Column { needs: ASSESSED, ..by_run(key, title, meaning, run) }
}

pub(super) const fn cost(column: Column, format: ValueFormat) -> Column {
    Column { format, better: Some(Better::Lower), ..column }
}

/// The column of this key.
pub fn column(key: &str) -> Option<&'static Column> {
    COLUMNS.iter().find(|column| column.key == key)
}

impl Report {
    /// The columns for which some run has a value. The data set's own metric is named.
    pub(crate) fn columns(&self) -> Vec<(&'static Column, String)> {
        let metric = self.runs.first().map(|run| run.metric.name());
        let used =
            |column: &&Column| self.runs.iter().any(|run| run.values.get(column.key).is_some());
        let titled = |column: &'static Column| match &metric {
            Some(name) if column.key == "score" => (column, name.clone()),
            _ => (column, column.title.to_owned()),
        };
        COLUMNS.iter().filter(used).map(titled).collect()
    }

    /// The same, as the report carries them.
    pub(crate) fn column_heads(&self) -> Vec<ColumnHead> {
        let head = |(column, title): (&'static Column, String)| ColumnHead {
            key: column.key.to_owned(),
            title,
            meaning: column.meaning.to_owned(),
            format: column.format,
            better: column.better,
            in_groups: column.in_groups,
        };
        self.columns().into_iter().map(head).collect()
    }
}
