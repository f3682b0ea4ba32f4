//! A figure of a document.
use halma_core::{Edge, Hit, Layer};

use super::details::Details;
use super::hit::{self, joined};
use super::types::FigureRecord;
use super::{LayerRecord, NodeRecord, Owner};
use crate::store::{At, Id, Link, Row, StoreReader};

impl LayerRecord for FigureRecord {
    const LAYER: Layer = Layer::Figure;
}

impl NodeRecord for FigureRecord {
    fn id(&self) -> Id {
        self.id
    }

    fn owner(&self) -> Owner {
        Owner::Document(self.document)
    }

    fn hit(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<Hit> {
        let hit = hit::in_section(self, reader, self.section, self.place)?;
        let text: Vec<&str> =
            self.caption.iter().chain(&self.description).map(String::as_str).collect();
        let title = self.caption.clone().unwrap_or(hit.title);
        Ok(Hit { text: text.join("\n"), title, ..hit })
    }

    fn searched_text(&self, reader: &StoreReader<'_>, _: Row) -> heed::Result<String> {
        let mut parts = vec![hit::title(reader, self.document)?];
        parts.extend(self.caption.iter().chain(&self.description).cloned());
        Ok(joined(parts))
    }

    fn has_vector(&self) -> bool {
        self.caption.is_some() || self.description.is_some()
    }

    fn edges(&self, _: &StoreReader<'_>, row: Row) -> heed::Result<Vec<Link>> {
        let section = (Layer::Section, self.section);
        Ok(vec![Link::new(section, Edge::Contains, (Self::LAYER, row))])
    }

    fn details(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<Details> {
        let (caption, description) = (self.caption.clone(), self.description.clone());
        Ok(Details::Figure { caption, description })
    }

    fn sources(&self, _: &StoreReader<'_>, _: Row) -> heed::Result<Vec<At>> {
        Ok(vec![(Layer::Section, self.section)])
    }
}
