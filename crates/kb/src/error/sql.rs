//! Why a query over tables is refused or ended: what is wrong, and what to write instead.
use std::fmt;

use halma_core::text::thousands;
use halma_parse::worker::WorkerError;
use serde::{Deserialize, Serialize};

/// At most this many names are listed.
const LISTED: usize = 12;

/// Why there is no result of a query.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
pub enum SqlError {
    #[error("the query is empty; write `SELECT … FROM …`; `SELECT * FROM tables` lists the tables")]
    Empty,
    #[error(
        "the query has {} bytes, and at most {} are read; write a shorter query",
        thousands(*.bytes as u64),
        thousands(*.limit as u64)
    )]
    TooLong { bytes: usize, limit: usize },
    #[error("the query contains a NUL character; remove it")]
    Nul,
    #[error("`{what}` is not allowed in a query: only one `SELECT` is, and it changes nothing")]
    NotAllowed { what: String },
    #[error("the table `{table}` cannot be queried: {reason}; search for its rows instead")]
    UnreadableTable { table: String, reason: String },
    #[error("no such table: {name}; tables: {near}; `SELECT * FROM tables` says more")]
    UnknownTable { name: String, near: NearNames },
    #[error("no such column: {name}; {}; texts stand in single quotes", list(.columns))]
    UnknownColumn {
        name: String,
        /// Of each table that the query names.
        columns: Vec<(String, NearNames)>,
    },
    #[error(
        "no such column: {name}; `_row`, `_document` and `_page` can be asked of tables only; in an \
         inner query give them a name: `_document AS document`"
    )]
    HiddenColumn { name: String },
    #[error("the query cannot be run: {reason}; it is read as SQLite's SQL")]
    Invalid { reason: String },
    #[error("the query took longer than {seconds} s; ask for less at a time")]
    Timeout { seconds: f64 },
    #[error("the query, with the tables it reads, needs more memory than 1 GiB; ask for less")]
    OutOfMemory,
    #[error("the base's tables cannot be put into the SQL engine: {reason}; run the query again")]
    Load { reason: String },
    #[error("too many queries are running; run it again in a moment")]
    Busy,
    #[error("the process for queries cannot be started: {reason}")]
    Start { reason: String },
}

impl SqlError {
    /// Whether another query would do (exit code 2).
    pub(crate) fn is_wrong_use(&self) -> bool {
        !matches!(
            self,
            Self::Timeout { .. }
                | Self::OutOfMemory
                | Self::Load { .. }
                | Self::Busy
                | Self::Start { .. }
        )
    }

    /// Of filling the SQL engine.
    #[expect(clippy::needless_pass_by_value, reason = "is given to map_err")]
    pub(crate) fn load(source: rusqlite::Error) -> Self {
        match source.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OutOfMemory) => Self::OutOfMemory,
            _ => Self::Load { reason: source.to_string() },
        }
    }
}

impl From<WorkerError> for SqlError {
    fn from(error: WorkerError) -> Self {
        match error {
            WorkerError::Busy { .. } => Self::Busy,
            WorkerError::Start { source } => Self::Start { reason: source.to_string() },
            WorkerError::Late => Self::Load { reason: "they are too large".to_owned() },
            // What ends a worker is its limit of memory.
            WorkerError::Ended => Self::OutOfMemory,
        }
    }
}

fn list(columns: &[(String, NearNames)]) -> String {
    let line = |(table, names): &(String, NearNames)| format!("columns of `{table}`: {names}");
    let lines: Vec<String> = columns.iter().map(line).collect();
    if lines.is_empty() { "the query names no table".to_owned() } else { lines.join("; ") }
}

/// The names that there are, those nearest to the one in question first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearNames(pub Vec<String>);

impl fmt::Display for NearNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed: Vec<String> =
            self.0.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
        match self.0.len().saturating_sub(LISTED) {
            _ if listed.is_empty() => f.write_str("none"),
            0 => f.write_str(&listed.join(", ")),
            more => write!(f, "{} and {more} more", listed.join(", ")),
        }
    }
}
