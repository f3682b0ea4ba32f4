//! Tables of the base as an in-memory SQL database, read only, so that questions of how many and how
//! much are computed over all rows instead of read off the best few.
mod catalogue;
mod engine;
mod error;
mod hints;
mod load;
mod names;
mod query;
mod sources;
mod tokens;
mod values;

#[cfg(test)]
mod bad_tests;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use halma_core::{Catalog, ColumnSchema, Layer, NodeId, SqlResult, TableSchema};
use serde::Serialize;

use self::catalogue::{Catalogue, Field};
use self::engine::Engine;
pub use self::error::{NearNames, SqlError};
pub(crate) use self::values::kind_of;
use crate::error::run_blocking;
use crate::store::{ColumnKind, Store};
use crate::{Base, KbError};

/// How much a query may use.
#[derive(Debug, Clone, Copy)]
pub struct SqlLimits {
    pub time: Duration,
    /// Rows of the result; more are cut off.
    pub rows: usize,
}

impl Default for SqlLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(5), rows: 1000 }
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
    /// `integer`, `number`, `date` (as `2023-01-31`), `truth` (1 or 0) or `text`.
    pub kind: &'static str,
    /// What its numbers count: `%`, `USD`, `mg`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// The SQL database of a base, made when it is first needed and cached until the base changes.
#[derive(Clone, Default)]
pub(crate) struct SqlCache(Arc<Mutex<Option<Engine>>>);

impl SqlCache {
    fn run(&self, store: &Store, sql: &str, limits: SqlLimits) -> Result<SqlResult, KbError> {
        let mut kept = self.current(store)?;
        loop {
            let mut engine = match kept.take() {
                Some(engine) => engine,
                None => Engine::new(Catalogue::load(store)?)?,
            };
            let done = engine.run(store, sql, limits);
            if matches!(
                done,
                Err(KbError::Sql(SqlError::Load { .. } | SqlError::OutOfMemory)) | Ok(None)
            ) {
                // A table may be there in part, or not be there any more.
                drop(engine);
            } else {
                *kept = Some(engine);
            }
            if let Some(computed) = done? {
                return Ok(computed);
            }
        }
    }

    /// The engine of what the base holds now.
    fn current(&self, store: &Store) -> Result<MutexGuard<'_, Option<Engine>>, KbError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = store.generation()?;
        if kept.as_ref().is_none_or(|engine| engine.catalogue.generation != generation) {
            // The old one goes first: both may not fit.
            *kept = None;
            *kept = Some(Engine::new(Catalogue::load(store)?)?);
        }
        Ok(kept)
    }
}

impl Base {
    /// Runs one `SELECT` over the base's tables. Every row of the result names the rows of the base
    /// that it comes from or, where that is not known, the tables that were read.
    ///
    /// # Errors
    /// When the query is wrong (with near names), would change something, or takes more time or
    /// memory than it may.
    pub fn sql(&self, sql: &str, limits: SqlLimits) -> Result<SqlResult, KbError> {
        self.tables.run(&self.store, sql, limits)
    }

    /// [`Base::sql`] on a thread of its own.
    pub(crate) async fn run_sql_blocking(
        &self,
        sql: &str,
        limits: SqlLimits,
    ) -> Result<SqlResult, KbError> {
        let (kept, store, sql) = (self.tables.clone(), self.store.clone(), sql.to_owned());
        run_blocking("computing", move || kept.run(&store, &sql, limits)).await
    }

    /// The tables of the base under the names that they have in SQL.
    pub fn tables(&self) -> Result<Vec<TableLine>, KbError> {
        let kept = self.tables.current(&self.store)?;
        let Some(engine) = kept.as_ref() else { return Ok(vec![]) };
        let all = &engine.catalogue.tables;
        let line = |table: &catalogue::TableEntry| TableLine {
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

    /// How much of each layer there is, and the tables that can be read in SQL.
    pub(crate) fn table_catalog(&self) -> Result<Catalog, KbError> {
        let mut counts = self.store.read(|reader| {
            let count = |layer: Layer| Ok((layer, reader.count(layer)?));
            Layer::ALL.into_iter().map(count).collect::<Result<BTreeMap<_, _>, heed::Error>>()
        })?;
        counts.retain(|_, count| *count > 0);
        let readable = self.tables()?.into_iter().filter(|table| table.refused.is_none());
        let tables = readable.map(|table| TableSchema {
            name: table.name,
            caption: table.caption.unwrap_or_default(),
            document: table.document.unwrap_or_default(),
            rows: table.rows,
            columns: table.columns.into_iter().map(ColumnLine::schema).collect(),
        });
        Ok(Catalog { counts, tables: tables.collect() })
    }
}

impl ColumnLine {
    fn schema(self) -> ColumnSchema {
        let Self { name, kind, unit, .. } = self;
        ColumnSchema { name, kind: kind.to_owned(), unit: unit.unwrap_or_default() }
    }

    fn of(field: &Field) -> Self {
        Self {
            name: field.name.clone(),
            written: field.written.clone(),
            kind: field.kind.name(),
            unit: field.unit.clone(),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.kind.name())?;
        match (self.kind, &self.unit) {
            (ColumnKind::Truth, _) => f.write_str(" (1 or 0)"),
            (_, Some(unit)) => write!(f, " ({unit})"),
            _ => Ok(()),
        }
    }
}
