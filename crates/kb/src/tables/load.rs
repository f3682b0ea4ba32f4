//! Tables of the base into SQLite, when a query first names them.
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use halma_core::{ColumnKind, Layer};
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, params_from_iter};
use serde::{Deserialize, Serialize};

use super::catalog::{Field, LIST, TableCatalog, TableEntry};
use super::query::quoted;
use crate::store::{ChunkRecord, DocumentRecord, Id, Row, RowRecord, Store, node_id, parse_id};
use crate::values::{ColumnReading, Value};
use crate::{KbError, SqlError};

/// Where the rows that were loaded come from.
#[derive(Debug, Default)]
pub(super) struct Origins(BTreeMap<Row, Origin>);

#[derive(Debug, Serialize, Deserialize)]
struct Origin {
    /// Row, id, document.
    rows: Vec<(Row, Id, usize)>,
    documents: Vec<Arc<str>>,
    page: Option<u32>,
}

impl Origins {
    fn of(&self, row: Row) -> Option<(&Origin, &(Row, Id, usize))> {
        let (_, origin) = self.0.range(..=row).next_back()?;
        let at = origin.rows.binary_search_by_key(&row, |(row, ..)| *row).ok()?;
        Some((origin, &origin.rows[at]))
    }

    pub(super) fn id(&self, row: Row) -> Option<halma_core::NodeId> {
        self.of(row).map(|(_, (_, id, _))| node_id(Layer::Row, *id))
    }

    pub(super) fn document(&self, row: Row) -> Option<String> {
        self.of(row).and_then(|(origin, (_, _, at))| Some(origin.documents.get(*at)?.to_string()))
    }

    pub(super) fn page(&self, row: Row) -> Option<u32> {
        self.of(row).and_then(|(origin, _)| origin.page)
    }

    /// The documents of all rows of a table.
    pub(super) fn documents(&self, table: &TableEntry) -> impl Iterator<Item = &Arc<str>> {
        self.0.get(&table.rows.0).into_iter().flat_map(|origin| &origin.documents)
    }
}

/// Makes the table that lists the others.
pub(super) fn list(connection: &Connection, catalog: &TableCatalog) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "CREATE TABLE {LIST}(name TEXT, caption TEXT, document TEXT, rows INTEGER, columns TEXT)"
    ))?;
    let mut insert = connection.prepare(&format!(
        "INSERT INTO {LIST}(_rowid_, name, caption, document, rows, columns) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
    ))?;
    for (number, table) in catalog.tables.iter().enumerate() {
        let columns = match &table.refused {
            Some(reason) => format!("not in SQL: {reason}"),
            None => table.fields.iter().map(Field::to_string).collect::<Vec<_>>().join(", "),
        };
        let (number, count) = (whole(number), whole(table.count()));
        let about = (number, &table.name, &table.caption, &table.document, count, columns);
        insert.execute(about)?;
    }
    Ok(())
}

fn whole(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The rows of one stored table, with their origin, as the SQL engine needs them. The engine may be
/// another process, which has no access to the store.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TableRows {
    cells: Vec<(Row, Vec<String>)>,
    origin: Origin,
}

impl TableRows {
    /// The rows of the table at this place of the catalog; `None` when it has been replaced since
    /// the catalog was made.
    pub(super) fn read(
        store: &Store,
        catalog: &TableCatalog,
        at: usize,
    ) -> Result<Option<Self>, KbError> {
        let Some(table) = catalog.tables.get(at) else { return Ok(None) };
        let Some(rows) = rows(store, table)? else { return Ok(None) };
        let origin = origin(store, table, &rows)?;
        let cells = rows.into_iter().map(|(row, record)| (row, record.cells)).collect();
        Ok(Some(Self { cells, origin }))
    }
}

/// Gives the rows of a stored table by its place in the catalog.
pub(super) type Fetch<'a, E> = dyn FnMut(usize) -> Result<Option<TableRows>, E> + 'a;

/// Makes a table and puts in its rows, or those of the tables that it unites. False when one of
/// them has been replaced since the catalog was made.
pub(super) fn table<E: From<SqlError>>(
    connection: &Connection,
    (catalog, at): (&TableCatalog, usize),
    origins: &mut Origins,
    fetch: &mut Fetch<'_, E>,
) -> Result<bool, E> {
    let table = &catalog.tables[at];
    let columns: Vec<String> = table.fields.iter().map(column).collect();
    let columns = columns.join(", ");
    let create = format!("CREATE TABLE {}({columns})", quoted(&table.name));
    connection.execute_batch(&create).map_err(SqlError::load)?;
    let parts = if table.united.is_empty() { vec![at] } else { table.united.clone() };
    for part in parts {
        let Some(TableRows { cells, origin }) = fetch(part)? else { return Ok(false) };
        fill(connection, table, &cells).map_err(SqlError::load)?;
        if let Entry::Vacant(place) = origins.0.entry(catalog.tables[part].rows.0) {
            place.insert(origin);
        }
    }
    Ok(true)
}

fn column(field: &Field) -> String {
    let kind = match field.kind {
        ColumnKind::Integer => "INTEGER",
        ColumnKind::Number => "REAL",
        ColumnKind::Boolean => "BOOLEAN",
        ColumnKind::Text | ColumnKind::Date => "TEXT",
    };
    format!("{} {kind}", quoted(&field.name))
}

/// The rows of a table that is still there; they come and go with it.
fn rows(store: &Store, table: &TableEntry) -> Result<Option<Vec<(Row, RowRecord)>>, KbError> {
    store.read(|reader| {
        let Some((layer, id)) = parse_id(&table.id) else { return Ok(None) };
        if reader.find(layer, id)?.is_none() {
            return Ok(None);
        }
        let mut rows = vec![];
        for row in table.rows.0..table.rows.1 {
            rows.extend(reader.node::<RowRecord>(row)?.map(|record| (row, record)));
        }
        Ok(Some(rows))
    })
}

fn fill(
    connection: &Connection,
    table: &TableEntry,
    rows: &[(Row, Vec<String>)],
) -> rusqlite::Result<()> {
    let readings: Vec<ColumnReading> = (0..table.fields.len())
        .map(|i| {
            ColumnReading::of(
                &rows.iter().filter_map(|(_, cells)| cells.get(i).map(String::as_str)),
            )
        })
        .collect();
    let marks = vec!["?"; table.fields.len() + 1].join(", ");
    let names: Vec<String> = table.fields.iter().map(|field| quoted(&field.name)).collect();
    let names = names.join(", ");
    let insert = format!("INSERT INTO {}(_rowid_, {names}) VALUES ({marks})", quoted(&table.name));
    connection.execute_batch("BEGIN")?;
    let mut insert = connection.prepare(&insert)?;
    for (row, written) in rows {
        let cells = table.fields.iter().zip(&readings).enumerate().map(|(i, (field, reading))| {
            let cell = written.get(i).map_or("", String::as_str);
            value(field, reading, cell)
        });
        insert
            .execute(params_from_iter(std::iter::once(Sql::Integer((*row).into())).chain(cells)))?;
    }
    connection.execute_batch("COMMIT")
}

fn value(field: &Field, reading: &ColumnReading, cell: &str) -> Sql {
    let read = match field.kind {
        ColumnKind::Text => match cell.trim() {
            "" => Value::Nothing,
            text => Value::Text(text),
        },
        _ => reading.read(cell),
    };
    match read {
        Value::Nothing => Sql::Null,
        Value::Integer(number) => Sql::Integer(number),
        Value::Number(number) => Sql::Real(number),
        Value::Truth(truth) => Sql::Integer(truth.into()),
        Value::Date(date) => Sql::Text(date),
        Value::Text(text) => Sql::Text(text.to_owned()),
    }
}

/// Where each row of a table comes from; a row of facts comes from its chunk.
fn origin(store: &Store, table: &TableEntry, rows: &[(Row, RowRecord)]) -> Result<Origin, KbError> {
    let mut origin = Origin { rows: vec![], documents: vec![], page: table.page };
    if let Some(document) = &table.document {
        origin.documents.push(document.as_str().into());
        origin.rows.extend(rows.iter().map(|(row, record)| (*row, record.id, 0)));
        return Ok(origin);
    }
    store.read(|reader| {
        for (row, record) in rows {
            let chunk = reader.node::<ChunkRecord>(record.chunk)?;
            let document = match chunk {
                Some(chunk) => reader.node::<DocumentRecord>(chunk.document)?,
                None => None,
            };
            let name = document.and_then(|document| document.names.into_iter().next());
            let at = match name {
                None => usize::MAX,
                Some(name) => {
                    let position = origin.documents.iter().position(|position| **position == *name);
                    position.unwrap_or_else(|| {
                        origin.documents.push(name.into());
                        origin.documents.len() - 1
                    })
                }
            };
            origin.rows.push((*row, record.id, at));
        }
        Ok(origin)
    })
}
