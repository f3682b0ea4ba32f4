//! Rows of the tables that the settings ask for, passage by passage (PIKE-RAG, tabular knowledge).
use std::sync::Arc;

use halma_core::Prompt;
use minijinja::{Value, context};
use serde::{Deserialize, Serialize};

use crate::stages::{AskStage, BuildContext, LedgerUnit, Passage, SourceDocument, StageError};
use crate::store::{Id, StoreReader, Task, hash};
use crate::terms::{form, occurs_somehow};
use crate::{Phase, TableTarget};

/// Rows kept of one passage.
const MAX_ROWS: usize = 40;

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RowsReply {
    rows: Vec<RowReply>,
}

#[derive(Debug, Clone, Deserialize)]
struct RowReply {
    /// Counted from 1.
    table: usize,
    head: String,
    #[serde(default)]
    tail: String,
    values: Vec<ColumnValue>,
    #[serde(default)]
    sentence: String,
}

#[derive(Debug, Clone, Deserialize)]
struct ColumnValue {
    column: String,
    value: String,
}

/// A row that a passage states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StatedRow {
    /// The target that it was asked for.
    pub(crate) target: Id,
    pub(crate) head: String,
    pub(crate) tail: String,
    /// A value for each column of the target; empty where the passage states none.
    pub(crate) values: Vec<String>,
    pub(crate) sentence: String,
}

pub(crate) struct Rows {
    context: Arc<BuildContext>,
    targets: Vec<TableTarget>,
    /// Hash of what rows are asked with next to the text.
    asked_with: Id,
}

impl Rows {
    /// `None` where the settings ask for no table.
    pub(crate) fn new(context: &Arc<BuildContext>) -> Option<Self> {
        let targets = context.settings.tables_of.clone();
        let mut parts = vec![context.prompt_input(Self::PROMPT.name).to_be_bytes()];
        parts.extend(targets.iter().map(|target| target.id().to_be_bytes()));
        let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_slice()).collect();
        let asked_with = hash(&parts);
        let context = Arc::clone(context);
        (!targets.is_empty()).then_some(Self { context, targets, asked_with })
    }

    fn target(&self, number: usize) -> Option<&TableTarget> {
        self.targets.get(number.checked_sub(1)?)
    }
}

/// The place of a column in a target, by its name.
fn column(target: &TableTarget, name: &str) -> Option<usize> {
    target.columns.iter().position(|column| form(&column.name) == form(name))
}

impl AskStage for Rows {
    type Request = Passage;
    type Reply = RowsReply;
    type Stored = Vec<StatedRow>;

    const PHASE: Phase = Phase("filling tables");
    const TASK: &'static str = "rows";
    const PROMPT: Prompt<RowsReply> = Prompt::json("kb/rows");
    /// One or two rows.
    const REPLY_TOKENS: u64 = 100;

    fn build(&self) -> &Arc<BuildContext> {
        &self.context
    }

    fn asked_with(&self) -> Option<(Task, Id)> {
        Some((Task::Rows, self.asked_with))
    }

    fn open(
        &self,
        reader: &StoreReader<'_>,
        document: &SourceDocument,
    ) -> heed::Result<Vec<LedgerUnit<Passage>>> {
        document.open_passages(reader, Task::Rows, self.asked_with)
    }

    fn variables(&self, passage: &Passage) -> Value {
        let table = |target: &TableTarget| {
            let column = |column: &crate::settings::TargetColumn| {
                context! { name => &column.name, type => column.kind.name() }
            };
            let columns: Vec<Value> = target.columns.iter().map(column).collect();
            let TableTarget { relation, head, tail, .. } = target;
            context! { relation, head, tail, columns }
        };
        let tables: Vec<Value> = self.targets.iter().map(table).collect();
        let Passage { title, section, text, .. } = passage;
        context! { chunk => context! { title, section, text }, tables, limit => MAX_ROWS }
    }

    fn documents<'a>(&self, passage: &'a Passage) -> Vec<&'a str> {
        vec![&passage.document]
    }

    /// A table, a column or a value that does not fit is asked for again once, then left out.
    fn complaint(&self, _: &Passage, reply: &RowsReply, first: bool) -> Option<String> {
        for row in reply.rows.iter().filter(|_| first) {
            let Some(target) = self.target(row.table) else {
                let count = self.targets.len();
                return Some(format!(
                    "there is no table {}: they are numbered 1 to {count}",
                    row.table
                ));
            };
            for ColumnValue { column: name, value } in &row.values {
                let Some(at) = column(target, name) else {
                    return Some(format!("table {} has no column `{name}`", row.table));
                };
                let requested = &target.columns[at];
                if !value.trim().is_empty() && requested.normalise(value).is_none() {
                    let kind = requested.kind.name();
                    return Some(format!("`{value}` in `{name}` is not of type {kind}"));
                }
            }
        }
        None
    }

    /// Rows about what the passage names: a head that it does not have is invented.
    fn accept(&self, passage: &Passage, reply: RowsReply) -> Result<Vec<StatedRow>, StageError> {
        let told = form(&passage.whole());
        let mut rows = vec![];
        for RowReply { table, head, tail, values, sentence } in reply.rows {
            let Some(target) = self.target(table).filter(|_| rows.len() < MAX_ROWS) else {
                continue;
            };
            let mut cells = vec![String::new(); target.columns.len()];
            for ColumnValue { column: name, value } in values {
                if let Some(at) = column(target, &name) {
                    cells[at] = target.columns[at].normalise(&value).unwrap_or_default();
                }
            }
            let tail = if target.tail.is_empty() { String::new() } else { tail.trim().to_owned() };
            let says = !form(&tail).is_empty() || cells.iter().any(|cell| !cell.is_empty());
            if occurs_somehow(&form(&head), &told) && (says || target.columns.is_empty()) {
                let head = head.trim().to_owned();
                rows.push(StatedRow { target: target.id(), head, tail, values: cells, sentence });
            }
        }
        Ok(rows)
    }
}

impl TableTarget {
    /// What it is asked with: rows of another table are asked for again.
    pub(crate) fn id(&self) -> Id {
        let mut parts: Vec<&[u8]> =
            vec![self.relation.as_bytes(), self.head.as_bytes(), self.tail.as_bytes()];
        for column in &self.columns {
            parts.extend([column.name.as_bytes(), column.kind.name().as_bytes()]);
        }
        hash(&parts)
    }
}
