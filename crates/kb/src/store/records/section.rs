//! A headed part of a document.
use std::ops::Range;

use halma_core::{Edge, Hit, Layer};

use super::details::Details;
use super::hit::{self, BEGINNING, EMBEDDED, joined};
use super::types::{DocumentRecord, FigureRecord, SectionRecord, TableRecord};
use super::{LayerRecord, NodeRecord, Owner};
use crate::store::{At, Id, Link, Row, StoreReader, node_id};

impl LayerRecord for SectionRecord {
    const LAYER: Layer = Layer::Section;
}

impl NodeRecord for SectionRecord {
    fn id(&self) -> Id {
        self.id
    }

    fn owner(&self) -> Owner {
        Owner::Document(self.document)
    }

    fn chunks(&self, _: Row) -> Range<Row> {
        self.chunks.0..self.chunks.1
    }

    fn hit(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<Hit> {
        let document: DocumentRecord = reader.linked(self.document)?;
        let text = reader.slice(self.document, self.place.bytes)?;
        let hit = hit::in_document(&document, Self::LAYER, self.id, self.place.span());
        let parent = Some(node_id(Layer::Document, document.id));
        Ok(Hit { parent, text, section: self.name.clone(), ..hit })
    }

    fn searched_text(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<String> {
        let text = reader.beginning(self.document, self.place.bytes, BEGINNING)?;
        let title = hit::title(reader, self.document)?;
        Ok(joined([title, self.name.clone().unwrap_or_default(), text]))
    }

    fn embedded_text(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<String> {
        let text = match reader.summary_of((Self::LAYER, row))? {
            Some(summary) => summary,
            None => reader.beginning(self.document, self.place.bytes, EMBEDDED)?,
        };
        let title = hit::title(reader, self.document)?;
        Ok(joined([title, self.name.clone().unwrap_or_default(), text]))
    }

    /// A section of one chunk is as near to a question as that chunk.
    fn has_vector(&self) -> bool {
        self.chunks.1 - self.chunks.0 > 1
    }

    fn edges(&self, reader: &StoreReader<'_>, row: Row) -> heed::Result<Vec<Link>> {
        let node = (Self::LAYER, row);
        let document: DocumentRecord = reader.linked(self.document)?;
        let mut parts: Vec<At> = self.chunks(row).map(|chunk| (Layer::Chunk, chunk)).collect();
        for table in document.tables.0..document.tables.1 {
            let section = reader.node::<TableRecord>(table)?.and_then(|table| table.section);
            parts.extend((section == Some(row)).then_some((Layer::Table, table)));
        }
        for figure in document.figures.0..document.figures.1 {
            let section = reader.node::<FigureRecord>(figure)?.map(|figure| figure.section);
            parts.extend((section == Some(row)).then_some((Layer::Figure, figure)));
        }
        let mut links: Vec<Link> =
            parts.into_iter().map(|part| Link::new(node, Edge::Contains, part)).collect();
        links.push(Link::new((Layer::Document, self.document), Edge::Contains, node));
        Ok(links)
    }

    fn details(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<Details> {
        let chunks = u64::from(self.chunks.1 - self.chunks.0);
        Ok(Details::Section { level: self.level, chunks })
    }

    fn sources(&self, _: &StoreReader<'_>, row: Row) -> heed::Result<Vec<At>> {
        Ok(vec![(Self::LAYER, row)])
    }
}
