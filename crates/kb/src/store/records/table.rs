//! A table of a document, or one made from facts.
use halma_core::{Edge, Hit, Layer};

use super::details::{ColumnDetails, Details};
use super::hit::{self, joined};
use super::types::TableRecord;
use super::{LayerRecord, NodeRecord, Owner};
use crate::store::{At, Id, Link, Row, StoreReader};

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
