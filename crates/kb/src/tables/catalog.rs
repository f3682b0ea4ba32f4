//! Which tables the base holds, and what they are called in SQL.
use std::collections::{HashMap, HashSet};

use halma_core::{ColumnKind, Layer, NodeId};
use serde::{Deserialize, Serialize};

use super::names::{self, Called, common};
use crate::KbError;
use crate::store::{
    DocumentRecord, Row, RowRecord, Rows, Store, StoreReader, TableRecord, node_id,
};
use crate::values::unit_of;

/// SQLite takes no table of more columns.
const MAX_COLUMNS: usize = 2000;

/// Rows that are looked at for the units of numbers.
const SAMPLE: Row = 20;

/// The table that lists the others.
pub(super) const LIST: &str = "tables";
pub(super) const LIST_COLUMNS: [&str; 5] = ["name", "caption", "document", "rows", "columns"];

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct TableCatalog {
    pub(super) generation: u64,
    pub(super) tables: Vec<TableEntry>,
    by_name: HashMap<String, usize>,
    /// Captions, names of documents and longer names, in small letters.
    other_names: HashMap<String, usize>,
}

/// A table under the name that it has in SQL.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TableEntry {
    pub(super) name: String,
    pub(super) id: NodeId,
    pub(super) caption: Option<String>,
    pub(super) document: Option<String>,
    pub(super) page: Option<u32>,
    pub(super) fields: Vec<Field>,
    /// In the row layer.
    pub(super) rows: Rows,
    /// For what unites tables of the same columns: these.
    pub(super) united: Vec<usize>,
    /// Why it cannot be read in SQL.
    pub(super) refused: Option<String>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) written: String,
    pub(super) kind: ColumnKind,
    pub(super) unit: Option<String>,
    /// The sample holds no value.
    empty: bool,
}

impl TableEntry {
    pub(super) fn count(&self) -> usize {
        (self.rows.1 - self.rows.0) as usize
    }
}

/// A table as stored.
struct Stored {
    record: TableRecord,
    /// Name of its document, with the table's number in it.
    document: Option<(String, usize)>,
    fields: Vec<Field>,
}

impl TableCatalog {
    /// Reads what tables there are.
    pub(super) fn load(store: &Store) -> Result<Self, KbError> {
        let (generation, mut stored) = store.read(|reader| {
            let mut stored = vec![];
            for node in reader.nodes::<TableRecord>()? {
                let (at, record) = node?;
                let document = match record.document {
                    Some(document) => {
                        let document: DocumentRecord = reader.linked(document)?;
                        let number = at.saturating_sub(document.tables.0) as usize + 1;
                        Some((document.names.into_iter().next().unwrap_or_default(), number))
                    }
                    None => None,
                };
                let fields = fields(reader, &record)?;
                stored.push(Stored { record, document, fields });
            }
            Ok((reader.generation()?, stored))
        })?;
        // The order of rows in the store is that of indexing.
        stored.sort_by(|a, b| (&a.document, a.record.id).cmp(&(&b.document, b.record.id)));
        let mut catalog = Self { generation, ..Self::default() };
        catalog.name(stored);
        Ok(catalog)
    }

    fn name(&mut self, stored: Vec<Stored>) {
        let called: Vec<Called<'_>> = stored.iter().map(Stored::called).collect();
        let mut taken = HashSet::from([LIST.to_owned()]);
        let (names, candidates) = names::tables(&called, &mut taken);
        let mut others: Vec<(String, usize)> = vec![];
        for (i, called) in called.iter().enumerate() {
            let written = [called.caption, called.document.map(|(name, _)| name)];
            let written = written.into_iter().flatten().map(|name| name.trim().to_lowercase());
            let longer = candidates[i].iter().cloned();
            others.extend(written.chain(longer).map(|name| (name, i)));
        }
        self.tables =
            stored.into_iter().zip(names).map(|(stored, name)| stored.into_entry(name)).collect();
        let shortest: Vec<&str> = candidates.iter().map(|names| names[0].as_str()).collect();
        self.unite(&shortest, &mut taken);
        for (i, table) in self.tables.iter().enumerate() {
            self.by_name.insert(table.name.clone(), i);
        }
        for (other, i) in others {
            let unclear = self.other_names.get(&other).is_some_and(|at| *at != i);
            self.other_names.insert(other, if unclear { usize::MAX } else { i });
        }
    }

    /// Adds a table of the rows of all tables that have the same columns.
    fn unite(&mut self, shortest: &[&str], taken: &mut HashSet<String>) {
        let mut order: Vec<Vec<usize>> = vec![];
        let mut groups: HashMap<Vec<&str>, usize> = HashMap::new();
        for (i, table) in self.tables.iter().enumerate() {
            if table.refused.is_some() || table.fields.len() < 2 {
                continue;
            }
            let columns = table.fields.iter().map(|field| field.name.as_str()).collect();
            let group = *groups.entry(columns).or_insert_with(|| {
                order.push(vec![]);
                order.len() - 1
            });
            order[group].push(i);
        }
        for united in order.into_iter().filter(|group| group.len() > 1) {
            let short: Vec<&str> = united.iter().map(|i| shortest[*i]).collect();
            let Some(common) = common(&short) else { continue };
            let clash = |name: &str| taken.contains(name);
            let name = if clash(common) { format!("{common}_all") } else { common.to_owned() };
            let name = names::free(name, taken);
            let mut fields = self.tables[united[0]].fields.clone();
            for i in &united[1..] {
                for (field, other) in fields.iter_mut().zip(&self.tables[*i].fields) {
                    field.unite(other);
                }
            }
            let rows: usize = united.iter().map(|i| self.tables[*i].count()).sum();
            let first = &self.tables[united[0]];
            self.tables.push(TableEntry {
                name,
                id: first.id.clone(),
                caption: first.caption.clone().filter(|caption| {
                    united.iter().all(|i| self.tables[*i].caption.as_ref() == Some(caption))
                }),
                document: None,
                page: None,
                fields,
                rows: (0, Row::try_from(rows).unwrap_or(Row::MAX)),
                united,
                refused: None,
            });
        }
    }

    /// The table of a name as written in a query.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let other = || self.other_names.get(name).copied().filter(|at| *at != usize::MAX);
        self.by_name.get(name).copied().or_else(other)
    }
}

impl Stored {
    fn called(&self) -> Called<'_> {
        let caption = self.record.caption.as_deref().or(self.record.relation.as_deref());
        let document = self.document.as_ref().map(|(name, number)| (name.as_str(), *number));
        Called { caption, document }
    }

    fn into_entry(self, name: String) -> TableEntry {
        let Self { record, document, fields } = self;
        let refused = match fields.len() {
            0 => Some("it has no columns".to_owned()),
            count if count > MAX_COLUMNS => {
                Some(format!("it has {count} columns, and SQL takes {MAX_COLUMNS}"))
            }
            _ => None,
        };
        TableEntry {
            name,
            id: node_id(Layer::Table, record.id),
            caption: record.caption.or(record.relation),
            document: document.map(|(name, _)| name),
            page: record.page,
            fields,
            rows: record.rows,
            united: vec![],
            refused,
        }
    }
}

impl Field {
    /// What the values of both columns are; a column without values says nothing.
    fn unite(&mut self, other: &Self) {
        use ColumnKind::{Integer, Number, Text};
        if other.empty {
            return;
        }
        if self.empty {
            *self = other.clone();
            return;
        }
        self.kind = match (self.kind, other.kind) {
            // Dollars and euros are not added up.
            _ if self.unit != other.unit => Text,
            (a, b) if a == b => a,
            (Integer | Number, Integer | Number) => Number,
            _ => Text,
        };
        if self.kind == Text {
            self.unit = None;
        }
    }
}

fn fields(reader: &StoreReader<'_>, record: &TableRecord) -> heed::Result<Vec<Field>> {
    let mut sample: Vec<RowRecord> = vec![];
    for row in record.rows.0..record.rows.1.min(record.rows.0.saturating_add(SAMPLE)) {
        sample.extend(reader.node::<RowRecord>(row)?);
    }
    let names = names::columns(record.columns.iter().map(|column| column.name.as_str()));
    let field = |(i, (column, name)): (usize, (&crate::store::Column, String))| {
        let cells = || sample.iter().filter_map(|row| row.cells.get(i).map(String::as_str));
        let number = matches!(column.kind, ColumnKind::Integer | ColumnKind::Number);
        Field {
            name,
            written: column.name.trim().to_owned(),
            kind: column.kind,
            unit: if number { unit_of(cells()).map(str::to_owned) } else { None },
            empty: cells().all(|cell| cell.trim().is_empty()),
        }
    };
    Ok(record.columns.iter().zip(names).enumerate().map(field).collect())
}
