//! SQL over the tables of a base.
use std::collections::BTreeMap;

use halma_core::{Catalog, Layer, SqlResult, TableSchema};

use crate::error::run_blocking;
use crate::{Base, ColumnLine, KbError, SqlLimits, TableLine};

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
        let (tables, store, sql) = (self.tables.clone(), self.store.clone(), sql.to_owned());
        run_blocking("computing", move || tables.run(&store, &sql, limits)).await
    }

    /// The tables of the base under the names that they have in SQL.
    pub fn tables(&self) -> Result<Vec<TableLine>, KbError> {
        self.tables.lines(&self.store)
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
