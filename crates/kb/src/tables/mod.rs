//! Tables of the base as an in-memory SQL database, read only, so that questions of how many and how
//! much are computed over all rows instead of read off the best few.
mod catalog;
mod engine;
mod hints;
mod load;
mod names;
mod query;
mod sources;
mod tokens;
mod worker;

#[cfg(test)]
mod bad_tests;
#[cfg(test)]
mod tests;

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::time::Duration;

use halma_core::{ColumnKind, ColumnSchema, Layer, NodeId, SqlResult};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use self::catalog::{Field, TableCatalog, TableEntry};
use self::engine::Engine;
use self::load::TableRows;
use self::worker::SqlWorkers;
pub use self::worker::serve_worker;
use crate::store::{Changed, DocumentRecord, Store};
use crate::{KbError, SqlError, Workers};

/// How much a query may use.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct SqlLimits {
    pub time: Duration,
    /// Rows of the result; more are cut off.
    pub rows: usize,
    /// Bytes of the result, about; rows beyond are cut off.
    pub bytes: usize,
}

impl Default for SqlLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(5), rows: 1000, bytes: 2_000_000 }
    }
}

/// A table as SQL knows it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TableLine {
    pub name: String,
    /// For what unites several tables: that of the first.
    pub id: NodeId,
    pub caption: Option<String>,
    /// `None` for what was made from facts or unites tables.
    pub document: Option<String>,
    pub page: Option<u32>,
    pub rows: usize,
    pub columns: Vec<ColumnLine>,
    /// Names of the tables whose rows this one unites.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unites: Vec<String>,
    /// Why it cannot be read in SQL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// A column as SQL knows it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ColumnLine {
    pub name: String,
    /// As the document has it.
    pub written: String,
    /// `integer`, `number`, `date` (as `2023-01-31`), `boolean` (1 or 0) or `text`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub kind: ColumnKind,
    /// What its numbers count: `%`, `USD`, `mg`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// The tables of a base for SQL. What they are called is known without waiting for a query; their
/// rows are loaded when a query first names them and cached until the base changes.
#[derive(Clone)]
pub(crate) struct SqlTables {
    /// Distinguishes these tables from those of every other view of the base in this program: a
    /// worker that was sent rows of one view never serves another.
    view: u64,
    catalog: Arc<Mutex<Option<CachedCatalog>>>,
    /// For queries in this process, which run one after the other.
    engine: Arc<Mutex<Option<Engine>>>,
    workers: Option<Arc<Workers>>,
}

/// The tables, and to where in the log of changes they are up to date.
#[derive(Clone)]
struct CachedCatalog {
    catalog: Arc<TableCatalog>,
    position: u64,
}

/// Whether the tables are what they were when the log of changes ended there.
fn is_unchanged(store: &Store, position: u64) -> Result<bool, KbError> {
    store.read(|reader| {
        let Some(changes) = reader.changes_since(position)? else { return Ok(false) };
        if changes.has_nodes(Layer::Table) || changes.has_nodes(Layer::Row) {
            return Ok(false);
        }
        // The name of a document is that of its tables.
        for row in changes.of(Changed::Node, Layer::Document) {
            // Fields decide whether a view has a document, with its tables, at all.
            if reader.is_restricted() {
                return Ok(false);
            }
            let record = reader.node::<DocumentRecord>(*row)?;
            if record.is_some_and(|record| record.tables.0 < record.tables.1) {
                return Ok(false);
            }
        }
        Ok(true)
    })
}

impl SqlTables {
    pub(crate) fn new(workers: Option<Arc<Workers>>) -> Self {
        let view = RandomState::new().hash_one("tables");
        Self { view, catalog: Arc::default(), engine: Arc::default(), workers }
    }

    pub(crate) fn run(
        &self,
        store: &Store,
        sql: &str,
        limits: SqlLimits,
    ) -> Result<SqlResult, KbError> {
        loop {
            let catalog = self.catalog(store)?;
            let done = match &self.workers {
                Some(workers) => {
                    let workers = SqlWorkers { pool: &workers.sql, view: self.view };
                    workers.run(store, &catalog, sql, limits)?
                }
                None => self.run_here(store, &catalog, sql, limits)?,
            };
            if let Some(computed) = done {
                return Ok(computed);
            }
            // A table was replaced after its name was read.
            self.forget();
        }
    }

    /// The tables under the names that they have in SQL.
    pub(crate) fn lines(&self, store: &Store) -> Result<Vec<TableLine>, KbError> {
        let catalog = self.catalog(store)?;
        let all = &catalog.tables;
        let line = |table: &TableEntry| TableLine {
            name: table.name.clone(),
            id: table.id.clone(),
            caption: table.caption.clone(),
            document: table.document.clone(),
            page: table.page,
            rows: table.count(),
            columns: table.fields.iter().map(ColumnLine::of).collect(),
            unites: table.united.iter().map(|at| all[*at].name.clone()).collect(),
            refused: table.refused.clone(),
        };
        Ok(all.iter().map(line).collect())
    }

    /// What the base holds now.
    fn catalog(&self, store: &Store) -> Result<Arc<TableCatalog>, KbError> {
        let loaded = self.catalog.lock().clone();
        let position = store.read(|reader| reader.change_position())?;
        if let Some(loaded) = loaded.clone().filter(|loaded| loaded.position == position) {
            return Ok(loaded.catalog);
        }
        let unchanged = match &loaded {
            Some(loaded) => is_unchanged(store, loaded.position)?,
            None => false,
        };
        // Without the lock: at worst it is read twice at the same time.
        let catalog = match loaded.filter(|_| unchanged) {
            Some(loaded) => loaded.catalog,
            None => Arc::new(TableCatalog::load(store)?),
        };
        let mut cache = self.catalog.lock();
        *cache = Some(CachedCatalog { catalog: Arc::clone(&catalog), position });
        Ok(catalog)
    }

    fn forget(&self) {
        *self.catalog.lock() = None;
    }

    /// `None` when the base has changed meanwhile.
    fn run_here(
        &self,
        store: &Store,
        catalog: &Arc<TableCatalog>,
        sql: &str,
        limits: SqlLimits,
    ) -> Result<Option<SqlResult>, KbError> {
        let mut cached = self.engine.lock();
        // The old one goes first: both may not fit.
        let current = cached.take().filter(|engine| Arc::ptr_eq(&engine.catalog, catalog));
        let mut engine = match current {
            Some(engine) => engine,
            None => Engine::new(Arc::clone(catalog))?,
        };
        let loaded = engine.load::<KbError>(sql, &mut |at| TableRows::read(store, catalog, at));
        let partly_loaded = matches!(
            loaded,
            Ok(false) | Err(KbError::Sql(SqlError::Load { .. } | SqlError::OutOfMemory))
        );
        let done = match loaded {
            Ok(true) => engine.run(sql, limits).map(Some).map_err(KbError::from),
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        };
        if !partly_loaded && !matches!(done, Err(KbError::Sql(SqlError::OutOfMemory))) {
            *cached = Some(engine);
        }
        done
    }
}

impl ColumnLine {
    pub(crate) fn schema(self) -> ColumnSchema {
        let Self { name, kind, unit, .. } = self;
        ColumnSchema { name, kind, unit: unit.unwrap_or_default() }
    }

    fn of(field: &Field) -> Self {
        Self {
            name: field.name.clone(),
            written: field.written.clone(),
            kind: field.kind,
            unit: field.unit.clone(),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.kind.name())?;
        match (self.kind, &self.unit) {
            (ColumnKind::Boolean, _) => f.write_str(" (1 or 0)"),
            (_, Some(unit)) => write!(f, " ({unit})"),
            _ => Ok(()),
        }
    }
}
