//! SQL in a worker process: it has no access to the store, is given the rows of the tables that a
//! query names, and is killed when the query's time is up.
use std::sync::Arc;
use std::time::{Duration, Instant};

use halma_core::{NodeId, SqlResult, SqlRow};
use halma_parse::worker::{Lease, Pool, Purpose, Requests, WorkerError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SqlLimits;
use super::catalog::TableCatalog;
use super::engine::Engine;
use super::load::TableRows;
use crate::store::Store;
use crate::workers::{WorkerKind, sql_limits};
use crate::{KbError, SqlError};

/// For starting, and for filling one table.
const FILLING: Duration = Duration::from_mins(1);

/// What a worker may take beyond the time of its query before it is killed: it says itself that the
/// time is up, where it can.
const GRACE: Duration = Duration::from_millis(500);

/// No query takes longer, whatever its limit.
const LONGEST: Duration = Duration::from_hours(1);

/// To a worker.
#[derive(Serialize, Deserialize)]
enum Request {
    /// First of all, once: what the tables are called.
    TableCatalog(TableCatalog),
    Query {
        sql: String,
        limits: SqlLimits,
    },
    /// The rows that were asked for; `None` when the table is not there any more.
    Rows(Option<TableRows>),
}

/// From a worker.
#[derive(Serialize, Deserialize)]
enum Reply {
    /// Send the rows of this table.
    Fetch(usize),
    /// The tables are there; the query begins.
    Begun,
    /// `None` when a table is not there any more.
    Done(Result<Option<SentResult>, SqlError>),
}

/// The workers of one view of a base.
pub(super) struct SqlWorkers<'a> {
    pub(super) pool: &'a Arc<Pool>,
    /// Distinguishes the view from the others of its base.
    pub(super) view: u64,
}

impl SqlWorkers<'_> {
    /// Runs a query in a worker of this view; `None` when the base has changed meanwhile.
    pub(super) fn run(
        &self,
        store: &Store,
        catalog: &Arc<TableCatalog>,
        sql: &str,
        limits: SqlLimits,
    ) -> Result<Option<SqlResult>, KbError> {
        let query = Request::Query { sql: sql.to_owned(), limits };
        let lease = self.lease(store, catalog, &query)?;
        let mut until = Instant::now() + FILLING;
        let mut running = false;
        loop {
            let reply = lease.receive(until).map_err(|error| match error {
                WorkerError::Late if running => {
                    SqlError::Timeout { seconds: limits.time.as_secs_f64() }
                }
                error => error.into(),
            })?;
            match postcard::from_bytes(&reply).map_err(unreadable)? {
                Reply::Fetch(at) => {
                    let rows = TableRows::read(store, catalog, at)?;
                    let is_gone = rows.is_none();
                    send(&lease, &Request::Rows(rows))?;
                    until = Instant::now() + FILLING;
                    if is_gone {
                        return Ok(None);
                    }
                }
                Reply::Begun => {
                    running = true;
                    until = Instant::now() + limits.time.min(LONGEST) + GRACE;
                }
                Reply::Done(done) => {
                    let broken = matches!(done, Err(SqlError::Load { .. } | SqlError::OutOfMemory));
                    if !broken {
                        lease.give_back();
                    }
                    return Ok(done?.map(SentResult::received));
                }
            }
        }
    }

    /// A worker that knows the tables and has begun the query.
    fn lease(
        &self,
        store: &Store,
        catalog: &TableCatalog,
        query: &Request,
    ) -> Result<Lease, SqlError> {
        let purpose = Purpose {
            owner: store.dir().display().to_string(),
            view: self.view,
            version: catalog.generation,
        };
        let mut lease = self.pool.take(&purpose)?;
        if !lease.is_new() && send(&lease, query).is_err() {
            // It has ended since the last query.
            drop(lease);
            lease = self.pool.take(&purpose)?;
        }
        if lease.is_new() {
            send(&lease, &Request::TableCatalog(catalog.clone()))?;
            send(&lease, query)?;
        }
        Ok(lease)
    }
}

fn send(lease: &Lease, request: &Request) -> Result<(), SqlError> {
    let bytes = postcard::to_stdvec(request).map_err(unreadable)?;
    Ok(lease.send(bytes)?)
}

#[expect(clippy::needless_pass_by_value, reason = "is given to map_err")]
fn unreadable(error: postcard::Error) -> SqlError {
    SqlError::Load { reason: format!("a message to or from its process is broken: {error}") }
}

/// The worker's side: runs queries until no one asks any more.
pub(crate) fn serve_sql(requests: &Requests) {
    let mut engine: Option<Engine> = None;
    loop {
        match postcard::from_bytes(&requests.next()) {
            Ok(Request::TableCatalog(catalog)) => engine = Engine::new(Arc::new(catalog)).ok(),
            Ok(Request::Query { sql, limits }) => {
                let done = match &mut engine {
                    Some(engine) => run(engine, requests, &sql, limits),
                    None => Err(SqlError::Load { reason: "it could not be opened".to_owned() }),
                };
                reply(requests, &Reply::Done(done));
            }
            // The asker is not the program that this one belongs to.
            Ok(Request::Rows(_)) | Err(_) => return,
        }
    }
}

fn run(
    engine: &mut Engine,
    requests: &Requests,
    sql: &str,
    limits: SqlLimits,
) -> Result<Option<SentResult>, SqlError> {
    let loaded = engine.load::<SqlError>(sql, &mut |at| {
        reply(requests, &Reply::Fetch(at));
        match postcard::from_bytes(&requests.next()) {
            Ok(Request::Rows(rows)) => Ok(rows),
            Ok(_) => Err(SqlError::Load { reason: "its rows did not come".to_owned() }),
            Err(error) => Err(unreadable(error)),
        }
    })?;
    if !loaded {
        return Ok(None);
    }
    reply(requests, &Reply::Begun);
    Ok(Some(SentResult::of(engine.run(sql, limits)?)))
}

fn reply(requests: &Requests, reply: &Reply) {
    // Only a result that does not fit the memory cannot be written; the asker sees the end.
    if let Ok(bytes) = postcard::to_stdvec(reply) {
        requests.reply(&bytes);
    }
}

/// A result as it is sent: a JSON value would have to describe itself.
#[derive(Serialize, Deserialize)]
struct SentResult {
    columns: Vec<String>,
    rows: Vec<(Vec<Cell>, Vec<NodeId>)>,
    documents: Vec<String>,
    cut: bool,
}

#[derive(Serialize, Deserialize)]
enum Cell {
    Null,
    Truth(bool),
    Integer(i64),
    Real(f64),
    Text(String),
}

impl SentResult {
    fn of(result: SqlResult) -> Self {
        let SqlResult { columns, rows, documents, cut } = result;
        let row = |row: SqlRow| (row.values.into_iter().map(Cell::of).collect(), row.sources);
        Self { columns, rows: rows.into_iter().map(row).collect(), documents, cut }
    }

    fn received(self) -> SqlResult {
        let Self { columns, rows, documents, cut } = self;
        let row = |(cells, sources): (Vec<Cell>, _)| SqlRow {
            values: cells.into_iter().map(Cell::value).collect(),
            sources,
        };
        SqlResult { columns, rows: rows.into_iter().map(row).collect(), documents, cut }
    }
}

impl Cell {
    fn of(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Truth(truth),
            Value::Number(number) => match number.as_i64() {
                Some(number) => Self::Integer(number),
                None => number.as_f64().map_or(Self::Null, Self::Real),
            },
            Value::String(text) => Self::Text(text),
            other => Self::Text(other.to_string()),
        }
    }

    fn value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Truth(truth) => truth.into(),
            Self::Integer(number) => number.into(),
            Self::Real(number) => number.into(),
            Self::Text(text) => text.into(),
        }
    }
}

/// What a worker process does until no one asks it any more.
pub fn serve_worker(kind: WorkerKind) -> std::io::Result<()> {
    match kind {
        WorkerKind::Parse => halma_parse::serve()?,
        WorkerKind::Sql => serve_sql(&Requests::open(&sql_limits())?),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_received_as_it_was_sent() {
        let values: Vec<Value> =
            vec![Value::Null, true.into(), (-7).into(), 0.1.into(), i64::MAX.into(), "a".into()];
        let row = SqlRow { values, sources: vec![NodeId::from("row:1")] };
        let result = SqlResult {
            columns: vec!["a".to_owned()],
            rows: vec![row],
            documents: vec!["d".to_owned()],
            cut: true,
        };
        let bytes = postcard::to_stdvec(&SentResult::of(result.clone())).unwrap();
        let received: SentResult = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(received.received(), result);
    }
}
