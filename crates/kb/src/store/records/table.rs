//! Tables of a document, or made from facts, and their rows.
use halma_core::{Edge, Hit, Layer};

use super::details::{ColumnDetails, Details};
use super::hit::{self, joined};
use super::types::{RowRecord, TableRecord};
use super::{LayerRecord, NodeRecord, Owner};
use crate::store::{At, Id, Link, Row, StoreReader, node_id};

impl LayerRecord for TableRecord {
    const LAYER: Layer = Layer::Table;
}

impl NodeRecord for TableRecord {
    fn id(&self) -> Id {
        self.id
    }

    fn owner(&self) -> Owner {
        self.document.map_or(Owner::Itself, Owner::Document)
    }

    fn hit(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<Hit> {
        let Some((document, section)) = self.document.zip(self.section) else {
            let title = self.relation.as_deref().or(self.caption.as_deref()).unwrap_or_default();
            let names: Vec<&str> = self.columns.iter().map(|c| c.name.as_str()).collect();
            return Ok(hit::shared(Self::LAYER, self.id, title, names.join("; ")));
        };
        let text = reader.slice(document, self.place.bytes)?;
        let hit = hit::in_section(self, reader, section, self.place)?;
        let title = self.caption.clone().unwrap_or(hit.title);
        Ok(Hit { text, title, ..hit })
    }

    fn searched_text(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<String> {
        let mut parts = vec![];
        if let Some(document) = self.document {
            parts.push(hit::title(reader, document)?);
        }
        parts.extend(self.caption.iter().chain(&self.relation).cloned());
        parts.extend(self.columns.iter().map(|column| column.name.clone()));
        Ok(joined(parts))
    }

    fn edges(&self, _: &StoreReader<'_>, row: Row) -> heed::Result<Vec<Link>> {
        let node = (Self::LAYER, row);
        let rows = (self.rows.0..self.rows.1).map(|row| (Layer::Row, row));
        let mut links: Vec<Link> = rows.map(|row| Link::new(node, Edge::Contains, row)).collect();
        let section = self.section.map(|section| (Layer::Section, section));
        links.extend(section.map(|section| Link::new(section, Edge::Contains, node)));
        Ok(links)
    }

    fn details(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<Details> {
        let count = (self.rows.1 - self.rows.0) as usize;
        let rows = reader.rows(Layer::Row, self.rows.0, count)?;
        let columns = self.columns.iter();
        let columns = columns
            .map(|column| ColumnDetails { name: column.name.clone(), values: column.kind.name() });
        Ok(Details::Table {
            columns: columns.collect(),
            rows: rows.iter().take_while(|row| **row < self.rows.1).count() as u64,
            caption: self.caption.clone(),
            merged: self.merged.clone(),
            relation: self.relation.clone(),
        })
    }

    fn sources(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<Vec<At>> {
        Ok(self.section.map(|section| (Layer::Section, section)).into_iter().collect())
    }
}

/// Rows of one table that have vectors.
const MAX_EMBEDDED: u32 = 1_000;

impl LayerRecord for RowRecord {
    const LAYER: Layer = Layer::Row;
}

impl NodeRecord for RowRecord {
    fn id(&self) -> Id {
        self.id
    }

    fn owner(&self) -> Owner {
        // What quotes several documents goes with each of them, under a key of its own.
        if self.also.is_empty() { Owner::Chunk(self.chunk) } else { Owner::Itself }
    }

    fn depends_on(&self) -> Vec<At> {
        vec![(Layer::Table, self.table)]
    }

    fn hit(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<Hit> {
        let table: TableRecord = reader.linked(self.table)?;
        let (text, span) = (self.text(&table), self.place.span());
        Ok(Hit { text, span, ..hit::in_chunk(self, reader, self.chunk)? })
    }

    fn searched_text(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<String> {
        let table: TableRecord = reader.linked(self.table)?;
        let text = self.text(&table);
        Ok(joined([table.caption.unwrap_or_default(), text]))
    }

    /// The rows of a long table say much the same; beyond the first ones they are found by BM25,
    /// and by SQL.
    fn has_vector(&self) -> bool {
        self.number <= MAX_EMBEDDED
    }

    fn edges(&self, _: &StoreReader<'_>, row: Row) -> heed::Result<Vec<Link>> {
        let node = (Self::LAYER, row);
        let mut links = vec![Link::new((Layer::Table, self.table), Edge::Contains, node)];
        // Those of a row that was put together are stored.
        if self.also.is_empty() {
            links.push(Link::new(node, Edge::DerivedFrom, (Layer::Chunk, self.chunk)));
        }
        Ok(links)
    }

    fn details(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<Details> {
        let table = reader.node::<TableRecord>(self.table)?;
        let id = table.as_ref().map(|table| node_id(Layer::Table, table.id));
        let columns = table.map(|table| table.columns).unwrap_or_default();
        let name = |at: usize| columns.get(at).map_or_else(String::new, |c| c.name.clone());
        let cells = self.cells.iter().enumerate().map(|(at, cell)| (name(at), cell.clone()));
        Ok(Details::Row { table: id, number: self.number, cells: cells.collect() })
    }
}

impl RowRecord {
    /// Its cells with the names of their columns; empty values are left out.
    fn text(&self, table: &TableRecord) -> String {
        let named = |(i, value): (usize, &String)| {
            let name = table.columns.get(i).map_or("", |column| column.name.trim());
            match (name, value.trim()) {
                (_, "") => None,
                ("", value) => Some(format!("column {}: {value}", i + 1)),
                (name, value) => Some(format!("{name}: {value}")),
            }
        };
        self.cells.iter().enumerate().filter_map(named).collect::<Vec<_>>().join("; ")
    }
}
