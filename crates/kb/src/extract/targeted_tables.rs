//! Tables that the settings ask for, made of what a model has read in the passages, with the sentence
//! that says so.
use std::collections::HashMap;
use std::sync::Arc;

use halma_core::{ColumnKind, Edge, Layer};

use super::joined_rows::{JoinedRow, entity_names, joined_rows};
use crate::error::run_blocking;
use crate::store::{
    Column, Id, Link, Row, RowRecord, Rows, StoreReader, StoreWriter, TableRecord, TextPlace, hash,
};
use crate::values::ColumnReading;
use crate::{BuildContext, KbError, TableTarget};

/// The name under which the relations that have a table are kept.
const RELATIONS: &str = "relations";

/// A table that the settings ask for.
struct TargetedTable {
    relation: String,
    columns: Vec<Column>,
    rows: Vec<JoinedRow>,
}

impl TargetedTable {
    fn table_record(&self, id: Id, rows: Rows) -> TableRecord {
        TableRecord {
            id,
            document: None,
            section: None,
            place: TextPlace::default(),
            caption: Some(self.relation.clone()),
            columns: self.columns.clone(),
            rows,
            page: None,
            merged: vec![],
            relation: Some(self.relation.clone()),
        }
    }

    fn row_records(&self, id: Id, table: Row) -> Vec<RowRecord> {
        let record = |(number, line): (u32, &JoinedRow)| RowRecord {
            id: hash(&[&id.to_be_bytes(), &line.id.to_be_bytes()]),
            table,
            chunk: line.chunks[0],
            also: line.chunks[1..].to_vec(),
            number,
            place: line.place,
            cells: line.cells.clone(),
        };
        (1..).zip(&self.rows).map(record).collect()
    }
}

/// Makes or renews the tables that the settings name, and removes those they name no more.
/// Returns how many rows there are.
pub(super) async fn update_all(context: &Arc<BuildContext>) -> Result<usize, KbError> {
    let targets = context.settings.tables_of.clone();
    let base = Arc::clone(&context.base);
    run_blocking("making tables", move || {
        let store = &base.store;
        if targets.is_empty() && store.read(made_of)?.is_empty() {
            return Ok(0);
        }
        let tables = store.read(|reader| {
            let names = if targets.is_empty() { HashMap::new() } else { entity_names(reader)? };
            let rows = |target| Ok(targeted(target, joined_rows(reader, target, &names)?));
            targets.iter().map(rows).collect::<heed::Result<Vec<_>>>()
        })?;
        store.write(|writer| write(writer, &tables))?;
        Ok(tables.iter().map(|table| table.rows.len()).sum())
    })
    .await
}

/// A table that was asked for. Its columns are of the types that it names as far as all values fit.
fn targeted(target: &TableTarget, rows: Vec<JoinedRow>) -> TargetedTable {
    let mut columns = vec![column(target.head.clone())];
    if !target.tail.is_empty() {
        let same = target.tail == target.head;
        let name = if same { target.relation.clone() } else { target.tail.clone() };
        columns.push(column(name));
    }
    for column in &target.columns {
        let at = columns.len();
        let values = rows.iter().map(|row| row.cells[at].as_str()).filter(|cell| !cell.is_empty());
        let mut kinds = values.map(|value| ColumnReading::of(&std::iter::once(value)).kind);
        let kind = column.kind;
        let fits = |read: ColumnKind| {
            read == kind || kind == ColumnKind::Number && read == ColumnKind::Integer
        };
        // A date of which only the year is known compares as text does.
        let kind = if kinds.all(fits) { kind } else { ColumnKind::Text };
        columns.push(Column { name: column.name.clone(), kind });
    }
    columns.push(column("evidence".to_owned()));
    TargetedTable { relation: target.relation.clone(), columns, rows }
}

fn column(name: String) -> Column {
    Column { name, kind: ColumnKind::Text }
}

fn write(writer: &mut StoreWriter<'_>, tables: &[TargetedTable]) -> heed::Result<()> {
    let mut kept = vec![];
    for made in tables.iter().filter(|made| !made.rows.is_empty()) {
        put(writer, made)?;
        kept.push(made.relation.clone());
    }
    for relation in made_of(writer)?.iter().filter(|name| !kept.contains(name)) {
        if let Some(row) = writer.find(Layer::Table, table_id(relation))? {
            let table: TableRecord = writer.linked(row)?;
            remove_rows(writer, &table)?;
            writer.remove_node::<TableRecord>(row)?;
        }
    }
    writer.set_meta(RELATIONS, &kept)
}

/// The relations that have a table.
fn made_of(reader: &StoreReader<'_>) -> heed::Result<Vec<String>> {
    Ok(reader.meta(RELATIONS)?.unwrap_or_default())
}

fn table_id(relation: &str) -> Id {
    hash(&[b"relation", relation.as_bytes()])
}

/// Puts in a table unless it is there as it should be.
fn put(writer: &mut StoreWriter<'_>, made: &TargetedTable) -> heed::Result<()> {
    let id = table_id(&made.relation);
    let existing = writer.find(Layer::Table, id)?;
    let table = match existing {
        Some(row) => row,
        None => writer.take_rows(Layer::Table, 1)?,
    };
    let rows = made.row_records(id, table);
    if let Some(record) = writer.node::<TableRecord>(table)? {
        let mut rows_now = vec![];
        for row in record.rows.0..record.rows.1 {
            rows_now.extend(writer.node::<RowRecord>(row)?);
        }
        if rows_now == rows && record == made.table_record(id, record.rows) {
            return Ok(());
        }
        remove_rows(writer, &record)?;
    }
    let first = writer.take_rows(Layer::Row, rows.len())?;
    let mut row = first;
    for line in &rows {
        writer.put_node(row, line)?;
        for chunk in line.also.iter().chain(Some(&line.chunk)).filter(|_| !line.also.is_empty()) {
            let (from, to) = ((Layer::Row, row), (Layer::Chunk, *chunk));
            writer.put_edge(Link::new(from, Edge::DerivedFrom, to))?;
        }
        row += 1;
    }
    writer.put_node(table, &made.table_record(id, (first, row)))
}

fn remove_rows(writer: &mut StoreWriter<'_>, table: &TableRecord) -> heed::Result<()> {
    for row in table.rows.0..table.rows.1 {
        writer.remove_node::<RowRecord>(row)?;
    }
    Ok(())
}
