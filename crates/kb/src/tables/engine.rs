//! The in-memory database: what it holds of the base, and how a query runs in it, in this process
//! or in a worker.
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Instant;

use halma_core::{NodeId, SqlResult, SqlRow};
use parking_lot::{Mutex, RwLock};
use rusqlite::config::DbConfig;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Statement};
use serde_json::Value;

use super::SqlLimits;
use super::catalog::{LIST, TableCatalog};
use super::hints::explained;
use super::load::{self, Fetch, Origins};
use super::query::Query;
use super::sources::traced;
use crate::error::SqlError;
use crate::store::Row;

/// Bytes that SQLite may use in this process, the tables included.
const MEMORY: &str = "1073741824";

/// Bytes of one value while tables are filled, and of one that a query makes.
const LARGEST_CELL: i32 = 100_000_000;
const LARGEST_VALUE: i32 = 10_000_000;

/// Bytes of a pattern of `LIKE` or `GLOB`: each is tried at every place of a text.
const LONGEST_PATTERN: i32 = 1_000;

/// Levels of an expression, and `SELECT`s that `UNION` and the like join.
const DEEPEST: i32 = 200;
const MAX_SELECTS: i32 = 100;

/// Bytes of a result together with the numbers of the rows that it comes from.
const MAX_SOURCES: usize = 64_000_000;

/// Instructions of SQLite between two looks at the clock.
const CLOCK_EVERY: i32 = 10_000;

pub(super) struct Engine {
    connection: Connection,
    pub(super) catalog: Arc<TableCatalog>,
    loaded: HashSet<usize>,
    listed: bool,
    origins: Arc<RwLock<Origins>>,
    gate: Arc<Mutex<Gate>>,
}

/// What the query at hand may do, and what it did.
#[derive(Default)]
struct Gate {
    /// A query of a user's runs; otherwise the tables are filled.
    closed: bool,
    until: Option<Instant>,
    read: BTreeSet<String>,
    refused: Option<String>,
}

impl Gate {
    fn allow(&mut self, action: AuthAction<'_>) -> Authorization {
        if !self.closed {
            return Authorization::Allow;
        }
        let refused = match action {
            AuthAction::Select | AuthAction::Recursive => return Authorization::Allow,
            AuthAction::Function { function_name } if function_name != "load_extension" => {
                return Authorization::Allow;
            }
            AuthAction::Read { table_name, .. } if !table_name.starts_with("sqlite_") => {
                self.read.insert(table_name.to_lowercase());
                return Authorization::Allow;
            }
            AuthAction::Read { table_name, .. } => {
                format!("{table_name} (`{LIST}` lists the tables)")
            }
            AuthAction::Function { function_name } => function_name.to_owned(),
            AuthAction::Pragma { pragma_name, .. } => format!("pragma {pragma_name}"),
            AuthAction::Attach { .. } => "ATTACH".to_owned(),
            _ => "a change".to_owned(),
        };
        self.refused.get_or_insert(refused);
        Authorization::Deny
    }
}

impl Engine {
    pub(super) fn new(catalog: Arc<TableCatalog>) -> Result<Self, SqlError> {
        let origins = Arc::default();
        let gate: Arc<Mutex<Gate>> = Arc::default();
        let connection = open(&gate, &origins).map_err(SqlError::load)?;
        let (loaded, listed) = (HashSet::new(), false);
        Ok(Self { connection, catalog, loaded, listed, origins, gate })
    }

    /// Puts in the tables that a query names, unless they are there; false when the base has
    /// changed meanwhile.
    pub(super) fn load<E: From<SqlError>>(
        &mut self,
        sql: &str,
        fetch: &mut Fetch<'_, E>,
    ) -> Result<bool, E> {
        let query = Query::new(sql)?;
        self.limit_values(LARGEST_CELL).map_err(SqlError::load)?;
        if query.lists() && !self.listed {
            load::list(&self.connection, &self.catalog).map_err(SqlError::load)?;
            self.listed = true;
        }
        for at in query.tables(&self.catalog) {
            let table = &self.catalog.tables[at];
            if let Some(reason) = &table.refused {
                let (table, reason) = (table.name.clone(), reason.clone());
                return Err(SqlError::UnreadableTable { table, reason }.into());
            }
            if self.loaded.contains(&at) {
                continue;
            }
            let mut origins = self.origins.write();
            let table = (&*self.catalog, at);
            if !load::table(&self.connection, table, &mut origins, fetch)? {
                return Ok(false);
            }
            self.loaded.insert(at);
        }
        Ok(true)
    }

    fn limit_values(&self, bytes: i32) -> rusqlite::Result<()> {
        self.connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, bytes).map(drop)
    }

    /// Runs one query that reads, over tables that have been loaded.
    pub(super) fn run(&self, sql: &str, limits: SqlLimits) -> Result<SqlResult, SqlError> {
        let query = Query::new(sql)?;
        let written = query.in_own_names(&self.catalog);
        self.limit_values(LARGEST_VALUE).map_err(SqlError::load)?;
        {
            let mut gate = self.gate.lock();
            *gate = Gate { closed: true, ..Gate::default() };
            gate.until = Instant::now().checked_add(limits.time);
        }
        let done = self.computed(&written, limits);
        let gate = std::mem::take(&mut *self.gate.lock());
        let failed = |error: rusqlite::Error| match gate.refused {
            Some(what) => SqlError::NotAllowed { what },
            None => explained(&error, &query, &self.catalog, limits),
        };
        done.map_err(failed)
    }

    fn computed(&self, sql: &str, limits: SqlLimits) -> rusqlite::Result<SqlResult> {
        let mut statement = self.connection.prepare(sql)?;
        if !statement.readonly() {
            self.gate.lock().refused.get_or_insert("a change".to_owned());
            return Err(rusqlite::Error::InvalidQuery);
        }
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let fetched = read(&mut statement, columns.len(), limits.rows, limits.bytes)?;
        drop(statement);
        let read: Vec<String> = self.gate.lock().read.iter().cloned().collect();
        let sources = self.sources(sql, &fetched, columns.len());
        let tables = self.tables(&read);
        let row = |(values, sources): (Vec<Value>, Vec<NodeId>)| {
            let sources = if sources.is_empty() { tables.clone() } else { sources };
            SqlRow { values, sources }
        };
        let rows = fetched.rows.into_iter().zip(sources).map(row).collect();
        Ok(SqlResult { columns, rows, documents: self.documents(&read), cut: fetched.cut })
    }

    /// The rows of the base that each row of a result comes from; none where that is not known.
    fn sources(&self, sql: &str, fetched: &FetchedRows, width: usize) -> Vec<Vec<NodeId>> {
        self.traced(sql, fetched, width).unwrap_or_else(|| vec![vec![]; fetched.rows.len()])
    }

    fn traced(&self, sql: &str, fetched: &FetchedRows, width: usize) -> Option<Vec<Vec<NodeId>>> {
        let query = Query::new(sql).ok()?;
        let is_table = |name: &str| name == LIST || self.catalog.find(name).is_some();
        let traced = traced(&query, width, is_table)?;
        let lists = query.lists();
        // What SQLite makes of the changed query is only believed where it gives the same values.
        let mut statement = self.connection.prepare(&traced.sql).ok()?;
        let count = statement.column_count();
        // As many rows as were found; the numbers of their rows come in addition.
        let mut again = read(&mut statement, count, fetched.rows.len(), MAX_SOURCES).ok()?;
        let mut sources = vec![];
        for values in &mut again.rows {
            let rows = values.split_off(width.min(values.len()));
            let rows: BTreeSet<i64> = rows.iter().flat_map(numbers).collect();
            sources.push(rows.into_iter().filter_map(|row| self.node(row, lists)).collect());
        }
        if traced.in_order {
            return (again.rows == fetched.rows).then_some(sources);
        }
        let keys = again.rows.iter().map(|values| Value::from(values.clone()).to_string());
        let by_values: BTreeMap<String, Vec<NodeId>> = keys.zip(sources).collect();
        let of = |values: &Vec<Value>| by_values.get(&Value::from(values.clone()).to_string());
        Some(fetched.rows.iter().map(|values| of(values).cloned().unwrap_or_default()).collect())
    }

    fn node(&self, row: i64, lists: bool) -> Option<NodeId> {
        if lists {
            return Some(self.catalog.tables.get(usize::try_from(row).ok()?)?.id.clone());
        }
        let origins = self.origins.read();
        origins.id(Row::try_from(row).ok()?)
    }

    /// The tables that were read, those that others unite included.
    fn tables(&self, read: &[String]) -> Vec<NodeId> {
        let nodes: BTreeSet<NodeId> =
            self.parts(read).map(|at| self.catalog.tables[at].id.clone()).collect();
        nodes.into_iter().collect()
    }

    fn documents(&self, read: &[String]) -> Vec<String> {
        let origins = self.origins.read();
        let tables = self.parts(read).map(|at| &self.catalog.tables[at]);
        let names = tables.flat_map(|table| origins.documents(table));
        let mut names: BTreeSet<String> = names.map(ToString::to_string).collect();
        if read.iter().any(|name| name == LIST) {
            names.extend(self.catalog.tables.iter().filter_map(|table| table.document.clone()));
        }
        names.into_iter().collect()
    }

    fn parts(&self, read: &[String]) -> impl Iterator<Item = usize> {
        let places = read.iter().filter_map(|name| self.catalog.find(name));
        places.flat_map(|at| match &self.catalog.tables[at].united[..] {
            [] => vec![at],
            united => united.to_vec(),
        })
    }
}

fn open(gate: &Arc<Mutex<Gate>>, origins: &Arc<RwLock<Origins>>) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    // A word in double quotes that is not a name is an error, not a text.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LONGEST_PATTERN)?;
    connection.set_limit(Limit::SQLITE_LIMIT_EXPR_DEPTH, DEEPEST)?;
    connection.set_limit(Limit::SQLITE_LIMIT_COMPOUND_SELECT, MAX_SELECTS)?;
    // Nothing of the base is written to files that are not deleted with it.
    connection.execute_batch("PRAGMA temp_store = MEMORY; PRAGMA journal_mode = OFF;")?;
    connection.query_row(&format!("PRAGMA hard_heap_limit = {MEMORY}"), [], |_| Ok(()))?;
    ask_rows(&connection, origins)?;
    let watched = Arc::clone(gate);
    let late = move || watched.lock().until.is_some_and(|until| Instant::now() >= until);
    connection.progress_handler(CLOCK_EVERY, Some(late))?;
    let gate = Arc::clone(gate);
    connection
        .authorizer(Some(move |context: AuthContext<'_>| gate.lock().allow(context.action)))?;
    Ok(connection)
}

/// What can be read of a row in addition to its columns.
fn ask_rows(connection: &Connection, origins: &Arc<RwLock<Origins>>) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    let add = |name: &str, answer: fn(&Origins, Row) -> Option<rusqlite::types::Value>| {
        let origins = Arc::clone(origins);
        connection.create_scalar_function(name, 1, flags, move |context: &Context<'_>| {
            let row = context.get::<Option<i64>>(0)?.and_then(|row| Row::try_from(row).ok());
            let origins = origins.read();
            Ok(row.and_then(|row| answer(&origins, row)))
        })
    };
    add("halma_row", |origins, row| origins.id(row).map(|id| id.0.into()))?;
    add("halma_document", |origins, row| origins.document(row).map(Into::into))?;
    add("halma_page", |origins, row| origins.page(row).map(|page| i64::from(page).into()))
}

/// The rows of a result, as many as fit.
struct FetchedRows {
    rows: Vec<Vec<Value>>,
    cut: bool,
}

fn read(
    statement: &mut Statement<'_>,
    width: usize,
    max_rows: usize,
    max_bytes: usize,
) -> rusqlite::Result<FetchedRows> {
    let truths: Vec<bool> =
        statement.columns().map(|column| column.decl_type() == Some("BOOLEAN")).collect();
    let mut fetched = FetchedRows { rows: vec![], cut: false };
    let mut bytes = 0;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if fetched.rows.len() >= max_rows || bytes >= max_bytes {
            fetched.cut = true;
            break;
        }
        let mut values = Vec::with_capacity(width);
        for (i, truth) in truths.iter().enumerate().take(width) {
            let value = row.get_ref(i)?;
            bytes += size(value);
            values.push(json(value, *truth));
        }
        fetched.rows.push(values);
    }
    Ok(fetched)
}

fn size(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len() + 16,
        _ => 16,
    }
}

fn json(value: ValueRef<'_>, truth: bool) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number @ (0 | 1)) if truth => Value::Bool(number == 1),
        ValueRef::Integer(number) => number.into(),
        // JSON has no infinity.
        ValueRef::Real(number) => serde_json::Number::from_f64(number)
            .map_or_else(|| Value::String(number.to_string()), Value::Number),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned().into(),
        ValueRef::Blob(bytes) => format!("x'{}'", hex::encode(bytes)).into(),
    }
}

/// The numbers in a value that names rows: one, or several with commas.
fn numbers(value: &Value) -> Vec<i64> {
    match value {
        Value::Number(number) => number.as_i64().into_iter().collect(),
        Value::String(list) => list.split(',').filter_map(|number| number.parse().ok()).collect(),
        _ => vec![],
    }
}
